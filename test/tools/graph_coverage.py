#!/usr/bin/env python3
"""Says which operators the random graphs never draw, and in which forms.

The operators are those that ffc lists (--list-operators), their forms the rows of
lib/Import/OpForms.cpp: the opsets that have a form, its operands and its attributes. Every form
must be among --graphs graphs, with as many operands as it takes and with every attribute, or stand
in the list of exceptions below with the reason why not. Nothing is compiled.
"""

import argparse
import re
import subprocess
import sys

from graph_generator import draw
from onnx_graph import INTEGERS, FLOATS

# An operator, one of its forms ("NAME opset FIRST"), attributes or numbers of operands ("NAME 3"):
# the reason.
EXCEPTIONS = {
    "ffc.ReduceBags": "ffc's own, of several nodes of a model",
    "Scan opset 8": "of batches; the node test scan_sum and a unit test have it",
    "Constant sparse_value": "not supported",
    "Constant value_string": "strings",
    "Constant value_strings": "strings",
}
ROW = re.compile(r'^    \{"([\w.]+)", "([\d ]+)", (\w+), "([\w ]*)"\},$', re.MULTILINE)
NEWEST = 1000


def read_forms(path):
    """(name, first opset, first opset of the next form, most operands or None, attributes)"""
    with open(path, encoding="utf-8") as file:
        rows = [(name, int(versions.split()[0]), None if most == "kMany" else int(most),
                 attributes.split())
                for name, versions, most, attributes in ROW.findall(file.read())]
    forms = []
    for row, later in zip(rows, [*rows[1:], None]):
        end = later[1] if later and later[0] == row[0] else NEWEST
        forms.append((row[0], row[1], end, *row[2:]))
    return forms


class Drawn:
    """(name, opset, attribute or number of operands or None) of all nodes."""

    def __init__(self, graphs):
        self.seen, self.types = {}, {}
        for seed in range(graphs):
            self.add(draw(seed, 4 + seed % 22, bare=seed % 4 == 3))

    def add(self, graph, around=None):
        values = {**(around or {}), **graph.values()}
        for node in graph.nodes:
            name = f"{node.domain}.{node.operator}" if node.domain else node.operator
            seen = self.seen.setdefault(name, set())
            seen.add((graph.opset, None))
            seen.update((graph.opset, attribute) for attribute in node.attributes)
            seen.add((graph.opset, len(node.operands)))
            first = values.get(node.operands[0]) if node.operands else None
            if first:
                self.types.setdefault(name, set()).add(first.type)
            for inner in node.inner():
                self.add(inner, values)

    def has(self, name, first, end, what):
        return any(first <= opset < end and what == found
                   for opset, found in self.seen.get(name, ()))


def missing_of(drawn, operators, forms):
    """What is never drawn, as (key of an exception, text)."""
    known = {form[0] for form in forms}
    missing = [(name, name) for name in operators
               if name not in known and name not in drawn.seen]
    for name, first, end, most, attributes in forms:
        if name not in operators:
            continue
        where = f"{name} of opset {first}" + (f" to {end - 1}" if end < NEWEST else " and later")
        if not drawn.has(name, first, end, None):
            missing.append((f"{name} opset {first}", where))
            continue
        if most and not drawn.has(name, first, end, most):
            missing.append((f"{name} {most}", f"{where}: {most} operands"))
        missing += [(f"{name} {attribute}", f"{where}: attribute {attribute}")
                    for attribute in attributes if not drawn.has(name, first, end, attribute)]
    return missing


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ffc")
    parser.add_argument("forms", help="lib/Import/OpForms.cpp")
    parser.add_argument("--graphs", type=int, default=5000)
    parser.add_argument("--types", action="store_true", help="print the types of operand 0, too")
    arguments = parser.parse_args()
    operators = subprocess.run([arguments.ffc, "--list-operators"], capture_output=True, text=True,
                               check=True).stdout.split()
    drawn = Drawn(arguments.graphs)
    missing = missing_of(drawn, operators, read_forms(arguments.forms))
    failed = [text for key, text in missing if key not in EXCEPTIONS]
    for text in failed:
        print(f"never drawn: {text}", file=sys.stderr)
    unused = set(EXCEPTIONS) - {key for key, _ in missing}
    for key in sorted(unused):
        print(f"an exception that is drawn: {key}", file=sys.stderr)
    if arguments.types:
        for name in operators:
            types = drawn.types.get(name, ())
            print(name, *(type for type in (*FLOATS, *INTEGERS, "bool") if type in types))
    print(f"{len(operators)} operators, {len(failed)} forms of them never drawn in "
          f"{arguments.graphs} graphs")
    return int(bool(failed or unused))


if __name__ == "__main__":
    sys.exit(main())
