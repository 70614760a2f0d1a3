"""Two rings against one on a network of throttled links.

    throttled_links.py MPIRUN PROGRAM

Makes a ring of four nodes (namespaces.py), joined by links that send at a stated rate. On
each of them runs one rank of PROGRAM (throttled_program.cpp). Two rings, one each way
round, have to be at least 1.7 times as fast as one, and both as fast as the planner says.
Ends with 77, "not run", where the system allows no such network.
"""

import re
import subprocess
import sys
import tempfile

from namespaces import launch, make_ring, run_as_root

NODES = 4
# So slow, and messages so short, that it hardly matters when ranks get a core.
MBIT = 5
ELEMENTS = 1 << 16  # of 4 bytes
LEAST_GAIN = 1.7
# Headers take 3.5 % of the bytes that pass; the rest is what waits for other ranks.
SLACK = (0.95, 1.2)


def measure(mpirun, program, nodes, folder):
    """(seconds measured, seconds predicted) by the number of rings."""
    command, environment = launch(mpirun, nodes, folder)
    done = subprocess.run(command + ["--timeout", "60", program, str(ELEMENTS), str(MBIT)],
                          env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    found = re.findall(r"rings (\d+) measured ([\d.]+) predicted ([\d.]+)", done.stdout)
    if done.returncode != 0 or len(found) != 2:
        sys.exit(f"error: expected the times of one ring and of two, found exit code "
                 f"{done.returncode} and\n{done.stdout}")
    return {int(rings): (float(measured), float(predicted))
            for rings, measured, predicted in found}


def main():
    mpirun, program = sys.argv[1:]
    nodes = make_ring(NODES, MBIT)
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        times = measure(mpirun, program, nodes, folder)
    faults = []
    for rings, (measured, predicted) in times.items():
        print(f"{rings} rings: {measured:.3f} s, predicted {predicted:.3f} s")
        if not SLACK[0] <= measured / predicted <= SLACK[1]:
            faults.append(f"{rings} rings: expected {SLACK[0]} to {SLACK[1]} times what is "
                          f"predicted, found {measured / predicted:.3f}")
    gain = times[1][0] / times[2][0]
    print(f"two rings are {gain:.3f} times as fast as one")
    if gain < LEAST_GAIN:
        faults.append(f"expected two rings {LEAST_GAIN} times as fast as one, found {gain:.3f}")
    if faults:
        sys.exit("\n".join("error: " + fault for fault in faults))


if __name__ == "__main__":
    run_as_root(main)
