"""Two rings against one on a network of throttled links.

    throttled_links.py MPIRUN PROGRAM

Makes a ring of four nodes: network namespaces, joined by pairs of virtual interfaces,
each of which sends at a stated rate (tc's token bucket filter). On each of them runs one
rank of PROGRAM (throttled_program.cpp), which Open MPI starts there. Two rings, one each
way round, have to be at least 1.7 times as fast as one, and both as fast as the planner
says. Ends with 77, "not run", where the system allows no such network.

A namespace lives as long as the process in it, which ends with this one: nothing stays
behind.
"""

import os
import re
import subprocess
import sys
import tempfile

NODES = 4
# So slow, and messages so short, that it hardly matters when ranks get a core.
MBIT = 5
ELEMENTS = 1 << 16  # of 4 bytes
BURST = 4096  # bytes that go at once, whatever the rate
LEAST_GAIN = 1.7
# Headers take 3.5 % of the bytes that pass; the rest is what waits for other ranks.
SLACK = (0.95, 1.2)
NOT_RUN = 77


class NotAllowed(Exception):
    """The system refuses a network; the text says what it said."""


def allowed(command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False)
    except FileNotFoundError as missing:
        raise NotAllowed(f"{missing.filename} is not installed") from missing
    if done.returncode != 0:
        raise NotAllowed(f"{' '.join(command)}: {done.stdout.strip()}")


class Node:
    """A namespace with a name of its own, held by a process that waits for its input."""

    def __init__(self, number):
        self.number = number
        self.address = f"10.77.0.{number + 1}"
        try:
            self.holder = subprocess.Popen(
                ["unshare", "--net", "--uts", "sh", "-c", f"hostname node{number}; echo; cat"],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True)
        except FileNotFoundError as missing:
            raise NotAllowed(f"{missing.filename} is not installed") from missing
        said = self.holder.stdout.readline().strip()
        if said:
            raise NotAllowed(said)

    def enter(self):
        return ["nsenter", f"--target={self.holder.pid}", "--net", "--uts"]

    def run(self, command):
        allowed(self.enter() + command.split())


def make_ring():
    """Every node has its address on an interface of its own, and reaches the next one and
    the one before over their links, others by the way of the next one."""
    nodes = [Node(number) for number in range(NODES)]
    for node in nodes:
        node.run("ip link set lo up")
        node.run("ip link add own type veth peer name other")
        node.run("ip link set own up")
        node.run("ip link set other up")
        node.run(f"ip address add {node.address}/24 dev own noprefixroute")
        node.run("sysctl -q net.ipv4.ip_forward=1")
    for node in nodes:
        after = nodes[(node.number + 1) % NODES]
        node.run(f"ip link add next type veth peer name before netns {after.holder.pid}")
    for node in nodes:
        after, before = nodes[(node.number + 1) % NODES], nodes[node.number - 1]
        for link, other in (("next", after), ("before", before)):
            node.run(f"ip link set {link} up")
            node.run(f"tc qdisc add dev {link} root tbf rate {MBIT}mbit burst {BURST} "
                     "latency 1s")
            node.run(f"ip route add {other.address} dev {link} src {node.address}")
        for other in nodes:
            if other not in (node, after, before):
                node.run(f"ip route add {other.address} via {after.address} dev next "
                         f"onlink src {node.address}")
    return nodes


def agent(nodes, folder):
    """What Open MPI calls in place of ssh: HOST COMMAND..."""
    path = os.path.join(folder, "agent")
    with open(path, "w", encoding="utf-8") as file:
        file.write("#!/bin/sh\nhost=$1\nshift\ncase $host in\n")
        for node in nodes:
            file.write(f"{node.address}) exec {' '.join(node.enter())} sh -c \"$*\";;\n")
        file.write("esac\necho \"unknown host $host\" >&2\nexit 1\n")
    os.chmod(path, 0o755)
    return path


def measure(mpirun, program, nodes, folder):
    """(seconds measured, seconds predicted) by the number of rings."""
    # Sessions of Open MPI have sockets, whose paths must be short.
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", TMPDIR=folder)
    settings = {"plm_rsh_agent": agent(nodes, folder), "plm_rsh_no_tree_spawn": "1",
                "pml": "ob1", "btl": "tcp,self", "btl_tcp_if_include": "own",
                "oob_tcp_if_include": "own", "mpi_yield_when_idle": "1"}
    command = nodes[0].enter() + [mpirun, "-n", str(NODES), "--timeout", "60", "--host",
                                  ",".join(node.address for node in nodes)]
    for name, value in settings.items():
        command += ["--mca", name, value]
    done = subprocess.run(command + [program, str(ELEMENTS), str(MBIT)], env=environment,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, check=False)
    found = re.findall(r"rings (\d+) measured ([\d.]+) predicted ([\d.]+)", done.stdout)
    if done.returncode != 0 or len(found) != 2:
        sys.exit(f"error: expected the times of one ring and of two, found exit code "
                 f"{done.returncode} and\n{done.stdout}")
    return {int(rings): (float(measured), float(predicted))
            for rings, measured, predicted in found}


def main():
    mpirun, program = sys.argv[1:]
    if os.geteuid() != 0 and "--as-root" not in os.environ.get("THROTTLED_LINKS", ""):
        # Root of a namespace of users may make networks.
        inside = ["unshare", "--user", "--map-root-user"]
        allowed(inside + ["true"])
        os.environ["THROTTLED_LINKS"] = "--as-root"
        os.execvp(inside[0], inside + [sys.executable, "-B"] + sys.argv)
    nodes = make_ring()
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
    try:
        main()
    except NotAllowed as reason:
        print(f"not run: the system allows no network of namespaces: {reason}")
        sys.exit(NOT_RUN)
