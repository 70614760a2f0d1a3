"""Checks traces of MLCommons Chakra against the trace for Perfetto of the same plan.

usage: chakra_trace.py PREFIX TRACE.json SCHEMA.proto

Decodes every PREFIX.RANK.et with protoc, and says how many nodes there are. A node may
wait for earlier ones only; sends meet receives; bytes, flops and times of a rank are
those of its tasks.
"""

import collections
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

from onnx_files import read_varint

# All messages of a file as one, which protoc can decode at once.
WHOLE = """syntax = "proto3";
import "{schema}";
message Whole {{
  ChakraProtoMsg.GlobalMetadata metadata = 1;
  repeated ChakraProtoMsg.Node nodes = 2;
}}
"""


def decode(path, schema):
    """The text of a file's messages."""
    with open(path, "rb") as file:
        data = file.read()
    whole, at, tag = b"", 0, b"\x0a"
    while at < len(data):
        size, start = read_varint(data, at)
        whole += tag + data[at:start + size]
        at, tag = start + size, b"\x12"
    folder, name = os.path.split(os.path.abspath(schema))
    with tempfile.TemporaryDirectory() as temporary:
        with open(os.path.join(temporary, "whole.proto"), "w", encoding="utf-8") as file:
            file.write(WHOLE.format(schema=name))
        return subprocess.run(["protoc", f"-I{folder}", f"-I{temporary}", "--decode=Whole",
                               "whole.proto"], input=whole, check=True,
                              stdout=subprocess.PIPE).stdout.decode()


def nodes_of(text):
    """Nodes as dictionaries: fields, lists of dependencies, attributes with their types."""
    for block in re.findall(r"^nodes \{\n(.*?)^\}", text, re.S | re.M):
        node = {"data_deps": [], "ctrl_deps": [], "duration_micros": "0"}
        for name, kind, value in re.findall(
                r'attr \{\s*name: "(\w+)"\s*(\w+): ("[^"]*"|\S+)\s*\}', block):
            node[name] = kind, value.strip('"')
        for name, value in re.findall(r"^  (\w+): (.*)$", block, re.M):
            if name.endswith("_deps"):
                node[name].append(int(value))
            else:
                node[name] = value.strip('"')
        yield node


def number(node, name, kind):
    if node[name][0] != kind:
        sys.exit(f"error: expected {name} to be {kind}, found {node[name][0]}")
    return int(node[name][1])


def main():
    prefix, trace, schema = sys.argv[1:]
    with open(trace, encoding="utf-8") as file:
        events = [e for e in json.load(file)["traceEvents"]
                  if e["ph"] == "X" and "task" in e["args"] and e["cat"] != "wait"]
    with open(prefix + ".groups.json", encoding="utf-8") as file:
        groups = json.load(file)
    ranks = len(glob.glob(glob.escape(prefix) + ".*.et"))
    kinds, messages = collections.Counter(), collections.Counter()
    for rank in range(ranks):
        sums, seen = collections.Counter(), set()
        for node in nodes_of(decode(f"{prefix}.{rank}.et", schema)):
            missing = set(node["data_deps"] + node["ctrl_deps"]) - seen
            if missing:
                sys.exit(f"error: rank {rank}, node {node['id']}: waits for {missing}")
            seen.add(int(node["id"]))
            kind = node["type"]
            kinds[kind] += 1
            if kind == "COMP_NODE":
                sums["local"] += number(node, "tensor_size", "uint64_val")
                sums["flops"] += number(node, "num_ops", "int64_val")
                sums["ps"] += number(node, "duration_ps", "int64_val")
                sums["us"] += int(node["duration_micros"])
            elif kind == "COMM_COLL_NODE":
                sums["network"] += number(node, "tensor_bytes", "int64_val")
                number(node, "comm_size", "int64_val")
                number(node, "comm_type", "int64_val")
                if rank not in groups[node["pg_name"][1]]:
                    sys.exit(f"error: rank {rank} is not in group {node['pg_name'][1]}")
            else:
                size = number(node, "comm_size", "int64_val")
                sums["network"] += size
                ends = tuple(number(node, "comm_" + end, "int32_val") for end in ("src", "dst"))
                if rank != ends[kind == "COMM_RECV_NODE"]:
                    sys.exit(f"error: rank {rank}: has a message from {ends[0]} to {ends[1]}")
                key = ends + (number(node, "comm_tag", "int32_val"), size)
                messages[key] += 1 if kind == "COMM_SEND_NODE" else -1
        mine = [e for e in events if e["pid"] == rank]
        local = [e for e in mine if e["cat"] in ("kernel", "copy")]
        for name, expected in (
                ("local", sum(e["args"]["bytes"] for e in local)),
                ("flops", sum(e["args"].get("flops", 0) for e in local)),
                ("network", sum(e["args"]["bytes"] for e in mine) -
                 sum(e["args"]["bytes"] for e in local)),
                ("us", round(sums["ps"] / 1e6))):
            if abs(sums[name] - expected) > (len(local) if name == "flops" else 1):
                sys.exit(f"error: rank {rank}: {name}: expected {expected}, found {sums[name]}")
    if any(messages.values()):
        sys.exit("error: messages without partner: " + str(
            [key for key, count in messages.items() if count]))
    print(f"{ranks} ranks: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))


main()
