#!/usr/bin/env python3
"""The versions of ONNX's operators and the element types of their first operand.

They are in onnx_schemas.txt, a line "OPERATOR VERSION TYPES" for each version that some opset from
7 on has, as the Python package onnx knows them; no types: deprecated. This program compares the
file with the package; where it is missing, the status is 77, "skipped". --update writes the file.
"""

import argparse
import os
import sys

from onnx_graph import TYPES

OLDEST, SKIPPED = 7, 77
PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "onnx_schemas.txt")


def read_schemas():
    """(first opset, element types) of every version of an operator, oldest first."""
    schemas = {}
    with open(PATH, encoding="utf-8") as file:
        for line in file:
            name, version, types = line.split()
            schemas.setdefault(name, []).append(
                (int(version), frozenset() if types == "-" else frozenset(types.split(","))))
    return schemas


def types_of(schema):
    if schema.deprecated:
        return "-"
    if not schema.inputs:
        return "none"
    kind = schema.inputs[0].type_str
    allowed = next((constraint.allowed_type_strs for constraint in schema.type_constraints
                    if constraint.type_param_str == kind), [kind])
    return ",".join(name for name in TYPES if f"tensor({name})" in allowed) or "other"


def expected_text(defs):
    versions = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "":
            versions.setdefault(schema.name, []).append(schema)
    lines = []
    for name in sorted(versions):
        schemas = sorted(versions[name], key=lambda schema: schema.since_version)
        first = max((i for i, schema in enumerate(schemas) if schema.since_version <= OLDEST),
                    default=0)
        lines += [f"{name} {schema.since_version} {types_of(schema)}\n"
                  for schema in schemas[first:]]
    return "".join(lines)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--update", action="store_true", help="write the file")
    arguments = parser.parse_args()
    try:
        from onnx import defs
    except ImportError:
        print("skipped: the Python package onnx is missing")
        return SKIPPED
    expected = expected_text(defs)
    if arguments.update:
        with open(PATH, "w", encoding="utf-8") as file:
            file.write(expected)
        return 0
    with open(PATH, encoding="utf-8") as file:
        found = file.read()
    for line in sorted(set(expected.splitlines()) ^ set(found.splitlines())):
        print(f"onnx_schemas.txt: expected to agree with onnx: {line}", file=sys.stderr)
    return int(found != expected)


if __name__ == "__main__":
    sys.exit(main())
