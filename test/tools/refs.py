"""Compares the gradients of a compiled program with recorded ones.

refs.json holds, for each exported graph, the loss and per parameter the
gradient's norm, sum and eight values, computed in double precision. The rule of
compare_runs.py is applied to each of them: to the norm; to the sum, whose error is
at most sqrt(n) times that of the tensor; to the eight values as a tensor.
"""

import argparse
import json
import math
import os
import shutil
import sys

import numpy as np

from compare_runs import judge, norm
from programs import (Failure, compile_program, file_name, fresh_folder, run_program,
                      write_inputs)

LOSSES = {
    "softmax cross entropy, mean": "cross-entropy",
    "binary_cross_entropy_with_logits, mean": "bce",
}
# One step in f32 against double precision.
LOSS_TOLERANCE = 1e-5


def compare_gradient(name, found, recorded, total):
    """Judges one gradient; returns the largest error in units of the allowed."""
    if list(found.shape) != recorded["shape"]:
        raise Failure(f"gradient of '{name}': expected shape {recorded['shape']}, "
                      f"found {list(found.shape)}")
    flat = found.astype(np.float64).ravel()
    reference = recorded["l2"]
    worst = judge(f"norm of the gradient of '{name}'", abs(norm(flat) - reference),
                  reference, total)
    worst = max(worst, judge(
        f"sum of the gradient of '{name}'",
        abs(float(flat.sum()) - recorded["sum"]) / math.sqrt(flat.size), reference,
        total))
    values = np.asarray(recorded["value"])
    error = norm(flat[recorded["at"]] - values)
    worst = max(worst, judge(f"values of the gradient of '{name}'", error,
                             norm(values), total))
    return worst


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--topology", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--strategy", default="data-parallel")
    parser.add_argument("--work", required=True)
    parser.add_argument("--exports", required=True, help="folder with refs.json")
    parser.add_argument("--graph", required=True, help="mlp.train, lenet.infer...")
    arguments = parser.parse_args()

    with open(os.path.join(arguments.exports, "refs.json")) as file:
        recorded = json.load(file)[arguments.graph]
    model = os.path.join(arguments.exports, arguments.graph)
    work = fresh_folder(arguments.work)
    try:
        with np.load(model + ".io.npz") as arrays:
            write_inputs(os.path.join(work, "inputs"),
                         {name: arrays[name] for name in arrays.files if name != "y"})
        loss_kind = LOSSES.get(recorded["loss_kind"])
        if not loss_kind:
            raise Failure(f"unknown loss kind '{recorded['loss_kind']}'")
        program = os.path.join(work, "train")
        # The reference gradients were taken with dropout ratio 0.
        compile_program(arguments.ffc, model + ".onnx", arguments.topology, program,
                        ["--strategy", arguments.strategy, f"--loss={loss_kind}",
                         "--dropout=off"])
        dump = os.path.join(work, "dump")
        run_program(program, arguments.ranks,
                    ["--steps", "1", "--lr", "0.01", "--inputs",
                     os.path.join(work, "inputs"), "--dump", dump])

        loss = float(np.load(os.path.join(dump, "loss.npy"))[0])
        if not abs(loss - recorded["loss"]) <= LOSS_TOLERANCE * abs(recorded["loss"]):
            raise Failure(f"expected loss {recorded['loss']:.9g}, found {loss:.9g}")
        gradients = recorded["grads"]
        total = math.sqrt(sum(g["l2"] ** 2 for g in gradients.values()))
        worst = 0.0
        for name, gradient in gradients.items():
            path = os.path.join(dump, "grad", file_name(name) + ".npy")
            if not os.path.exists(path):
                raise Failure(f"expected the gradient of '{name}' in '{path}', found "
                              "none")
            worst = max(worst, compare_gradient(name, np.load(path), gradient, total))
        print(f"{arguments.graph}, {arguments.ranks} ranks, {arguments.strategy}: loss {loss:.9g}, "
              f"{len(gradients)} gradients, worst at {worst:.1%} of what is allowed")
        shutil.rmtree(work)
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
