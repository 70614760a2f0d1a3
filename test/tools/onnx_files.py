"""Reads the parts of ONNX files that the tests need, with nothing but numpy.

Protocol buffers are sequences of (key, value), where the key holds a field's
number and how its value is stored. Only the fields named here are looked at
(onnx.proto of ONNX 1.12).
"""

import numpy as np

from wire_format import field, fields, read_varint, write_varint

# TensorProto.DataType.
TYPES = {
    1: np.dtype("<f4"), 2: np.dtype("u1"), 3: np.dtype("i1"), 4: np.dtype("<u2"),
    5: np.dtype("<i2"), 6: np.dtype("<i4"), 7: np.dtype("<i8"), 9: np.dtype("?"),
    10: np.dtype("<f2"), 11: np.dtype("<f8"), 12: np.dtype("<u4"),
    13: np.dtype("<u8"), 16: np.dtype("<u2"),  # bfloat16, as bits
}


def integers(data, number):
    """A repeated integer field, packed or not."""
    result = []
    for n, value in fields(data):
        if n != number:
            continue
        if isinstance(value, int):
            result.append(value)
            continue
        at = 0
        while at < len(value):
            v, at = read_varint(value, at)
            result.append(v)
    return [v - (1 << 64) if v >= 1 << 63 else v for v in result]


def floats(data, number, width):
    """A repeated f32 or f64 field, packed or not."""
    chunks = b"".join(value for n, value in fields(data) if n == number)
    return np.frombuffer(chunks, dtype=f"<f{width}")


def tensor_name(data):
    """TensorProto.name."""
    return b"".join(value for n, value in fields(data) if n == 8).decode()


def type_of(data):
    """TensorProto.data_type."""
    return next((value for n, value in fields(data) if n == 2), 0)


def tensor(data):
    """The array of a TensorProto, or None for types that numpy lacks."""
    shape = integers(data, 1)
    code = type_of(data)
    if code not in TYPES:
        return None
    dtype = TYPES[code]
    raw = [value for n, value in fields(data) if n == 9]
    if raw:
        values = np.frombuffer(raw[0], dtype=dtype)
    elif code == 1:
        values = floats(data, 4, 4)
    elif code == 11:
        values = floats(data, 10, 8)
    elif code == 7:
        values = np.array(integers(data, 7), dtype=dtype)
    elif code in (10, 16):
        values = np.array(integers(data, 5), dtype="<u2").view(dtype)
    else:
        values = np.array(integers(data, 11 if code in (12, 13) else 5)).astype(dtype)
    return values.reshape(shape)


def part(data, number):
    """The message that a field holds; empty if there is none."""
    return next((value for n, value in fields(data) if n == number), b"")


class Node:
    """NodeProto: the operator and the names of its operands."""

    def __init__(self, data):
        self.type, self.inputs, self.outputs, self.domain = "", [], [], ""
        for n, value in fields(data):
            if n == 1:
                self.inputs.append(value.decode())
            elif n == 2:
                self.outputs.append(value.decode())
            elif n == 4:
                self.type = value.decode()
            elif n == 7:
                self.domain = value.decode()


class Model:
    """A ModelProto as bytes, with what stands in its graph."""

    def __init__(self, path):
        with open(path, "rb") as file:
            self.data = file.read()
        self.nodes, self.inputs, self.outputs, self.initializers = [], [], [], []
        self.types = {}  # TensorProto.DataType of inputs and outputs that are tensors
        for n, graph in fields(self.data):
            if n != 7:
                continue
            for m, value in fields(graph):
                if m == 1:
                    self.nodes.append(Node(value))
                elif m == 5:
                    self.initializers.append(tensor_name(value))
                elif m in (11, 12):
                    name = next(v for k, v in fields(value) if k == 1).decode()
                    (self.inputs if m == 11 else self.outputs).append(name)
                    tensor_type = part(part(value, 2), 1)
                    self.types[name] = next((v for k, v in fields(tensor_type) if k == 1), 0)

    def with_initializer(self, name, tensor_data):
        """Adds a TensorProto as the value of `name`. Messages with the same
        number merge, so a second graph that holds the initializer is enough."""
        self.data += field(7, field(5, tensor_data + field(8, name.encode())))
        self.initializers.append(name)

    def opset(self):
        """The version of ONNX's own operator set."""
        versions = [0]
        for n, value in fields(self.data):
            if n == 8:
                imported = dict(fields(value))
                if imported.get(1, b"") in (b"", b"ai.onnx"):
                    versions.append(imported.get(2, 0))
        return max(versions)

    def with_opset(self, version):
        """Replaces all imports of operator sets by one."""
        kept = b"".join(
            field(n, value) if isinstance(value, bytes)
            else write_varint(n << 3) + write_varint(value)
            for n, value in fields(self.data) if n != 8)
        self.data = kept + field(8, b"\x10" + write_varint(version))
