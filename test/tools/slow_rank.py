"""Runs a model on two ranks, and after a while stops one of them again and again for some
milliseconds, as a machine does that throttles or has something else to do. The program must name
that rank, and no rank before.

  slow_rank.py --ffc FFC --model MODEL --work DIR -- FLAGS OF ffc
"""

import argparse
import os
import signal
import subprocess
import sys
import time

from programs import Failure, Lines, compile_program, environment, fresh_folder

RANKS = 2
VICTIM = 1
QUIET_SECONDS = 3    # without a slow rank
PULSE = 0.03, 0.003  # seconds stopped and going
PATIENCE = 60        # seconds until it must be named


def process_of_rank(launcher, rank):
    """The process of a rank that `launcher` has started."""
    mark = f"OMPI_COMM_WORLD_RANK={rank}".encode()
    for process in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/stat") as file:
                parent = int(file.read().rsplit(")", 1)[1].split()[1])
            with open(f"/proc/{process}/environ", "rb") as file:
                variables = file.read().split(b"\0")
        except (OSError, IndexError):
            continue  # it has ended
        if parent == launcher and mark in variables:
            return int(process)
    raise Failure(f"expected a process of rank {rank}, found none")


def named(said):
    """The ranks that were named."""
    return [int(match.group(1))
            for match in said.matches(r"warning: rank (\d+) \(host .*steps compute for")]


def pulse(process, said):
    """Stops the process now and then until some rank is named."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end and not named(said):
        os.kill(process, signal.SIGSTOP)
        time.sleep(PULSE[0])
        os.kill(process, signal.SIGCONT)
        time.sleep(PULSE[1])


def check(program):
    launcher = subprocess.Popen(
        [program, "--local-ranks", str(RANKS), "--steps", "1000000", "--quiet"],
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=dict(environment(), OMP_NUM_THREADS="1"), start_new_session=True)
    said = Lines(launcher.stderr)
    try:
        time.sleep(QUIET_SECONDS)
        if launcher.poll() is not None:
            raise Failure("the program has ended: " + said.text())
        if named(said):
            raise Failure(f"expected no slow rank, found {named(said)}: " + said.text())
        began = time.monotonic()
        pulse(process_of_rank(launcher.pid, VICTIM), said)
        if named(said) != [VICTIM]:
            raise Failure(f"expected rank {VICTIM} to be named within {PATIENCE} s, found "
                          f"{named(said)}: " + said.text())
        print(f"named after {time.monotonic() - began:.1f} s: " + said.lines[-1], end="")
    finally:
        launcher.terminate()  # mpirun ends its ranks
        launcher.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("compile_arguments", nargs="*")
    arguments = parser.parse_args()
    fresh_folder(arguments.work)
    program = os.path.join(arguments.work, "train")
    try:
        compile_program(arguments.ffc, arguments.model, f"cpu:{RANKS}", program,
                        ["--strategy", "data-parallel", *arguments.compile_arguments])
        check(program)
    except Failure as failure:
        print(f"slow_rank.py: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
