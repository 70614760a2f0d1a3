"""Compiles a model for emulated GPUs, lets the program write which convolutions it asks cuDNN
for, and has cuDNN plan them for a device that is described."""

import argparse
import os
import sys
import tempfile

from programs import Failure, compile_program, expect_success


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ffc", required=True, help="of emulated GPUs")
    parser.add_argument("--model", required=True)
    parser.add_argument("--plans", required=True, help="the program that plans")
    parser.add_argument("--device", required=True, help="record of its properties")
    parser.add_argument("--batch", default="32")
    parser.add_argument("flags", nargs="*", help="further flags of ffc")
    return parser.parse_args()


def main():
    arguments = parse()
    with tempfile.TemporaryDirectory() as work:
        program, shapes = os.path.join(work, "train"), os.path.join(work, "shapes")
        try:
            compile_program(arguments.ffc, arguments.model, "cpu:1", program,
                            ["--strategy", "data-parallel", "--batch-size", arguments.batch,
                             *arguments.flags])
            os.environ["FFRT_EMULATED_SHAPES"] = shapes
            expect_success([program, "--steps", "1"], 500)
            os.environ["FFRT_CUDNN_DEVICE"] = arguments.device
            print(expect_success([arguments.plans, shapes], 500))
        except Failure as failure:
            sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
