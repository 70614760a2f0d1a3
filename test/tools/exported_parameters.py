"""Compares what `ffc parameters` lists of exported models with what their modules have.

A folder per export holds model.onnx and expected.json: the parameters that the file still
holds, each with the initializer that it is, and those that the exporter folded away. Exactly
the former are trained, and exactly the latter are missing.
"""

import argparse
import json
import os
import re
import subprocess
import sys

from programs import Failure


def listed(ffc, model, flags):
    """The names after "trained" and "missing", as two sets, and what the file calls parameters of
    the module that have other names there."""
    run = subprocess.run([ffc, "parameters", model, *flags], capture_output=True, text=True)
    if run.returncode:
        raise Failure(run.stderr.strip())
    trained, missing, values = set(), set(), {}
    for line in run.stdout.splitlines():
        words = line.split()
        if words[:1] == ["trained"]:
            trained.add(words[3])
            if parameter := re.search(r"; it is '([^']*)'", line):
                values[parameter.group(1)] = words[3]
        elif words[:1] == ["missing"]:
            missing.add(words[1])
    return trained, missing, values


def compare(what, found, expected):
    for names, word in ((found - expected, "and not expected"),
                        (expected - found, "expected, and not")):
        if names:
            raise Failure(f"{word} {what}: {', '.join(sorted(names))}")


def check(ffc, folder):
    with open(os.path.join(folder, "expected.json")) as file:
        expected = json.load(file)
    trained, missing, _ = listed(ffc, os.path.join(folder, "model.onnx"), expected["flags"])
    compare("trained", trained,
            {entry["initializer"] for entry in expected["parameters"].values()})
    compare("missing", missing, set(expected["folded"]))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ffc", required=True)
    parser.add_argument("folder", nargs="+")
    arguments = parser.parse_args()
    failed = 0
    for folder in arguments.folder:
        try:
            check(arguments.ffc, folder)
        except Failure as failure:
            print(f"{os.path.basename(folder)}: {failure}", file=sys.stderr)
            failed += 1
    print(f"{len(arguments.folder) - failed} of {len(arguments.folder)} exports are listed as "
          "their modules have them")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
