"""Runs a model on a ring of nodes that are network namespaces (namespaces.py), and after a
while has one link of them carry a fiftieth of what it did. The program must name the ranks
at its ends, and no others that have a link before and after.

  slow_link.py --ffc FFC --model MODEL --work DIR -- FLAGS OF ffc

Ends with 77, "not run", where the system allows no such network.
"""

import os
import re
import tempfile
import time

import watched_runs
from namespaces import launch, make_ring, run_as_root
from programs import Failure

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
WARNING = re.compile(r"warning: ranks (\d+) \(host node\d+\) and (\d+) \(host node\d+\): "
                     r"messages of \S+ kB take \S+ ms where \S+ ms is usual")


def topology(folder):
    path = os.path.join(folder, "ring.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(TOPOLOGY)
    return path


def named(said):
    """The pairs of ranks whose link was named. Those whose messages pass the slow link on
    their way to somebody else may be among them."""
    return {(int(match.group(1)), int(match.group(2))) for match in said.matches(WARNING)}


def check(program):
    nodes = make_ring(NODES)

    def slow_down(_):
        nodes[VICTIM].limit("next", SLOW_MBIT)
        while True:
            time.sleep(0.1)
            yield

    expected = (VICTIM, VICTIM + 1)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        command, environment = launch("mpirun", nodes, folder)
        found = watched_runs.disturb(
            [*command, program, "--steps", "1000000", "--quiet"],
            dict(environment, FFRT_RANKS_PER_NODE="1"), named, QUIET_SECONDS, slow_down,
            expected, PATIENCE)
    others = {pair for pair in found if abs(pair[1] - pair[0]) in (1, NODES - 1)} - {expected}
    if others:
        raise Failure(f"expected no other neighbours to be named, found {others}")


if __name__ == "__main__":
    run_as_root(lambda: watched_runs.main(topology, check))
