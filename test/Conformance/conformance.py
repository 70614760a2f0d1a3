"""Runs the ONNX node tests as compiled programs.

Every test is compiled for one rank, run on the test's inputs and compared with its
outputs. What ffc refuses is out, for the reason ffc gives. The result is a table,
docs/node-tests-SET.md; the test fails if a program gives other values, or if the
table is out of date. The tests are files (--data), as Debian packages them, or made
by the Python package onnx (--generate); without it the test ends with 77, not run.

g++ compiles the programs of many tests together (program_batch.py); each runs as a
process of its own.
"""

import argparse
import concurrent.futures
import os
import re
import shlex
import shutil
import sys
import tempfile

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "tools"))

import onnx_files  # noqa: E402
from program_batch import Toolchain, build_programs  # noqa: E402
from programs import (Failure, file_name, fresh_folder, run, run_program,  # noqa: E402
                      write_inputs)

RELATIVE, ABSOLUTE = 1e-3, 1e-5
BFLOAT16 = 16  # TensorProto.DataType
NOT_RUN = 77
PREFIX = "ffc: error: "
# Of the operators whose tests declare an older set, none has changed since then.
OLDEST_OPSET = 7
HERE = os.path.dirname(os.path.abspath(__file__))


def read_lines(name):
    """The lines of a file beside this one, without comments, as words."""
    with open(os.path.join(HERE, name)) as file:
        for line in file:
            words = line.split("#")[0].split(maxsplit=1)
            if words:
                yield words[0], words[1].strip() if len(words) > 1 else ""


def read_test(folder):
    """The model of a test and the files of its inputs and outputs."""
    model = onnx_files.Model(os.path.join(folder, "model.onnx"))
    data = os.path.join(folder, "test_data_set_0")

    def files(kind, names):
        paths = [os.path.join(data, f"{kind}_{i}.pb") for i in range(len(names))]
        return {n: p for n, p in zip(names, paths) if os.path.exists(p)}

    return model, files("input", model.inputs), files("output", model.outputs)


def read_tensor(path, declared):
    """As programs have it: floats of 16 bits are f32 there, narrow integers with a sign and those
    of 16 bits i32, wide ones without a sign i64."""
    with open(path, "rb") as file:
        data = file.read()
    found = onnx_files.tensor(data)
    if found is None:
        return None
    if declared == BFLOAT16:  # which numpy does not have; some files say uint16
        return (found.astype(np.uint32) << np.uint32(16)).view(np.float32)
    wider = {"f2": np.float32, "i1": np.int32, "i2": np.int32, "u2": np.int32, "u4": np.int64,
             "u8": np.int64}
    return found.astype(wider.get(found.dtype.str[1:], found.dtype))


def precision_of(declared):
    """How exact values are, relative: programs round to 16 bits where values are used, not where
    they are written."""
    return 1e-2 if declared == BFLOAT16 else RELATIVE


def normalise(message):
    """A refusal without the names of the test's file, inputs and node."""
    line = next(line for line in message.splitlines() if line.startswith(PREFIX))
    line = line[len(PREFIX):]
    line = re.sub(r"^\S*model\.onnx(:\d+)*: ", "", line)
    line = re.sub(r"^node '[^']*' \((\w+)\): ", r"\1: ", line)
    if line.startswith("unsupported operators: "):
        line = re.sub(r" \(\d+: '[^)]*\)", "", line).replace(":", "", 1)
        if "," not in line:
            line = line.replace("operators", "operator", 1)
    line = re.sub(r"^(input|output|initializer) '[^']*'(:)? ", r"\1 ", line)
    return re.sub(r", found ('\w+' of shape )?\d+(x\d+)*( and \d+(x\d+)*)?$", "", line)


def compare(name, found, expected, relative):
    if found.shape != expected.shape:
        raise Failure(f"'{name}': expected shape {list(expected.shape)}, found "
                      f"{list(found.shape)}")
    if expected.dtype.kind in "iub":
        if not np.array_equal(found, expected):
            raise Failure(f"'{name}': {np.count_nonzero(found != expected)} integers differ")
    elif not np.allclose(found, expected, rtol=relative, atol=ABSOLUTE, equal_nan=True):
        error = np.nanmax(np.abs(found.astype(np.float64) - expected))
        raise Failure(f"'{name}': values differ by up to {error:.3e}")


class Runner:
    """Compiles and runs tests; results are ("in", ""), ("out", reason) or
    ("failed", cause), by the tests' names."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.constants = {name: [int(i) for i in operands.split()]
                          for name, operands in read_lines("constants.txt")}
        self.excluded = {name: why for file in ["excluded.txt", *arguments.excluded]
                         for name, why in read_lines(file)}
        self.reasons = dict(read_lines("reasons.txt"))
        self.tools = Toolchain([os.path.join(arguments.runtime, "include")],
                               shlex.split(arguments.kernel_flags), arguments.link)

    def select(self):
        """Test names by the operators they use."""
        selected = {}
        for name in sorted(os.listdir(self.arguments.data)):
            path = os.path.join(self.arguments.data, name, "model.onnx")
            if not os.path.exists(path):
                continue
            types = {node.type for node in onnx_files.Model(path).nodes}
            selected[name] = ", ".join(sorted(types))
        return selected

    def freeze(self, model, inputs, more):
        """Makes the operands that must be known initializers of the model, and `more` all that
        are integers or single numbers; returns the inputs that are left."""
        frozen = {node.inputs[i] for node in model.nodes
                  for i in self.constants.get(node.type, []) if i < len(node.inputs)}
        if more:
            values = {name: read_tensor(path, model.types[name]) for name, path in inputs.items()}
            frozen |= {name for name, value in values.items() if value is not None and
                       (value.dtype.kind in "iub" or value.size == 1)}
        for name in sorted(frozen & set(inputs)):
            with open(inputs[name], "rb") as file:
                model.with_initializer(name, file.read())
        return {n: p for n, p in inputs.items() if n not in frozen}

    def folder(self, name):
        return os.path.join(self.arguments.work, name)

    def emit(self, name):
        """The folder of the program's source, or the reason why there is none."""
        if name in self.excluded:
            return None, self.excluded[name]
        source, reason = self.emit_with(name, False)
        if "--fix" in reason or "expected a constant" in reason:
            source, _ = self.emit_with(name, True)
        return source, reason

    def emit_with(self, name, more):
        """The same; `more`: operands that need not, but may be constants are."""
        model, inputs, _ = read_test(os.path.join(self.arguments.data, name))
        work = fresh_folder(self.folder(name))
        inputs = self.freeze(model, inputs, more)
        if model.opset() < OLDEST_OPSET:
            model.with_opset(OLDEST_OPSET)
        path = os.path.join(work, "model.onnx")
        with open(path, "wb") as file:
            file.write(model.data)
        source = os.path.join(work, "source")
        status, out, err = run(
            [self.arguments.ffc, path, "--devices", self.arguments.topology,
             "--mode=infer", "--emit=source", "--runtime", self.arguments.runtime,
             "-o", source], 120)
        if status == 1 and PREFIX in err:
            shutil.rmtree(work)
            return None, self.explained(normalise(err))
        if status != 0:
            raise Failure(f"ffc ended with {status}\n{out}{err}")
        write_inputs(os.path.join(work, "inputs"),
                     {n: read_tensor(p, model.types[n]) for n, p in inputs.items()})
        return source, ""

    def explained(self, refusal):
        """With the reason why an operator is left out, if it is known."""
        words = re.match(r"unsupported operators? ([\w.]+)(,|;|$)", refusal)
        reason = self.reasons.get(words.group(1)) if words else None
        return f"{words.group(0).rstrip(',;')}: {reason}" if reason else refusal

    def check(self, name, executable):
        """Runs a test and compares its outputs. A program looks for its weights beside itself."""
        work = self.folder(name)
        program = os.path.join(work, "run")
        os.link(executable, program)
        weights = os.path.join(work, "source", "train.weights")
        if os.path.exists(weights):
            os.rename(weights, program + ".weights")
        run_program(program, 1, [name, "--steps", "1", "--inputs",
                                 os.path.join(work, "inputs"), "--dump",
                                 os.path.join(work, "dump")], 60)
        model, _, outputs = read_test(os.path.join(self.arguments.data, name))
        for output, expected in outputs.items():
            dumped = os.path.join(work, "dump", "out", file_name(output) + ".npy")
            if not os.path.exists(dumped):
                raise Failure(f"expected the output '{output}', found none")
            declared = model.types[output]
            compare(output, np.load(dumped), read_tensor(expected, declared),
                    precision_of(declared))
        shutil.rmtree(work)

    def execute(self, names):
        """The results of tests whose programs are compiled together."""
        results, sources = {}, {}
        for name in names:
            try:
                sources[name], reason = self.emit(name)
                if not sources[name]:
                    del sources[name]
                    results[name] = "out", reason
            except Failure as failure:
                results[name] = "failed", str(failure)
        if not sources:
            return results
        with tempfile.TemporaryDirectory(dir=self.arguments.work) as folder:
            built = build_programs(sources, os.path.join(folder, "run"), self.tools)
            for name, executable in built.items():
                try:
                    if isinstance(executable, Failure):
                        raise executable
                    self.check(name, executable)
                    results[name] = "in", ""
                except Failure as failure:
                    results[name] = "failed", str(failure)
        return results


def table(title, selected, results):
    """The document."""
    passed = [n for n in selected if results[n][0] == "in"]
    lines = [
        f"# Node tests of {title}",
        "",
        "Made by `test/Conformance/conformance.py --update`; do not edit.",
        "",
        f"{title} has {len(selected)} node tests. {len(passed)} of them pass as compiled programs of one rank;",
        f"{len(selected) - len(passed)} are out. The tests give all operands as inputs; those that `ffc` must know when it",
        "compiles (shapes, pads, weights) are written into the model as initializers.",
        "",
        "| operator | in | out | tests that are in |",
        "| --- | --- | --- | --- |",
    ]
    by_operator = {}
    for name, operators in selected.items():
        by_operator.setdefault(operators, []).append(name)
    for operators in sorted(by_operator):
        names = by_operator[operators]
        ins = [n for n in names if results[n][0] == "in"]
        shown = " ".join(f"`{n[len('test_'):]}`" for n in ins)
        lines.append(f"| {operators} | {len(ins)} | {len(names) - len(ins)} | {shown} |")
    lines += ["", "## Out", "", "| reason | tests |", "| --- | --- |"]
    by_reason = {}
    for name in selected:
        status, reason = results[name]
        if status == "out":
            by_reason.setdefault(reason, []).append(name)
    for reason in sorted(by_reason):
        shown = " ".join(f"`{n[len('test_'):]}`" for n in by_reason[reason])
        text = reason.replace("|", "\\|")
        lines.append(f"| {text} | {shown} |")
    return "\n".join(lines) + "\n"


def generate(arguments):
    """Makes the tests of the package, once for each of its versions."""
    folder = os.path.join(arguments.work, "generated")
    status, out, err = run(shlex.split(arguments.generate) +
                           [os.path.join(HERE, "generate.py"), folder], 300)
    if status == NOT_RUN:
        print(out.strip())
        sys.exit(NOT_RUN)
    if status != 0:
        sys.exit(f"error: generate.py ended with {status}\n{err}")
    arguments.title = out.splitlines()[-1]
    arguments.data = os.path.join(folder, arguments.title)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--topology", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--data", help="folder of the node tests")
    parser.add_argument("--generate", help="a Python that may have the package onnx")
    parser.add_argument("--title", default="", help="what the tests are called; by --generate "
                        "that is the version of the package")
    parser.add_argument("--excluded", action="append", default=[], help="a list of more tests "
                        "that say nothing, beside excluded.txt")
    parser.add_argument("--table", required=True, help="docs/node-tests-SET.md")
    parser.add_argument("--update", action="store_true", help="write the table")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--batch", type=int, default=40, help="programs that g++ compiles together")
    parser.add_argument("--runtime", required=True, help="folder of its sources")
    parser.add_argument("--kernel-flags", default="", help="of g++, for fused kernels")
    parser.add_argument("--link", action="append", default=[], help="what programs are linked with")
    parser.add_argument("--only", default="", help="a regular expression")
    arguments = parser.parse_args()

    if arguments.generate:
        generate(arguments)
    runner = Runner(arguments)
    selected = {n: o for n, o in runner.select().items() if re.search(arguments.only, n)}
    if not selected:
        sys.exit(f"error: expected node tests in '{arguments.data}', found none")
    names = list(selected)
    batches = [names[i:i + arguments.batch] for i in range(0, len(names), arguments.batch)]
    results = {}
    with concurrent.futures.ThreadPoolExecutor(arguments.jobs) as pool:
        for found in pool.map(runner.execute, batches):
            results.update(found)
    failed = [n for n in selected if results[n][0] == "failed"]
    for name in failed:
        print(f"{name}: {results[name][1]}", file=sys.stderr)
    passed = sum(results[n][0] == "in" for n in selected)
    print(f"{len(selected)} node tests: {passed} in, "
          f"{len(selected) - passed - len(failed)} out, {len(failed)} failed")
    if arguments.only:
        for name in selected:
            print(f"{name}: {' '.join(results[name])}")
        sys.exit(bool(failed))
    if failed:
        sys.exit(1)
    text = table(arguments.title, selected, results)
    if arguments.update:
        with open(arguments.table, "w") as file:
            file.write(text)
        return
    current = ""
    if os.path.exists(arguments.table):
        with open(arguments.table) as file:
            current = file.read()
    if current != text:
        fresh = os.path.join(arguments.work, os.path.basename(arguments.table))
        with open(fresh, "w") as file:
            file.write(text)
        sys.exit(f"error: '{arguments.table}' is out of date, expected the text "
                 f"of '{fresh}'; the target update-node-tests writes it")


if __name__ == "__main__":
    main()
