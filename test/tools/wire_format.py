"""Protocol buffers: sequences of (key, value), where the key holds a field's
number and how its value is stored."""

VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5


def read_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def write_varint(value):
    result = bytearray()
    while value > 127:
        result.append(value & 127 | 128)
        value >>= 7
    result.append(value)
    return bytes(result)


def fields(data):
    """The (number, value) pairs of a message; values are integers or bytes."""
    at = 0
    while at < len(data):
        key, at = read_varint(data, at)
        kind = key & 7
        if kind == VARINT:
            value, at = read_varint(data, at)
        elif kind == BYTES:
            size, at = read_varint(data, at)
            value, at = data[at:at + size], at + size
        elif kind in (FIXED32, FIXED64):
            size = 4 if kind == FIXED32 else 8
            value, at = data[at:at + size], at + size
        else:
            raise ValueError(f"unknown storage {kind}")
        yield key >> 3, value


def field(number, value):
    """The bytes of one field that holds bytes."""
    return write_varint(number << 3 | BYTES) + write_varint(len(value)) + value
