"""Compiles a model for several ranks and compares its run with that of one rank.

  run_equality.py --reference NAME ...   makes the run of one rank, once a model
  run_equality.py --strategy FILE ...    compiles, runs and compares with it

Dumps of large models take hundreds of megabytes: those of a strategy are removed
after the comparison, those of the reference by --remove.
"""

import argparse
import os
import re
import shutil
import sys
import time

import numpy as np

from compare_runs import compare_runs
from programs import (Failure, compile_program, expect_success, fresh_folder,
                      run_program, write_inputs)


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc")
    parser.add_argument("--topology", help="the devices' file")
    parser.add_argument("--ranks", type=int, default=1)
    parser.add_argument("--work", required=True, help="folder for programs and dumps")
    parser.add_argument("--model", help="the model's file")
    parser.add_argument("--strategy", help="a file, or data-parallel")
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--fixed-batch", action="store_true",
                        help="the same batch in every step, not synthetic data")
    parser.add_argument("--remove", action="store_true")
    parser.add_argument("compile_arguments", nargs="*", help="further flags of ffc")
    return parser.parse_args()


def write_batch(program, folder):
    """A batch for the inputs that `program --info` lists: normal numbers, and
    labels from 0 to 9."""
    random = np.random.default_rng(1)
    arrays = {}
    info = expect_success([program, "--info"], 60)
    for name, kind, shape in re.findall(
            r"^(?:input|target) +(\S+) (\w+) \[(.*)\]$", info, re.MULTILINE):
        extents = [int(extent) for extent in shape.split(",")]
        arrays[name] = (random.standard_normal(extents, dtype=np.float32)
                        if kind == "f32" else random.integers(0, 10, extents))
    write_inputs(folder, arrays)


def make_run(arguments, name, topology, strategy):
    """Compiles and runs; returns the folder with step1/ and step10/."""
    folder = fresh_folder(os.path.join(arguments.work, name))
    program = os.path.join(folder, "train")
    start = time.monotonic()
    compile_program(arguments.ffc, arguments.model, topology, program,
                    ["--strategy", strategy, *arguments.compile_arguments])
    compiled = time.monotonic()
    flags = ["--lr", "0.01", "--seed", "7"]
    if arguments.fixed_batch:
        inputs = os.path.join(arguments.work, "inputs")
        if arguments.reference:
            write_batch(program, inputs)
        flags += ["--inputs", inputs]
    for steps in (1, 10):
        run_program(program, arguments.ranks,
                    ["--steps", str(steps), *flags, "--dump",
                     os.path.join(folder, f"step{steps}")])
    print(f"{name}: compiled in {compiled - start:.1f} s, ran in "
          f"{time.monotonic() - compiled:.1f} s")
    return folder


def main():
    arguments = parse()
    reference = os.path.join(arguments.work, "reference")
    if arguments.remove:
        shutil.rmtree(arguments.work, ignore_errors=True)
        return
    try:
        if arguments.reference:
            make_run(arguments, "reference", arguments.topology, "data-parallel")
            return
        stem = os.path.splitext(os.path.basename(arguments.strategy))[0]
        folder = make_run(arguments, f"{stem}-{arguments.ranks}",
                          arguments.topology, arguments.strategy)
        print(compare_runs(reference, folder))
        shutil.rmtree(folder)
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
