"""Compares lib/Import/OpForms.cpp with the operators that ONNX defines.

Every operator, whether ffc knows it or not, has a row there for every form that
it has at opset 7 or later: the versions that have this form, the most operands,
and the attributes. The Python package onnx knows them; where it is missing, the
status is 77, "skipped". --update writes the rows.
"""

import argparse
import os
import re
import sys

BEGIN, END = "    // rows: begin\n", "    // rows: end\n"
OLDEST = 7
SKIPPED = 77
ROW = '    {{"{}", "{}", {}, "{}"}},\n'


def read(folder, name):
    with open(os.path.join(folder, name)) as file:
        return file.read()


def forms(schemas):
    """(versions, most operands, attributes) of what counts from OLDEST on."""
    schemas = sorted((s for s in schemas if not s.deprecated),
                     key=lambda s: s.since_version)
    result = []
    for schema, later in zip(schemas, schemas[1:] + [None]):
        if later and later.since_version <= OLDEST:
            continue
        many = schema.max_input > 1000
        form = ("kMany" if many else str(schema.max_input),
                " ".join(sorted(schema.attributes)))
        if result and result[-1][1:] == form:
            result[-1][0].append(schema.since_version)
        else:
            result.append(([schema.since_version], *form))
    return result


def expected_rows(defs):
    schemas = {}
    for schema in defs.get_all_schemas_with_history():
        if schema.domain == "":
            schemas.setdefault(schema.name, []).append(schema)
    return [ROW.format(name, " ".join(map(str, versions)), most, attributes)
            for name in sorted(schemas)
            for versions, most, attributes in forms(schemas[name])]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("source", help="folder of the sources of ffc")
    parser.add_argument("--update", action="store_true", help="write the rows")
    arguments = parser.parse_args()
    try:
        from onnx import defs
    except ImportError:
        print("skipped: the Python package onnx is missing")
        sys.exit(SKIPPED)

    folder = os.path.join(arguments.source, "lib", "Import")
    text = read(folder, "OpForms.cpp")
    before, rest = text.split(BEGIN)
    rows, after = rest.split(END)
    expected = expected_rows(defs)
    if arguments.update:
        with open(os.path.join(folder, "OpForms.cpp"), "w") as file:
            file.write(before + BEGIN + "".join(expected) + END + after)
        return
    found = rows.splitlines(keepends=True)
    for row in sorted(set(expected) - set(found)):
        print(f"missing: {row.strip()}", file=sys.stderr)
    for row in sorted(set(found) - set(expected)):
        print(f"too many: {row.strip()}", file=sys.stderr)
    newest = int(re.search(r"kNewestOpset = (\d+)",
                           read(folder, "OpVersions.h")).group(1))
    if newest != defs.onnx_opset_version():
        print(f"expected kNewestOpset to be {defs.onnx_opset_version()}, found "
              f"{newest}", file=sys.stderr)
    sys.exit(found != expected or newest != defs.onnx_opset_version())


if __name__ == "__main__":
    main()
