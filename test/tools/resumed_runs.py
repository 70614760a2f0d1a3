"""Trains a model in parts, each by another program (ranks, strategy), which go on from each other's
checkpoints, and compares the end with that of one program that has done all steps: losses,
parameters and state of the optimizer. With --dataset, one of them accumulates gradients, too.

  resumed_runs.py --ffc FFC --model MODEL --work DIR -- FLAGS OF ffc
"""

import argparse
import json
import os
import shutil
import struct
import sys

import numpy as np

from compare_runs import RULE, compare_losses, judge, norm
from programs import Failure, compile_program, fresh_folder, run_program
from run_equality import write_batches

STEPS = 9
BATCHES = 5  # of the data set, so that it is gone through nearly twice
WHOLE = (4, "search", 1)
PARTS = (WHOLE, (2, "data-parallel", 1), (3, "random:5", 1))
ACCUMULATING = 2  # micro-batches of the second part, where they have the same samples
TYPES = {"F32": np.float32, "F64": np.float64, "I64": np.int64, "I32": np.int32}


def read_safetensors(path):
    """The arrays of a file, by name."""
    with open(path, "rb") as file:
        data = file.read()
    (length,) = struct.unpack("<Q", data[:8])
    head = json.loads(data[8:8 + length])
    arrays = {}
    for name, tensor in head.items():
        if name != "__metadata__":
            begin, end = (8 + length + offset for offset in tensor["data_offsets"])
            if tensor["dtype"] == "BF16":
                words = np.frombuffer(data[begin:end], np.uint16).astype(np.uint32) << 16
                array = words.view(np.float32)
            else:
                array = np.frombuffer(data[begin:end], TYPES[tensor["dtype"]])
            arrays[name] = array.reshape(tensor["shape"])
    return arrays


class Parts:
    def __init__(self, arguments):
        self.arguments = arguments
        self.data = os.path.join(arguments.work, "data")

    def compile(self, ranks, strategy, micro_batches):
        a = self.arguments
        program = os.path.join(a.work, f"{ranks}-{micro_batches}", "train")
        flags = [] if strategy == "search" else ["--strategy", strategy]
        if micro_batches > 1:
            flags += [f"--accumulate={micro_batches}"]
        if a.dataset:
            flags += [f"--batch-size={a.batch // micro_batches}"]
        compile_program(a.ffc, a.model, f"cpu:{ranks}", program, [*flags, *a.compile_arguments])
        return program

    def run(self, program, ranks, checkpoints, steps, resume):
        run_program(program, ranks, [
            "--steps", str(steps), "--lr", "0.01", "--seed", "7", "--checkpoint", checkpoints,
            *(["--dataset", self.data] if self.arguments.dataset else []),
            *(["--resume"] if resume else [])])

    def compare(self, expected, found):
        print(f"losses within {compare_losses(expected, found):.1e} (of {RULE.loss:g})")
        for name in "model", "optimizer", "ema":
            paths = [os.path.join(folder, name + ".safetensors") for folder in (expected, found)]
            if name == "ema" and not any(map(os.path.exists, paths)):
                continue
            a, b = map(read_safetensors, paths)
            if a.keys() != b.keys() or not a:
                raise Failure(f"expected the same values, found {sorted(a)} and {sorted(b)}")
            total = norm(np.concatenate([array.ravel() for array in a.values()]))
            worst = max(judge(key, norm(a[key].astype(np.float64) - b[key]), norm(a[key]), total)
                        for key in a)
            print(f"{name}: {len(a)} values, at {worst:.1%} of what is allowed")

    def check(self):
        whole, parts = (fresh_folder(os.path.join(self.arguments.work, name))
                        for name in ("whole", "parts"))
        for i, (ranks, strategy, micro_batches) in enumerate(PARTS):
            if self.arguments.dataset and i == 1:
                micro_batches = ACCUMULATING
            program = self.compile(ranks, strategy, micro_batches)
            if i == 0:
                if self.arguments.dataset:
                    write_batches(program, self.data, BATCHES)
                self.run(program, ranks, whole, STEPS, False)
            self.run(program, ranks, parts, STEPS * (i + 1) // len(PARTS), i > 0)
        last = f"step-{STEPS:08d}"
        self.compare(os.path.join(whole, last), os.path.join(parts, last))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--batch", type=int, default=12, help="of a step, with --dataset")
    parser.add_argument("--dataset", action="store_true",
                        help="a data set of a few batches, not synthetic data")
    parser.add_argument("--work", required=True)
    parser.add_argument("compile_arguments", nargs="*", help="further flags of ffc")
    arguments = parser.parse_args()
    try:
        fresh_folder(arguments.work)
        Parts(arguments).check()
        shutil.rmtree(arguments.work)
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
