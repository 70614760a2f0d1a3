#!/usr/bin/env python3
"""Compiles small graphs that are drawn at random.

Functions, sums, products, means and comparisons of a few values and of
parameters that several nodes share: what is used several times, what has one
element along a dimension and what has no gradient meet as in no model of ours.
Every graph is planned for one device, and for three under a random strategy;
ffc proves each plan (ffc/Plan/Verifier.h). Graphs that fail are printed.
"""

import argparse
import random
import subprocess
import sys
import tempfile

HEADER = """<ir_version: 8, opset_import: ["" : 17]>
g (float[4,6] x) => (float[4,6] y, float[4,6] z)
<float[6,6] w0, float[6,6] w1,
 float[6] s0 = {1,0.5,2,1,-1,3}, float[6] s1 = {1,2,1,0.5,1,1},
 float[4,1] s2 = {1,1,2,1}, float[1,1] s3 = {0.5}> {
"""


class Graph:
    """The text of one graph, whose values are all [4, 6]."""

    def __init__(self, seed, nodes):
        self.random = random.Random(seed)
        self.lines, self.values, self.used = [], ["x"], set()
        self.define("Gemm(x, w0)")
        for _ in range(nodes):
            self.add()
        total = self.values[1]
        for value in self.values[2:]:
            if value not in self.used:
                total = self.node(f"Add({total}, {value})")
        self.lines += [f"y = Tanh({total})", f"z = Relu({self.value()})"]

    def text(self):
        def weights(step):
            return ",".join(str(i * step % 7 / 10 - 0.3) for i in range(36))

        header = HEADER.replace("w0", f"w0 = {{{weights(1)}}}")
        header = header.replace("w1", f"w1 = {{{weights(3)}}}")
        return header + "".join(f"  {line}\n" for line in self.lines) + "}\n"

    def node(self, expression):
        name = f"v{len(self.lines)}"
        self.lines.append(f"{name} = {expression}")
        return name

    def define(self, expression):
        self.values.append(self.node(expression))

    def value(self):
        recent = self.values[-3:] if self.random.random() < 0.7 else self.values
        value = self.random.choice(recent)
        self.used.add(value)
        return value

    def add(self):
        pick, value = self.random.choice, self.value()
        kind = self.random.randrange(8)
        if kind < 2:
            function = pick(["Relu", "Tanh", "Sigmoid", "Abs", "Floor", "Sign", "Neg", "Softplus"])
            self.define(f"{function}({value})")
        elif kind == 2:
            self.define(f"{pick(['Add', 'Sub', 'Mul', 'Max', 'Min'])}({value}, {self.value()})")
        elif kind < 5:
            self.define(f"{pick(['Mul', 'Add', 'Sub'])}({value}, {pick(['s0', 's1', 's2', 's3'])})")
        elif kind == 5:
            self.define(f"Gemm({self.node(f'Tanh({value})')}, {pick(['w0', 'w1'])})")
        elif kind == 6:
            mean = self.node(f"ReduceMean <axes=[{pick(['0', '1', '0, 1'])}]> ({value})")
            self.define(f"{pick(['Sub', 'Mul'])}({value}, {mean})")
        else:
            where = self.node(f"Greater({value}, s3)")
            self.define(f"Mul({self.node(f'Cast <to=1> ({where})')}, {self.value()})")


def compile_graph(ffc, path, flags):
    """What ffc says if it fails, else nothing."""
    command = [ffc, path, "--loss", "mse", "--quiet", "--emit=rank", "-o", path + ".rank", *flags]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return "" if run.returncode == 0 else " ".join(command) + "\n" + run.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ffc")
    parser.add_argument("--graphs", type=int, default=40)
    parser.add_argument("--nodes", type=int, default=14)
    parser.add_argument("--seed", type=int, default=1, help="of the first graph")
    arguments = parser.parse_args()
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        path = folder + "/graph.onnxtxt"
        for seed in range(arguments.seed, arguments.seed + arguments.graphs):
            text = Graph(seed, arguments.nodes).text()
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            for flags in (
                ["--devices", "cpu:1"],
                ["--devices", "cpu:3", "--strategy", f"random:{seed}"],
                ["--devices", "cpu:2", "--search-budget", "100", "--precision", "bf16"],
            ):
                if message := compile_graph(arguments.ffc, path, flags):
                    failed += 1
                    print(f"graph {seed}:\n{text}{message}")
    print(f"random_graphs: {failed} of {3 * arguments.graphs} plans failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
