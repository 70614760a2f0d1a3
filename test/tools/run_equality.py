"""Compiles a model for several ranks and compares its run with that of one rank.

  run_equality.py --reference ...        makes the run of one rank, once a model
  run_equality.py --strategy FILE ...    compiles, runs and compares with it
  run_equality.py --remove ...           removes all of it

Rectifiers and maximum pooling have kinks: a sum that is rounded otherwise can make
another element the maximum of a window, and then a gradient takes another way.
Large models have millions of such elements, so now and then two correct runs differ
by more than the rule allows; even runs of one rank do, with different numbers of
threads. With several --seeds, one that fails is let pass, and the next one is tried, if
a kink explains how the runs differ (compare_runs.py), and so few of all cases of the
model fail (--kinks) as kinks make fail: an error that shows in half of the runs does not
stay below.

Dumps of large models take hundreds of megabytes: those of a case are removed after
the comparison.
"""

import argparse
import fcntl
import os
import re
import shutil
import sys
import time

import numpy as np

from compare_runs import RULE, Bounds, compare_runs, expect_kink
from programs import (Failure, compile_program, expect_success, fresh_folder,
                      run_program, write_inputs)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc")
    parser.add_argument("--topology", help="the devices' file")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--work", required=True, help="folder for programs and dumps")
    parser.add_argument("--model", help="the model's file")
    parser.add_argument("--strategy", default="data-parallel",
                        help="a file, or data-parallel")
    parser.add_argument("--slack", type=float, default=1, help="of the rule")
    parser.add_argument("--bounds", nargs=3, type=float, metavar=Bounds._fields,
                        help="instead of the rule's")
    parser.add_argument("--case", default="case", help="its name")
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--remove", action="store_true")
    parser.add_argument("--fixed-batch", action="store_true",
                        help="the same batch in every step, not synthetic data")
    parser.add_argument("--dataset", action="store_true",
                        help="a data set of a few batches, not synthetic data")
    parser.add_argument("--seeds", default="7", help="separated by commas")
    parser.add_argument("--kinks", type=int, default=0,
                        help="seeds that may fail, of all cases of the model together")
    parser.add_argument("compile_arguments", nargs="*", help="further flags of ffc")
    return parser.parse_args()


def write_batches(program, folder, batches):
    """Batches for the inputs that `program --info` lists: normal numbers, and
    labels from 0 to 9."""
    random = np.random.default_rng(1)
    arrays = {}
    info = expect_success([program, "--info"], 60)
    for name, kind, shape in re.findall(
            r"^(?:input|target) +(\S+) (\w+) \[(.*)\]$", info, re.MULTILINE):
        extents = [int(extent) for extent in shape.split(",")]
        extents[0] *= batches
        arrays[name] = (random.standard_normal(extents, dtype=np.float32)
                        if kind in ("f32", "f64") else random.integers(0, 10, extents))
    write_inputs(folder, arrays)


class Equality:
    """The runs of one model."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.reference = os.path.join(arguments.work, "reference")
        self.inputs = os.path.join(arguments.work, "inputs")

    def compile(self, folder):
        """Compiles for the case's devices and strategy."""
        start = time.monotonic()
        compile_program(self.arguments.ffc, self.arguments.model,
                        self.arguments.topology, os.path.join(folder, "train"),
                        ["--strategy", self.arguments.strategy,
                         *self.arguments.compile_arguments])
        print(f"compiled in {time.monotonic() - start:.1f} s")

    def run(self, folder, ranks, seed):
        """Runs 10 steps; returns the folder with step1/ and step10/."""
        start = time.monotonic()
        dumps = fresh_folder(os.path.join(folder, f"seed{seed}"))
        flags = ["--lr", "0.01", "--seed", seed]
        if self.arguments.fixed_batch:
            flags += ["--inputs", self.inputs]
        elif self.arguments.dataset:
            flags += ["--dataset", self.inputs, "--no-shuffle"]
        run_program(os.path.join(folder, "train"), ranks,
                    ["--steps", "10", *flags, "--dump", dumps, "--dump-steps", "1,10"])
        print(f"{ranks} ranks, seed {seed}: ran in {time.monotonic() - start:.1f} s")
        return dumps

    def reference_run(self, seed):
        """The run of one rank; made when it is first asked for."""
        done = os.path.join(self.reference, f"seed{seed}.done")
        with open(os.path.join(self.reference, "lock"), "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if not os.path.exists(done):
                self.run(self.reference, 1, seed)
                open(done, "w").close()
        return os.path.join(self.reference, f"seed{seed}")

    def make_reference(self):
        fresh_folder(self.reference)
        self.compile(self.reference)
        batches = 4 if self.arguments.dataset else self.arguments.fixed_batch
        if batches:
            write_batches(os.path.join(self.reference, "train"), self.inputs, batches)
        self.reference_run(self.arguments.seeds.split(",")[0])

    def allow_kink(self, seed, failure):
        """Fails where more seeds have failed, in all cases, than kinks make fail."""
        with open(os.path.join(self.reference, "kinks"), "a+", encoding="utf-8") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            file.seek(0)
            found = file.read().splitlines()
            found.append(f"{self.arguments.case} on {self.arguments.ranks} with seed {seed}")
            if len(found) > self.arguments.kinks:
                raise Failure(f"expected at most {self.arguments.kinks} seeds with kinks, found "
                              f"{', '.join(found)}; {failure}")
            file.write(found[-1] + "\n")

    def holds(self, seed, run, bounds):
        """Does the rule hold for a seed? Fails if it does not and no kink explains why."""
        reference = self.reference_run(seed)
        try:
            print(f"seed {seed}: {compare_runs(reference, run, bounds)}")
            return True
        except Failure as failure:
            if not self.arguments.kinks:
                raise
            print(f"seed {seed}: {failure}")
            expect_kink(reference, run, bounds)
            self.allow_kink(seed, failure)
            return False

    def check_strategy(self):
        """Compares the case with the reference, seed after seed until the rule
        holds."""
        folder = fresh_folder(os.path.join(
            self.arguments.work, f"{self.arguments.case}-{self.arguments.ranks}"))
        self.compile(folder)
        bounds = (Bounds(*self.arguments.bounds) if self.arguments.bounds
                  else RULE.times(self.arguments.slack))
        for seed in self.arguments.seeds.split(","):
            run = self.run(folder, self.arguments.ranks, seed)
            if self.holds(seed, run, bounds):
                shutil.rmtree(folder)
                return
            shutil.rmtree(run)
        raise Failure("the rule holds for none of the seeds")


def main():
    arguments = parse()
    if arguments.remove:
        shutil.rmtree(arguments.work, ignore_errors=True)
        return
    try:
        equality = Equality(arguments)
        if arguments.reference:
            equality.make_reference()
        else:
            equality.check_strategy()
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
