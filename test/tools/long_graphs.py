#!/usr/bin/env python3
"""Writes ONNX files of many operators, to see that what ffc takes grows with
their number and no faster.

    long_graphs.py KIND COUNT FILE

A graph has about COUNT operators. Products are of matrices of 8 x 8, so that the files stay small.
"""

import struct
import sys

from wire_format import field, write_varint

WIDTH = 8


def number(key, value):
    return write_varint(key << 3) + write_varint(value)


def text(key, value):
    return field(key, value.encode())


class Graph:
    """A GraphProto that grows node by node."""

    def __init__(self):
        self.nodes, self.initializers, self.functions = [], [], []
        self.count = 0

    def name(self, prefix):
        self.count += 1
        return f"{prefix}{self.count}"

    def node(self, kind, inputs, outputs=None, attributes=b"", domain=""):
        """The names of its results."""
        name = self.name(kind.lower())
        outputs = outputs or [f"{name}_y"]
        self.nodes.append(field(1, b"".join(
            [text(1, i) for i in inputs] + [text(2, o) for o in outputs] +
            [text(3, name), text(4, kind), attributes] +
            ([text(7, domain)] if domain else []))))
        return outputs[0]

    def weight(self, *shape):
        """Values without data would be inputs: all are small numbers."""
        name = self.name("w")
        size = 1
        for extent in shape:
            size *= extent
        values = [((i * 7919 + self.count) % 17 - 8) / 64 for i in range(size)]
        self.initializers.append(field(5, b"".join(
            [number(1, extent) for extent in shape] +
            [number(2, 1), text(8, name),
             field(9, struct.pack(f"<{size}f", *values))])))
        return name

    def model(self, outputs):
        def value(name):
            shape = b"".join(field(1, number(1, extent)) for extent in (4, WIDTH))
            return text(1, name) + field(2, field(1, number(1, 1) + field(2, shape)))
        graph = b"".join(
            self.nodes + [text(2, "long")] + self.initializers +
            [field(11, value("data"))] + [field(12, value(o)) for o in outputs])
        opsets = field(8, text(1, "") + number(2, 17))
        if self.functions:
            opsets += field(8, text(1, "local") + number(2, 1))
        return number(1, 8) + opsets + field(7, graph) + b"".join(self.functions)


def relus(graph, count):
    x = "x"
    for i in range(count):
        x = graph.node(["Relu", "Tanh", "Sigmoid"][i % 3], [x])
    return x


def adds(graph, count):
    """Every sum reads the two values before."""
    before, x = "x", graph.node("Relu", ["x"])
    for _ in range(count - 1):
        before, x = x, graph.node("Add", [before, x])
    return x


def products(graph, count):
    x = "x"
    for _ in range(count):
        x = graph.node("MatMul", [x, graph.weight(WIDTH, WIDTH)])
    return x


def layers(graph, count):
    x = "x"
    for _ in range(count // 4):
        product = graph.node("MatMul", [x, graph.weight(WIDTH, WIDTH)])
        act = graph.node("Relu", [graph.node("Add", [product, graph.weight(WIDTH)])])
        x = graph.node("Add", [x, act])
    return x


def reshapes(graph, count):
    """What only moves, between operators that compute."""
    x = "x"
    for i in range(count // 2):
        x = graph.node("Transpose", [x])
        x = graph.node("Softmax", [x])
    return x if count // 2 % 2 == 0 else graph.node("Transpose", [x])


def shared(graph, count):
    """Every layer has the same weight: one sum of many gradients."""
    x, weight = "x", graph.weight(WIDTH, WIDTH)
    for _ in range(count // 2):
        x = graph.node("Tanh", [graph.node("MatMul", [x, weight])])
    return x


def weights(graph, count):
    """A weight that many are added to, one after the other."""
    weight = graph.weight(WIDTH, WIDTH)
    for _ in range(count):
        weight = graph.node("Add", [weight, graph.weight(WIDTH, WIDTH)])
    return graph.node("MatMul", ["x", weight])


def wide(graph, count):
    """Branches of one value that one operator joins."""
    branches = [graph.node("MatMul", ["x", graph.weight(WIDTH, WIDTH)])
                for _ in range(count)]
    return graph.node("Sum", branches)


def wide_tree(graph, count):
    """Branches of one value, joined two by two."""
    level = [graph.node("Tanh", [graph.node("MatMul", ["x", graph.weight(WIDTH, WIDTH)])])
             for _ in range(count // 3)]
    while len(level) > 1:
        level = [graph.node("Add", level[i:i + 2]) if i + 1 < len(level) else level[i]
                 for i in range(0, len(level), 2)]
    return level[0]


def wide_chain(graph, count):
    """Branches of one value, joined one after the other."""
    x = graph.node("Relu", ["x"])
    for _ in range(count // 2):
        branch = graph.node("MatMul", ["x", graph.weight(WIDTH, WIDTH)])
        x = graph.node("Add", [x, branch])
    return x


def wide_elementwise(graph, count):
    """Branches of one value that one fused operator could be."""
    x = graph.node("Relu", ["x"])
    for _ in range(count // 2):
        x = graph.node("Add", [x, graph.node("Tanh", ["x"])])
    return x


def joined(graph, count):
    """Branches joined along a dimension."""
    branches = [graph.node("Tanh", ["x"]) for _ in range(count)]
    axis = field(5, text(1, "axis") + number(3, 0) + number(20, 2))
    joined = graph.node("Concat", branches, attributes=axis)
    weight = graph.weight(4, 4 * count)
    return graph.node("MatMul", [weight, joined])


def nested(graph, count):
    """Functions that call each other, one in the other."""
    def function(name, node):
        return field(25, text(1, name) + text(4, "a") + text(5, "b") + node +
                     field(9, text(1, "") + number(2, 17)) +
                     field(9, text(1, "local") + number(2, 1)) + text(10, "local"))
    def call(name, domain):
        return field(7, text(1, "a") + text(2, "b") + text(4, name) +
                     (text(7, domain) if domain else b""))
    graph.functions = [function("F0", call("Relu", ""))] + [
        function(f"F{i}", call(f"F{i - 1}", "local")) for i in range(1, count)]
    return graph.node(f"F{count - 1}", ["x"], domain="local")


KINDS = {f.__name__.replace("_", "-"): f for f in
         (relus, adds, products, layers, reshapes, shared, weights, wide, wide_tree,
          wide_chain, wide_elementwise, joined, nested)}


def main():
    kind, count, path = sys.argv[1:]
    graph = Graph()
    # Something to train, in front of all.
    graph.node("MatMul", ["data", graph.weight(WIDTH, WIDTH)], ["x"])
    output = KINDS[kind](graph, int(count))
    with open(path, "wb") as file:
        file.write(graph.model([output]))


if __name__ == "__main__":
    main()
