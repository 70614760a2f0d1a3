"""Runs a model on a ring of nodes that are network namespaces (namespaces.py), and after a
while has one link of them carry a fiftieth of what it did. The program must name the ranks
at its ends, and no others that have a link before and after.

  slow_link.py --ffc FFC --model MODEL --work DIR -- FLAGS OF ffc

Ends with 77, "not run", where the system allows no such network.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time

from namespaces import launch, make_ring, run_as_root
from programs import Failure, Lines, compile_program, fresh_folder

NODES = 4
VICTIM = 1          # whose link to the next node becomes slow
QUIET_SECONDS = 5   # without a slow link
SLOW_MBIT = 20
PATIENCE = 90       # seconds until it must be named
TOPOLOGY = """nodes:
  count: 4
  devices: 1 x cpu-core
  nic: {count: 1, bandwidth: 10 GB/s, latency: 0 s}
  network: {type: ring, bandwidth: 1 Gbit/s, latency: 50 us}
"""
WARNING = re.compile(r"warning: ranks (\d+) \(host node(\d+)\) and (\d+) \(host node(\d+)\): "
                     r"messages of \S+ kB take (\S+) ms where (\S+) ms is usual")


def named(said):
    """The pairs of ranks whose link was named. Those whose messages pass the slow link on
    their way to somebody else may be among them."""
    return {(int(match.group(1)), int(match.group(3))) for match in said.matches(WARNING)}


def check(program, folder):
    nodes = make_ring(NODES)
    command, environment = launch("mpirun", nodes, folder)
    launcher = subprocess.Popen(
        command + [program, "--steps", "1000000", "--quiet"], stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env=dict(environment, OMP_NUM_THREADS="1", FFRT_RANKS_PER_NODE="1"),
        start_new_session=True)
    said = Lines(launcher.stderr)
    try:
        time.sleep(QUIET_SECONDS)
        if launcher.poll() is not None:
            raise Failure("the program has ended: " + said.text())
        if named(said):
            raise Failure(f"expected no slow link, found {named(said)}")
        nodes[VICTIM].limit("next", SLOW_MBIT)
        began = time.monotonic()
        expected = (VICTIM, VICTIM + 1)
        while expected not in named(said):
            if time.monotonic() > began + PATIENCE:
                raise Failure(f"expected ranks {expected} to be named within {PATIENCE} s, "
                              f"found {named(said)}: " + said.text())
            time.sleep(0.1)
        others = {pair for pair in named(said)
                  if abs(pair[1] - pair[0]) in (1, NODES - 1)} - {expected}
        if others:
            raise Failure(f"expected no other neighbours to be named, found {others}")
        print(f"named after {time.monotonic() - began:.1f} s: " + said.text(), end="")
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
    topology = os.path.join(arguments.work, "ring.yaml")
    with open(topology, "w", encoding="utf-8") as file:
        file.write(TOPOLOGY)
    try:
        compile_program(arguments.ffc, arguments.model, topology, program,
                        ["--strategy", "data-parallel", *arguments.compile_arguments])
        with tempfile.TemporaryDirectory(dir="/tmp") as folder:
            check(program, folder)
    except Failure as failure:
        print(f"slow_link.py: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    run_as_root(main)
