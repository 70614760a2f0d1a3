"""Updates of parameters against numbers that others computed.

Steps of SGD and AdamW by PyTorch, as ONNX Runtime's tests have them, and the
node tests of ONNX's training operators; each left out where its data is missing,
but not both. The program under test is optimizer_program.cpp.
"""

import argparse
import json
import os
import struct
import subprocess
import sys

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tools"))

import onnx_files  # noqa: E402

RELATIVE, ABSOLUTE = 2e-5, 2e-7


def steps(program, kind, hyper, rate, decay, done, w, slots, gradients):
    """w and the slots after every step, a list of arrays each."""
    lists = [w, *slots, *gradients]
    words = [kind, *hyper, rate, decay, done, len(gradients), len(slots), w.size]
    text = " ".join(repr(word) if isinstance(word, float) else str(word) for word in words)
    for values in lists:
        text += "\n" + " ".join(repr(float(x)) for x in np.ravel(values))
    output = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    rows = [np.array(line.split(), dtype=float) for line in output.stdout.splitlines()]
    each = 1 + len(slots)
    return [rows[i:i + each] for i in range(0, len(rows), each)]


def check(name, found, expected):
    found, expected = np.ravel(found), np.ravel(expected)
    if not np.allclose(found, expected, RELATIVE, ABSOLUTE):
        worst = np.abs(found - expected).argmax()
        sys.exit(f"error: {name}: expected {expected[worst]}, found {found[worst]}")


def check_runtime_data(program, folder):
    """PyTorch's defaults; of AdamW's two modes 0 is PyTorch's, 1 Hugging Face's."""
    for test, mode, kind, hyper, decay, slot_names in (
            ("sgd_test", "", "sgd", [0.0, 0], 0.0, []),
            ("adamw_test", "_mode_0", "adamw", [0.9, 0.999, 1e-8], 1e-2,
             ["Momentum1s", "Momentum2s"]),
            ("adamw_test", "_mode_1", "hf_adamw", [0.9, 0.999, 1e-6], 0.0,
             ["Momentum1s", "Momentum2s"])):
        for weights in ("single_weight", "multiple_weights"):
            path = os.path.join(folder, test, "cpu", f"{test}_{weights}{mode}.json")
            with open(path) as stream:
                data = json.load(stream)
            for parameter, values in data["Parameters"].items():
                gradients = [np.array(g) for g in data["Gradients"][parameter]]
                slots = [data[name][parameter] for name in slot_names]
                found = steps(program, kind, hyper, 1e-3, decay, 0, np.array(values[0]),
                              [np.array(slot[0]) for slot in slots],
                              gradients[:len(values) - 1])
                for i, row in enumerate(found):
                    expected = [values[i + 1], *(slot[i + 1] for slot in slots)]
                    for what, mine, theirs in zip(["w", *slot_names], row, expected):
                        check(f"{path}: {parameter}: {what}: step {i + 1}", mine, theirs)


def attributes(model):
    """Numbers and texts of the only node."""
    result = {}
    for n, graph in onnx_files.fields(model.data):
        if n != 7:
            continue
        node = next(value for m, value in onnx_files.fields(graph) if m == 1)
        for m, value in onnx_files.fields(node):
            if m == 5:
                parts = dict(onnx_files.fields(value))
                name = parts[1].decode()
                result[name] = (struct.unpack("<f", parts[2])[0] if 2 in parts
                                else parts[4].decode())
    return result


def check_node_test(program, folder):
    """Operands are the rate, the number of steps done, then all parameters, all
    gradients and the slots, one kind after the other; results the new ones."""
    model = onnx_files.Model(os.path.join(folder, "model.onnx"))

    def read(kind, count):
        for i in range(count):
            path = os.path.join(folder, "test_data_set_0", f"{kind}_{i}.pb")
            with open(path, "rb") as file:
                yield onnx_files.tensor(file.read())

    rate, done, *operands = read("input", len(model.inputs))
    results = list(read("output", len(model.outputs)))
    given = attributes(model)
    operator = model.nodes[0].type
    kinds = {"Adagrad": ("adagrad", 1), "Adam": ("adam", 2), "Momentum": ("sgd", 1)}
    kind, slots = kinds[operator]
    parameters = len(operands) // (2 + slots)
    rate, done = float(rate), int(done)
    if done != 0:
        sys.exit(f"error: {folder}: expected T = 0, found {done}")
    # The numbers of adam_multiple were computed with this one, which its node lacks.
    epsilon = given.get("epsilon", 1e-2)
    if operator == "Adagrad":
        hyper = [epsilon]
    elif operator == "Adam":
        # At T = 0 ONNX does not correct the moments' bias; after many steps there
        # is none.
        hyper, done = [given["alpha"], given["beta"], epsilon], 10**7
    else:
        # `beta` scales gradients from the second step on.
        hyper = [given["alpha"], int(given["mode"] == "nesterov")]
    for i in range(parameters):
        w, gradient, *slot_values = operands[i::parameters]
        found = steps(program, kind, hyper, rate, given.get("norm_coefficient", 0.0), done, w,
                      slot_values, [gradient])
        for mine, theirs in zip(found[0], results[i::parameters]):
            check(folder, mine, theirs)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", required=True)
    parser.add_argument("--runtime-data", required=True, help="folder")
    parser.add_argument("--node-tests", required=True, help="folder")
    arguments = parser.parse_args()
    checked = 0
    if os.path.isdir(arguments.runtime_data):
        check_runtime_data(arguments.program, arguments.runtime_data)
        checked += 1
    if os.path.isdir(arguments.node_tests):
        for name in ("adagrad", "adagrad_multiple", "adam", "adam_multiple", "momentum",
                     "momentum_multiple", "nesterov_momentum"):
            check_node_test(arguments.program, os.path.join(arguments.node_tests, "test_" + name))
        checked += 1
    if checked == 0:
        sys.exit("error: expected one of the folders, found neither")


if __name__ == "__main__":
    main()
