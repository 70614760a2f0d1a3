"""Operators on the bits of integers."""

from onnx_graph import INTEGERS, UNSIGNED, size

from .elementwise import broadcast, partner, smaller
from .registry import ANY_RANK, draws


@draws(types=INTEGERS, ranks=ANY_RANK, weight=2)
def bitwise(g, x):
    operator = g.pick(["BitwiseAnd", "BitwiseOr", "BitwiseXor", "BitwiseNot"])
    if operator == "BitwiseNot":
        if x.type in ("uint32", "uint64"):  # larger than floats are exact
            return None
        return g.node(operator, [x], x.shape)
    other = partner(g, x)
    return g.node(operator, [x, other], broadcast(x.shape, other.shape))


@draws(types=INTEGERS, ranks=ANY_RANK, weight=2)
def bit_shift(g, x):
    right = g.chance(0.5) or x.type in ("uint32", "uint64", "int64", "int32")
    shape = smaller(g, x.shape)
    by = g.given(shape, x.type, [g.pick([0, 1, 2, 3]) for _ in range(size(shape))])
    return g.node("BitShift", [x, by], x.shape, direction="RIGHT" if right else "LEFT")


@draws(types=UNSIGNED, ranks=ANY_RANK, weight=0.5)
def shift_left(g, x):
    low = g.node("BitwiseAnd", [x, g.number(7)], x.shape)
    return g.node("BitShift", [low, g.number(g.pick([1, 2]))], x.shape, direction="LEFT")
