"""Runs a model on two ranks, and after a while stops one of them again and again for some
milliseconds, as a machine does that throttles or has something else to do. The program must name
that rank, and nobody before.

  slow_rank.py --ffc FFC --model MODEL --work DIR -- FLAGS OF ffc
"""

import os
import re
import signal
import sys
import time

from programs import Failure, environment
from watched_runs import disturb, main

RANKS = 2
VICTIM = 1
QUIET_SECONDS = 3    # without a slow rank
PULSE = 0.03, 0.003  # seconds stopped and going
PATIENCE = 60        # seconds until it must be named
WARNING = re.compile(r"warning: rank (\d+) \(host .*\): steps compute for ")


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


def pulse(launcher):
    process = process_of_rank(launcher, VICTIM)
    while True:
        os.kill(process, signal.SIGSTOP)
        time.sleep(PULSE[0])
        os.kill(process, signal.SIGCONT)
        time.sleep(PULSE[1])
        yield


def check(program):
    named = disturb(
        [program, "--local-ranks", str(RANKS), "--steps", "1000000", "--quiet"], environment(),
        lambda said: [int(match.group(1)) for match in said.matches(WARNING)],
        QUIET_SECONDS, pulse, VICTIM, PATIENCE)
    if named != [VICTIM]:
        raise Failure(f"expected rank {VICTIM} alone to be named, found {named}")


if __name__ == "__main__":
    sys.exit(main(lambda folder: f"cpu:{RANKS}", check))
