"""Is every source file compiled by some target? A test that is in no list of files never fails.
Where the toolkit for GPUs is, whose files are among them.

  compiled.py BUILD/compile_commands.json SOURCE-FOLDER
"""

import json
import os
import re
import sys

FOLDERS = ("bench", "lib", "runtime", "test", "tools")
# Compiled by others: programs in f64, a program of MPI's own compiler.
OTHERS = {"bench/comm/comm.cpp", "runtime/src/cpu/conv/conv_plain.cpp",
          "runtime/src/cpu/matmul/matmul_plain.cpp"}


def compiled_by(path):
    """A file, and what it includes if it is one that CMake wrote to compile several at once."""
    yield path
    if os.path.basename(os.path.dirname(path)) == "Unity":
        with open(path, encoding="utf-8") as file:
            yield from re.findall(r'^#include "(.*)"', file.read(), re.MULTILINE)


def main():
    commands, root = sys.argv[1], os.path.realpath(sys.argv[2])
    with open(commands, encoding="utf-8") as file:
        compiled = {os.path.realpath(path) for entry in json.load(file)
                    for path in compiled_by(os.path.join(entry["directory"], entry["file"]))}
    missing = []
    for folder in FOLDERS:
        for place, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                path = os.path.join(place, name)
                relative = os.path.relpath(path, root)
                is_source = name.endswith((".cpp", ".cu"))
                if is_source and path not in compiled and relative not in OTHERS:
                    missing.append(relative)
    if missing:
        sys.exit("error: expected every source file to be compiled, found in no target: " +
                 ", ".join(sorted(missing)))
    print(f"{len(compiled)} files")


main()
