"""Compiles a model to a program for GPUs, as --target=cuda builds it, and asks the program what it
is: build_cuda.py FFC MODEL [FLAGS OF FFC...]."""

import os
import sys
import tempfile

from programs import Failure, compile_program, expect_success


def main():
    ffc, model, *flags = sys.argv[1:]
    with tempfile.TemporaryDirectory() as work:
        program = os.path.join(work, "train")
        try:
            compile_program(ffc, model, "cpu:1", program,
                            ["--target", "cuda", "--strategy", "data-parallel", *flags])
            print(expect_success([program, "--info"], 60))
        except Failure as failure:
            sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
