"""Machines that are network namespaces of this one, joined by links of stated rates, and
ranks that Open MPI starts on them.

A namespace lives as long as the process in it, which ends with this one: nothing stays
behind. Tests end with NOT_RUN where the system allows no such network.
"""

import os
import subprocess
import sys

NOT_RUN = 77
BURST = 4096  # bytes that go at once over a link with a rate, whatever that is


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

    def limit(self, link, mbit):
        """What goes out by a link ("next", "before") goes at this rate from now on, by tc's
        token bucket filter."""
        self.run(f"tc qdisc replace dev {link} root tbf rate {mbit}mbit burst {BURST} latency 1s")


def make_ring(count, mbit=None):
    """Every node has its address on an interface of its own, and reaches the next one and
    the one before over their links, of this rate if one is given, others by the way of the
    next one."""
    nodes = [Node(number) for number in range(count)]
    for node in nodes:
        node.run("ip link set lo up")
        node.run("ip link add own type veth peer name other")
        node.run("ip link set own up")
        node.run("ip link set other up")
        node.run(f"ip address add {node.address}/24 dev own noprefixroute")
        node.run("sysctl -q net.ipv4.ip_forward=1")
    for node in nodes:
        after = nodes[(node.number + 1) % count]
        node.run(f"ip link add next type veth peer name before netns {after.holder.pid}")
    for node in nodes:
        after, before = nodes[(node.number + 1) % count], nodes[node.number - 1]
        for link, other in (("next", after), ("before", before)):
            node.run(f"ip link set {link} up")
            if mbit is not None:
                node.limit(link, mbit)
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


def launch(mpirun, nodes, folder):
    """The command, to be followed by a program, that starts a rank on each node, and its
    environment. `folder` must have a short name: sessions of Open MPI have sockets there."""
    environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1",
                       OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", TMPDIR=folder)
    settings = {"plm_rsh_agent": agent(nodes, folder), "plm_rsh_no_tree_spawn": "1",
                "pml": "ob1", "btl": "tcp,self", "btl_tcp_if_include": "own",
                "oob_tcp_if_include": "own", "mpi_yield_when_idle": "1"}
    command = nodes[0].enter() + [mpirun, "-n", str(len(nodes)), "--host",
                                  ",".join(node.address for node in nodes)]
    for name, value in settings.items():
        command += ["--mca", name, value]
    return command, environment


def run_as_root(main):
    """Calls main(), in a namespace of users, whose root may make networks, unless it is
    root; ends with its status, or NOT_RUN."""
    try:
        if os.geteuid() != 0 and "--as-root" not in os.environ.get("NAMESPACES", ""):
            inside = ["unshare", "--user", "--map-root-user"]
            allowed(inside + ["true"])
            os.environ["NAMESPACES"] = "--as-root"
            os.execvp(inside[0], inside + [sys.executable, "-B"] + sys.argv)
        sys.exit(main())
    except NotAllowed as reason:
        print(f"not run: the system allows no network of namespaces: {reason}")
        sys.exit(NOT_RUN)
