"""Runs the plans that the search finds for the examples, on several ranks, by the default command,
and compares their first step with that of one rank.

  test/tools/searched_plans.py build/bin/ffc --work FOLDER [--ranks 4 8] [--models lenet nmt]

Deep networks make much of rounding: with random initial values and small batches the gradients of
first layers differ by per cent when sums are taken in another order, as data parallelism does. So
what a tensor of the found plan may differ by is a multiple of what data parallelism on as many
ranks differs by, and a small share of the tensor. A part that is missing, misplaced or added twice
is far above that. Maxima have kinks (run_equality.py), by which single values take another way. A
plan that fails is judged once more in double precision (docs/decisions, 62), where kinks do not come
near rounding: the same strategy must agree with one rank to SHARP of every tensor. Takes half an
hour on two cores, so it is no part of the tests.
"""

import argparse
import glob
import os
import shutil
import sys
import time

import numpy as np

from compare_runs import norm
from programs import Failure, compile_program, expect_success, fresh_folder, run_program

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MODELS = {
    "mlp": ["--batch-size", "16"],
    "lenet": ["--batch-size", "16"],
    "ncf": ["--batch-size", "64", "--loss=bce", "--momentum", "0"],
    "moe": ["--batch-size", "16"],
    "nmt": ["--batch-size", "8"],
    "alexnet": ["--batch-size", "8", "--dropout=0.5"],
    "mobilenet_v2": ["--batch-size", "16"],
    "resnet50": ["--batch-size", "16"],
    "densenet121": ["--batch-size", "16"],
    "inception_v3": ["--batch-size", "16"],
    "vgg16": ["--batch-size", "8", "--dropout=0.5", "--momentum", "0"],
    "dlrm": ["--batch-size", "64", "--loss=mse", "--momentum", "0"],
    "xdl": ["--batch-size", "64", "--loss=mse", "--momentum", "0"],
    "candle_uno": ["--batch-size", "16", "--loss=mse", "--momentum", "0"],
    "moe_encoder": ["--batch-size", "8"],
}
# What does not fit eight times into a usual machine is made smaller by examples/generate.
SIZES = {
    "dlrm": ["--rows", "100000"],
    "xdl": ["--rows", "100000"],
    "candle_uno": ["--width", "1024"],
    "moe_encoder": ["--layers", "2", "--width", "512", "--hidden", "1024"],
}
# Times the difference of data parallelism, and of the norm of the tensor and of all.
MULTIPLE, SHARE, SHARE_OF_ALL = 10, 1e-4, 1e-6
SHARP = 1e-10
SEED = 7


def written(arguments, model):
    """The file of a model: the example's, or one of smaller extents."""
    if model not in SIZES:
        return os.path.join(ROOT, f"examples/{model}/{model}.onnxtxt")
    path = os.path.join(arguments.work, model + ".onnxtxt")
    with open(path, "w", encoding="utf-8") as file:
        file.write(expect_success([os.path.join(ROOT, "examples/generate"), model, *SIZES[model]],
                                  60))
    return path


class Compiled:
    """A model compiled for so many ranks; `strategy` is a word or the path of a file."""

    def __init__(self, arguments, model, ranks, strategy, flags=()):
        self.ranks = ranks
        name = "-".join([model, str(ranks), os.path.basename(strategy), *flags])
        self.folder = fresh_folder(os.path.join(arguments.work, name))
        self.program = os.path.join(self.folder, "train")
        self.strategy = os.path.join(self.folder, "strategy")
        compile_program(arguments.ffc, written(arguments, model), f"cpu:{ranks}", self.program,
                        ["--strategy", strategy, "--print-strategy", self.strategy,
                         *MODELS[model], *flags])

    def first_step(self):
        """The tensors of the first step, by file."""
        dumps = fresh_folder(os.path.join(self.folder, "dumps"))
        run_program(self.program, self.ranks,
                    ["--steps", "1", "--seed", str(SEED), "--dump", dumps])
        tensors = {os.path.relpath(path, dumps): np.load(path)
                   for path in sorted(glob.glob(dumps + "/**/*.npy", recursive=True))}
        shutil.rmtree(dumps)
        return tensors


def differences(reference, tensors):
    if set(reference) != set(tensors):
        raise Failure(f"expected the tensors of one rank, found {set(reference) ^ set(tensors)} "
                      "on one side only")
    return {name: norm(np.float64(tensors[name]) - reference[name]) for name in reference}


def compare(reference, usual, found):
    """Returns the largest difference as a share of what is allowed."""
    usual, found = differences(reference, usual), differences(reference, found)
    total = max(norm(tensor) for tensor in reference.values())
    most = 0.0
    for name, difference in found.items():
        allowed = (MULTIPLE * usual[name] + SHARE * norm(reference[name]) + SHARE_OF_ALL * total)
        if not difference <= allowed:
            raise Failure(f"{name}: expected a difference of at most {allowed:.3g}, found "
                          f"{difference:.3g} (data-parallel {usual[name]:.3g}, norm "
                          f"{norm(reference[name]):.3g})")
        most = max(most, difference / allowed if allowed else 0.0)
    return most


def check_sharply(arguments, model, found):
    """The same strategy, in double precision."""
    flags = ["--precision=f64"]
    reference = Compiled(arguments, model, 1, "data-parallel", flags).first_step()
    tensors = Compiled(arguments, model, found.ranks, found.strategy, flags).first_step()
    total = max(norm(tensor) for tensor in reference.values())
    most = 0.0
    for name, difference in differences(reference, tensors).items():
        # What is zero but for rounding is judged by the largest tensor.
        allowed = SHARP * max(norm(reference[name]), 1e-3 * total)
        if not difference <= allowed:
            raise Failure(f"in f64 {name}: expected a difference of at most {allowed:.3g}, found "
                          f"{difference:.3g} (norm {norm(reference[name]):.3g})")
        most = max(most, difference / allowed)
    return f"in f64 {100 * most:.2g} % of what is allowed there"


def check(arguments, model, one, ranks):
    usual = Compiled(arguments, model, ranks, "data-parallel")
    found = Compiled(arguments, model, ranks, "search")
    try:
        most = compare(one, usual.first_step(), found.first_step())
        return f"{100 * most:.1f} % of what is allowed"
    except Failure as kink:
        return f"{check_sharply(arguments, model, found)}; in f32 {kink}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ffc")
    parser.add_argument("--work", required=True, help="folder for programs and dumps")
    parser.add_argument("--ranks", nargs="+", type=int, default=[4, 8])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    arguments = parser.parse_args()
    failed = []
    for model in arguments.models:
        one = Compiled(arguments, model, 1, "data-parallel").first_step()
        for ranks in arguments.ranks:
            start = time.monotonic()
            name = f"{model} on {ranks}"
            try:
                said = check(arguments, model, one, ranks)
                print(f"{name}: {said}, {time.monotonic() - start:.0f} s", flush=True)
            except Failure as failure:
                print(f"{name}: {failure}", flush=True)
                failed.append(name)
    if failed:
        sys.exit(f"error: {', '.join(failed)}")


if __name__ == "__main__":
    main()
