"""Small graphs that can be written as ONNX files, printed and changed: nodes over values of known
shapes."""

import dataclasses
import math
import struct

import numpy as np

from wire_format import field, write_varint

# TensorProto.DataType.
TYPES = {"float": 1, "uint8": 2, "int8": 3, "uint16": 4, "int16": 5, "int32": 6, "int64": 7,
         "bool": 9, "float16": 10, "double": 11, "uint32": 12, "uint64": 13, "bfloat16": 16}
FLOATS = ("float", "double", "float16", "bfloat16")
NARROW = ("float16", "bfloat16")  # ffc computes them as float
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
LARGEST = 100  # of integers of any type

NUMPY = {"float": "<f4", "double": "<f8", "float16": "<f2", "bool": "?",
         **{name: f"<{name[0]}{int(name.strip('uint')) // 8}" for name in INTEGERS}}


@dataclasses.dataclass(frozen=True)
class Value:
    name: str
    shape: tuple
    type: str = "float"
    least: int = None  # of integers that index something, with `below`
    below: int = None
    is_sequence: bool = False

    def declaration(self):
        extents = f"[{','.join(map(str, self.shape))}]" if self.shape else ""
        return f"{self.type}{extents} {self.name}"


@dataclasses.dataclass
class Node:
    operator: str
    attributes: dict
    operands: list  # names; None for one that is left out
    results: list  # of Value; None for one that is left out
    domain: str = ""
    name: str = ""

    def made(self):
        return [value for value in self.results if value]

    def inner(self):
        """The graphs of its attributes."""
        return [value for value in self.attributes.values() if isinstance(value, Graph)]

    def reads(self):
        """The names that it needs, those of its inner graphs too."""
        return [name for name in self.operands if name] + [
            name for graph in self.inner() for name in graph.captures()]


def size(shape):
    return math.prod(shape)


# Fields of messages


def number_field(number, value):
    return write_varint(number << 3) + write_varint(value & (1 << 64) - 1)


def text_field(number, value):
    return field(number, value.encode())


def float_field(number, value):
    return write_varint(number << 3 | 5) + struct.pack("<f", value)


def raw(kind, numbers):
    if kind == "bfloat16":
        bits = np.array(numbers, dtype="<f4").ravel().view("<u4")
        return (bits >> 16).astype("<u2").tobytes()
    return np.array(numbers, dtype=NUMPY[kind]).tobytes()


def tensor(value, numbers):
    return (b"".join(number_field(1, extent) for extent in value.shape)
            + number_field(2, TYPES[value.type]) + text_field(8, value.name)
            + field(9, raw(value.type, list(numbers))))


def value_info(value, symbols=()):
    shape = b"".join(field(1, text_field(2, symbols[d]) if d < len(symbols) and symbols[d]
                           else number_field(1, extent)) for d, extent in enumerate(value.shape))
    return text_field(1, value.name) + field(
        2, field(1, number_field(1, TYPES[value.type]) + field(2, shape)))


# AttributeProto.AttributeType.
FLOAT, INT, STRING, TENSOR, GRAPH, FLOAT_LIST, INT_LIST, STRING_LIST = 1, 2, 3, 4, 5, 6, 7, 8


def attribute(name, value):
    if isinstance(value, bool):
        value = int(value)
    if isinstance(value, float):
        kind, data = FLOAT, float_field(2, value)
    elif isinstance(value, int):
        kind, data = INT, number_field(3, value)
    elif isinstance(value, str):
        kind, data = STRING, text_field(4, value)
    elif isinstance(value, Graph):
        kind, data = GRAPH, field(6, value.message())
    elif isinstance(value, tuple):  # (Value, numbers)
        kind, data = TENSOR, field(5, tensor(*value))
    elif value and isinstance(value[0], float):
        kind, data = FLOAT_LIST, b"".join(float_field(7, each) for each in value)
    elif value and isinstance(value[0], str):
        kind, data = STRING_LIST, b"".join(text_field(9, each) for each in value)
    else:
        kind, data = INT_LIST, b"".join(number_field(8, each) for each in value)
    return text_field(1, name) + data + number_field(20, kind)


def node_message(node):
    results = [value.name if value else "" for value in node.results]
    return (b"".join(text_field(1, name or "") for name in node.operands)
            + b"".join(text_field(2, name) for name in results)
            + (text_field(3, node.name) if node.name else b"") + text_field(4, node.operator)
            + b"".join(field(5, attribute(*each)) for each in node.attributes.items())
            + (text_field(7, node.domain) if node.domain else b""))


def attribute_text(value):
    if isinstance(value, str):
        return f'"{value}"'
    if isinstance(value, tuple):
        return f"{value[0].declaration()} {{{', '.join(map(str, value[1]))}}}"
    return value.text().strip() if isinstance(value, Graph) else str(value)


@dataclasses.dataclass
class Graph:
    inputs: list
    initializers: dict = dataclasses.field(default_factory=dict)  # name: (Value, numbers)
    nodes: list = dataclasses.field(default_factory=list)
    outputs: list = dataclasses.field(default_factory=list)  # names
    opset: int = 20
    is_listed: bool = False  # initializers are graph inputs, too
    batch: str = ""  # name of the open extent 0 of inputs

    def changed(self, **changes):
        return dataclasses.replace(self, **changes)

    def values(self):
        """All values by name, those that nodes make last."""
        made = [value for node in self.nodes for value in node.made()]
        given = [value for value, _ in self.initializers.values()]
        return {value.name: value for value in [*self.inputs, *given, *made]}

    def captures(self):
        """What its nodes and outputs read of the graph around it."""
        own = self.values()
        names = [name for node in self.nodes for name in node.reads()] + self.outputs
        return [name for name in names if name not in own]

    def without_dead(self):
        """The same graph without nodes, initializers and inputs that no output needs."""
        needed, nodes = set(self.outputs), []
        for node in reversed(self.nodes):
            if any(value.name in needed for value in node.made()):
                needed.update(node.reads())
                nodes.insert(0, node)
        initializers = {name: given for name, given in self.initializers.items() if name in needed}
        inputs = [value for i, value in enumerate(self.inputs) if i == 0 or value.name in needed]
        return self.changed(inputs=inputs, initializers=initializers, nodes=nodes)

    def widened(self):
        """The same graph with floats of 32 bits where it has those of 16."""
        def wide(value):
            narrow = value and value.type in NARROW
            return dataclasses.replace(value, type="float") if narrow else value

        def wide_attribute(name, value):
            if isinstance(value, tuple):
                return wide(value[0]), value[1]
            if isinstance(value, Graph):
                return value.widened()
            is_type = name in ("to", "dtype", "output_datatype", "stash_type",
                               "softmax_precision")
            return 1 if is_type and value in (TYPES["float16"], TYPES["bfloat16"]) else value

        nodes = [dataclasses.replace(
            node, results=[wide(value) for value in node.results],
            attributes={name: wide_attribute(name, value)
                        for name, value in node.attributes.items()}) for node in self.nodes]
        return self.changed(
            inputs=[wide(value) for value in self.inputs], nodes=nodes,
            initializers={name: (wide(value), numbers)
                          for name, (value, numbers) in self.initializers.items()})

    def shaken(self, shake):
        """The same graph, `shake(numbers)` in place of the floats that it holds."""
        def shaken_attribute(value):
            if isinstance(value, Graph):
                return value.shaken(shake)
            return given(*value) if isinstance(value, tuple) else value

        def given(value, numbers):
            return value, shake(numbers) if value.type in FLOATS else numbers

        nodes = [dataclasses.replace(
            node, attributes={name: shaken_attribute(value)
                              for name, value in node.attributes.items()}) for node in self.nodes]
        return self.changed(nodes=nodes, initializers={
            name: given(*each) for name, each in self.initializers.items()})

    def message(self):
        """A GraphProto."""
        values = self.values()
        symbols = [self.batch] if self.batch else []
        listed = [value for value, _ in self.initializers.values()] if self.is_listed else []
        return (b"".join(field(1, node_message(node)) for node in self.nodes) + text_field(2, "g")
                + b"".join(field(5, tensor(*given)) for given in self.initializers.values())
                + b"".join(field(11, value_info(value, symbols if value.shape else []))
                           for value in self.inputs)
                + b"".join(field(11, value_info(value)) for value in listed)
                + b"".join(field(12, value_info(values[name])) for name in self.outputs)
                + b"".join(field(13, value_info(value)) for node in self.nodes
                           for value in node.made()
                           if not value.is_sequence and value.name not in self.outputs))

    def domains(self):
        return {node.domain for node in self.nodes} | {
            domain for node in self.nodes for graph in node.inner() for domain in graph.domains()}

    def model(self):
        """A ModelProto."""
        # Before version 4 of the format initializers had to be inputs.
        version = 3 if self.is_listed and self.opset < 9 else 8 if self.opset < 20 else 10
        opsets = [("", self.opset)] + [(domain, 1) for domain in sorted(self.domains()) if domain]
        return (number_field(1, version) + field(7, self.message())
                + b"".join(field(8, text_field(1, domain) + number_field(2, number))
                           for domain, number in opsets))

    def text(self):
        """For people; close to ONNX text."""
        values = self.values()
        given = ",\n ".join(
            f"{value.declaration()} = {{{', '.join(map(str, numbers))}}}"
            for value, numbers in self.initializers.values())
        lines = []
        for node in self.nodes:
            results = ", ".join(value.name if value else "" for value in node.results)
            types = ", ".join(value.declaration().split()[0] for value in node.made())
            operands = ", ".join(name or "" for name in node.operands)
            attributes = ", ".join(f"{name} = {attribute_text(value)}"
                                   for name, value in node.attributes.items())
            domain = node.domain + "." if node.domain else ""
            lines.append(f"  {results} = {domain}{node.operator}"
                         f"{f' <{attributes}>' if attributes else ''} ({operands})  # {types}\n")
        outputs = [values[name].declaration() if name in values else name
                   for name in self.outputs]
        listed = ", initializers are inputs" if self.is_listed else ""
        return (f"g ({', '.join(value.declaration() for value in self.inputs)}) => "
                f"({', '.join(outputs)})  # opset {self.opset}{listed}"
                f"{', open batch' if self.batch else ''}\n"
                + (f"<{given}>\n" if given else "") + "{\n" + "".join(lines) + "}\n")
