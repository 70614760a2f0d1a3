"""What tests share that disturb a run and expect it to name what is slow."""

import argparse
import os
import subprocess
import sys
import time

from programs import Failure, Lines, compile_program, fresh_folder


def disturb(command, environment, named, quiet, disturbance, expected, patience):
    """Starts a run and disturbs it after `quiet` seconds. `named(said)` are those whom its
    warnings name: nobody before, and within `patience` seconds `expected`. disturbance(process
    of the command) is a generator, which goes on until then. Returns all that was named."""
    launcher = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True, env=dict(environment, OMP_NUM_THREADS="1"), start_new_session=True)
    said = Lines(launcher.stderr)
    try:
        time.sleep(quiet)
        if launcher.poll() is not None:
            raise Failure("the program has ended: " + said.text())
        if named(said):
            raise Failure(f"expected nobody to be named, found {named(said)}: " + said.text())
        began = time.monotonic()
        for _ in disturbance(launcher.pid):
            if expected in named(said):
                break
            if time.monotonic() > began + patience:
                raise Failure(f"expected {expected} to be named within {patience} s, found "
                              f"{named(said)}: " + said.text())
        print(f"named after {time.monotonic() - began:.1f} s: " + said.text(), end="")
        return named(said)
    finally:
        launcher.terminate()  # mpirun ends its ranks
        launcher.wait()


def main(devices, check):
    """Compiles the command line's model, data-parallel on `devices(folder)`, and calls
    check(program); returns the status of this process."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("compile_arguments", nargs="*")
    arguments = parser.parse_args()
    folder = fresh_folder(arguments.work)
    program = os.path.join(folder, "train")
    try:
        compile_program(arguments.ffc, arguments.model, devices(folder), program,
                        ["--strategy", "data-parallel", *arguments.compile_arguments])
        check(program)
    except Failure as failure:
        print(f"{os.path.basename(sys.argv[0])}: {failure}", file=sys.stderr)
        return 1
    return 0
