"""Compares task graphs of FlexNet task by task: layer_tasks.py OURS PUBLISHED.fbuf.xz SCHEMA.fbs

Both are decoded by flatc. Computation has to be bit for bit the same, server after
server in the order of the file, and so have all-reduces and what follows what.
"""

import json
import lzma
import os
import subprocess
import sys
import tempfile


def decode(path, schema):
    with (lzma.open if path.endswith(".xz") else open)(path, "rb") as file:
        data = file.read()
    with tempfile.TemporaryDirectory() as folder:
        binary = os.path.join(folder, "graph.bin")
        with open(binary, "wb") as file:
            file.write(data)
        subprocess.run(["flatc", "--json", "--raw-binary", "--strict-json", "-o", folder,
                        schema, "--", binary], check=True)
        with open(os.path.join(folder, "graph.json"), encoding="utf-8") as file:
            return json.load(file)


def tasks_of(graph):
    """Tasks with places in the list for numbers of tasks and servers for devices."""
    tasks = graph["tasks"]
    place = {task.get("taskid", 0): i for i, task in enumerate(tasks)}
    server = {device.get("deviceid", 0): device.get("nodeid", 0)
              for device in graph["devices"]}
    result = []
    for task in tasks:
        kind, following = task.get("type", 0), task.get("nexttasks", [])
        isSum = kind == 6
        result.append((kind, None if isSum else server[task.get("deviceid", 0)],
                       task.get("runtime", 0), task.get("xfersize", 0),
                       # Once for every operand that is read, which means no more than once.
                       sorted(following if isSum else {place[t] for t in following})))
    return result


def main():
    ours, published = (tasks_of(decode(path, sys.argv[3])) for path in sys.argv[1:3])
    if len(ours) != len(published):
        sys.exit(f"error: expected {len(published)} tasks, found {len(ours)}")
    for i, (mine, theirs) in enumerate(zip(ours, published)):
        if mine != theirs:
            sys.exit(f"error: task {i}: expected {theirs}, found {mine}")
    print(f"{len(ours)} equal tasks, {sum(task[0] == 6 for task in ours)} all-reduces of "
          f"{sum(task[3] for task in ours if task[0] == 6)} bytes")


main()
