"""Compares what a compiled program computes, in infer mode, with ONNX Runtime.

The record (record_forward.py) holds inputs and outputs. An output agrees if the
norm of its error is at most 1e-5 of its norm: f32 against f32, in another order.
"""

import argparse
import os
import shutil
import sys

import numpy as np

from programs import (Failure, compile_program, file_name, fresh_folder, run_program,
                      write_inputs)

TOLERANCE = 1e-5


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--topology", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--strategy", default="data-parallel")
    parser.add_argument("--work", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--record", required=True)
    parser.add_argument("flags", nargs="*", help="of ffc")
    arguments = parser.parse_args()
    work = fresh_folder(arguments.work)
    try:
        inputs, outputs = {}, {}
        with np.load(arguments.record) as record:
            for name in record.files:
                kind, _, tensor = name.partition("/")
                (inputs if kind == "in" else outputs)[tensor] = record[name]
        write_inputs(os.path.join(work, "inputs"), inputs)
        program, dump = os.path.join(work, "run"), os.path.join(work, "dump")
        compile_program(arguments.ffc, arguments.model, arguments.topology, program,
                        ["--mode=infer", "--loss=none", "--strategy", arguments.strategy,
                         *arguments.flags])
        run_program(program, arguments.ranks, ["--steps", "1", "--inputs",
                                               os.path.join(work, "inputs"), "--dump", dump])
        worst = 0.0
        for name, expected in outputs.items():
            found = np.load(os.path.join(dump, "out", file_name(name) + ".npy"))
            if found.shape != expected.shape:
                raise Failure(f"output '{name}': expected shape {expected.shape}, "
                              f"found {found.shape}")
            error = np.linalg.norm((found - expected).ravel().astype(np.float64))
            error /= np.linalg.norm(expected.ravel().astype(np.float64))
            if not error <= TOLERANCE:
                raise Failure(f"output '{name}': expected an error of at most {TOLERANCE:g} of "
                              f"its norm, found {error:.3g}")
            worst = max(worst, error)
        print(f"{len(outputs)} outputs, {arguments.ranks} ranks, {arguments.strategy}: "
              f"largest error {worst:.2g}")
        shutil.rmtree(work)
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
