"""Small graphs that can be printed as ONNX text and changed: nodes over values of known shapes."""

import dataclasses
import math

OPSET = 20
TYPES = {"float": "float", "int": "int64", "bool": "bool"}


@dataclasses.dataclass(frozen=True)
class Value:
    name: str
    shape: tuple
    type: str = "float"

    def declaration(self):
        extents = ",".join(map(str, self.shape))
        return f"{TYPES[self.type]}[{extents}] {self.name}" if self.shape else (
            f"{TYPES[self.type]} {self.name}")


@dataclasses.dataclass
class Node:
    operator: str
    attributes: str
    operands: list  # names; None for one that is left out
    results: list  # of Value


def size(shape):
    return math.prod(shape)


@dataclasses.dataclass
class Graph:
    inputs: list
    initializers: dict = dataclasses.field(default_factory=dict)  # name: (Value, numbers)
    nodes: list = dataclasses.field(default_factory=list)
    outputs: list = dataclasses.field(default_factory=list)  # names

    def values(self):
        """All values by name, those that nodes make last."""
        made = [value for node in self.nodes for value in node.results]
        given = [value for value, _ in self.initializers.values()]
        return {value.name: value for value in [*self.inputs, *given, *made]}

    def without_dead(self):
        """The same graph without nodes and initializers that no output needs."""
        needed, nodes = set(self.outputs), []
        for node in reversed(self.nodes):
            if any(value.name in needed for value in node.results):
                needed.update(node.operands)
                nodes.insert(0, node)
        initializers = {name: given for name, given in self.initializers.items() if name in needed}
        return Graph(self.inputs, initializers, nodes, self.outputs)

    def text(self):
        values = self.values()
        given = ",\n ".join(
            f"{value.declaration()} = {{{', '.join(map(str, numbers))}}}"
            for value, numbers in self.initializers.values())
        lines = []
        for node in self.nodes:
            results = ", ".join(value.name for value in node.results)
            operands = ", ".join(name or "" for name in node.operands)
            attributes = f" <{node.attributes}>" if node.attributes else ""
            lines.append(f"  {results} = {node.operator}{attributes} ({operands})\n")
        return (f'<ir_version: 9, opset_import: ["" : {OPSET}]>\n'
                f"g ({', '.join(value.declaration() for value in self.inputs)}) => "
                f"({', '.join(values[name].declaration() for name in self.outputs)})\n"
                + (f"<{given}>\n" if given else "") + "{\n" + "".join(lines) + "}\n")
