"""Scaling of the loss: what it must not change, and steps that it skips.

A scale that is a power of two changes no bit of losses, gradients and parameters. With an
input that is infinite, no step changes a bit of a parameter, and each halves the scale.
With --overflow, factors of f16 do not hold the gradients of a loss that is multiplied by
2^24, so that no step changes a parameter either.
"""

import argparse
import os
import shutil
import sys

import numpy as np

from compare_runs import tensors
from programs import Failure, compile_program, fresh_folder, run_program, write_inputs
from run_equality import write_batches

STEPS = 6
FIRST_SCALE = 65536


def expect_same(reference, other):
    """Every tensor of a folder, bit for bit."""
    ours, theirs = tensors(reference), tensors(other)
    if set(ours) != set(theirs):
        raise Failure(f"expected the files {sorted(ours)} in '{other}', found "
                      f"{sorted(theirs)}")
    for name, path in ours.items():
        a, b = np.load(path), np.load(theirs[name])
        if a.tobytes() != b.tobytes():
            raise Failure(f"'{theirs[name]}': expected the bits of '{path}', found "
                          f"others ({np.abs(a - b).max():.2e} away)")


class LossScale:
    def __init__(self, arguments):
        self.arguments = arguments
        self.inputs = os.path.join(arguments.work, "inputs")

    def run(self, name, compile_flags, flags):
        """Compiles and runs a program; returns its folder of dumps."""
        folder = os.path.join(self.arguments.work, name)
        program = os.path.join(folder, "train")
        if not os.path.exists(program):
            compile_program(self.arguments.ffc, self.arguments.model,
                            self.arguments.topology, program,
                            [*compile_flags, *self.arguments.compile_arguments])
        dump = fresh_folder(os.path.join(folder, "dump"))
        run_program(program, self.arguments.ranks, [*flags, "--dump", dump])
        return dump

    def scale(self, dump):
        return float(np.load(os.path.join(dump, "loss_scale.npy")))

    def expect_scale(self, dump, wanted):
        if (found := self.scale(dump)) != wanted:
            raise Failure(f"expected a scale of {wanted:g} in the last step, found "
                          f"{found:g}")

    def check_bits(self):
        steps = ["--steps", str(STEPS)]
        plain = self.run("plain", [], steps)
        for name, first in ("1024", 1024), ("dynamic", FIRST_SCALE):
            scaled = self.run(name, [f"--loss-scale={name}"], steps)
            for kind in "grad", "param":
                expect_same(os.path.join(plain, kind), os.path.join(scaled, kind))
            losses = [np.load(os.path.join(run, "loss.npy")) for run in (plain, scaled)]
            if losses[0].tobytes() != losses[1].tobytes():
                raise Failure(f"expected the losses {losses[0]}, found {losses[1]}")
            self.expect_scale(scaled, first)

    def initial(self, name):
        """The parameters that the program begins with."""
        kept = os.path.join(self.arguments.work, name, "initial")
        dump = self.run(name, [], ["--steps", "1", "--lr", "0"])
        shutil.move(os.path.join(dump, "param"), kept)
        return kept

    def check_infinite_input(self):
        """After check_bits."""
        program = os.path.join(self.arguments.work, "plain", "train")
        write_batches(program, self.inputs, 1)
        path = os.path.join(self.inputs, "x.npy")
        x = np.load(path)
        x.flat[3] = np.inf
        write_inputs(self.inputs, {"x": x})
        dump = self.run("dynamic", [], ["--steps", "3", "--inputs", self.inputs])
        expect_same(self.initial("plain"), os.path.join(dump, "param"))
        # That of the third step.
        self.expect_scale(dump, FIRST_SCALE / 4)

    def check_overflow(self):
        start = self.initial("none")
        dump = self.run("large", [f"--loss-scale={2**24}"], ["--steps", str(STEPS)])
        expect_same(start, os.path.join(dump, "param"))
        self.expect_scale(dump, 2**24)
        # The usual one is not too large.
        dump = self.run("dynamic", ["--loss-scale=dynamic"], ["--steps", str(STEPS)])
        self.expect_scale(dump, FIRST_SCALE)
        losses = np.load(os.path.join(dump, "loss.npy"))
        if not np.ptp(losses) > 1e-4 * abs(losses[0]):
            raise Failure(f"expected losses that move, found {losses}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--topology", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--overflow", action="store_true")
    parser.add_argument("compile_arguments", nargs="*", help="further flags of ffc")
    arguments = parser.parse_args()
    try:
        fresh_folder(arguments.work)
        checks = LossScale(arguments)
        if arguments.overflow:
            checks.check_overflow()
        else:
            checks.check_bits()
            checks.check_infinite_input()
        shutil.rmtree(arguments.work)
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
