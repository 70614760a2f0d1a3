"""ffc for emulated GPUs: takes ffc's arguments, and writes a program for --target=cuda
that runs on the CPU, linked with the emulated runtime (docs/decisions, 25).

The first arguments, up to `--`, are those of this script: ffc, the folder of the runtime's sources,
folders of more headers, and what is linked.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--runtime", required=True)
    parser.add_argument("--include", action="append", default=[])
    parser.add_argument("--link", action="append", default=[])
    mine, ffc = sys.argv[1:], []
    if "--" in mine:
        at = mine.index("--")
        mine, ffc = mine[:at], mine[at + 1:]
    return parser.parse_args(mine), ffc


def run(command):
    """Ends this process as the command ends, unless it succeeds."""
    status = subprocess.run(command, check=False).returncode
    if status != 0:
        sys.exit(status)


def main():
    arguments, ffc = parse()
    at = ffc.index("-o")
    output = ffc[at + 1]
    with tempfile.TemporaryDirectory() as work:
        source = os.path.join(work, "source")
        run([arguments.ffc, *ffc[:at], *ffc[at + 2:], "--target=cuda", "--emit=source",
             "--runtime", arguments.runtime, "-o", source])
        headers = [f"-I{folder}" for folder in
                   (os.path.join(arguments.runtime, "include"), *arguments.include)]
        objects = []
        for name, level in ("train.cpp", "-O0"), ("functors.cpp", "-O1"):
            path = os.path.join(source, name)
            if os.path.exists(path):
                objects.append(path + ".o")
                run(["g++", "-std=c++17", level, "-DFFRT_CUDA", *headers, "-c", path,
                     "-o", objects[-1]])
        run(["g++", *objects, *arguments.link, "-o", output])
        weights = os.path.join(source, "train.weights")
        if os.path.exists(weights):
            shutil.move(weights, output + ".weights")


if __name__ == "__main__":
    main()
