"""Pools."""

from .products import Windows
from .registry import draws


@draws(ranks=(3, 4, 5), weight=3)
def pool(g, x):
    operator = g.pick(["MaxPool", "AveragePool", "AveragePool", "LpPool"])
    dilated = {"MaxPool": 10, "AveragePool": 19, "LpPool": 18}[operator]
    ceil = {"MaxPool": 10, "AveragePool": 10, "LpPool": 18}[operator]
    way = Windows(g, x, dilated=g.since(dilated), ceil=g.since(ceil))
    if not way.extents:
        return None
    shape = x.shape[:2] + way.extents
    if operator == "AveragePool" and g.chance(0.5):
        way.given["count_include_pad"] = g.pick([0, 1])
    if operator == "LpPool":
        if g.chance(0.7):
            way.given["p"] = g.pick([1, 2, 3])
        x = g.node("Add", [g.node("Softplus", [x], x.shape), g.number(0.3)], x.shape)
    if operator == "MaxPool" and g.since(8):
        if g.chance(0.2):
            way.given["storage_order"] = 0
        if g.chance(0.3):
            made = g.node(operator, [x], [shape, shape], [x.type, "int64"], **way.given)
            return made if g.chance(0.5) else made[0]
    return g.node(operator, [x], shape, **way.given)


@draws(types=("int8", "uint8"), ranks=(3, 4), weight=0.5)
def integer_pool(g, x):
    way = Windows(g, x, dilated=g.since(10), ceil=g.since(10))
    if not way.extents:
        return None
    return g.node("MaxPool", [x], x.shape[:2] + way.extents, **way.given)


@draws(ranks=(3, 4, 5), weight=1.5)
def global_pool(g, x):
    operator = g.pick(["GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"])
    given = {}
    if operator == "GlobalLpPool":
        given = g.pick([{}, {"p": 1}, {"p": 2}, {"p": 3}])
        x = g.node("Add", [g.node("Softplus", [x], x.shape), g.number(0.3)], x.shape)
    return g.node(operator, [x], x.shape[:2] + (1,) * (len(x.shape) - 2), **given)


@draws(ranks=(3, 4), weight=2)
def unpool(g, x):
    """Back to where a pool took its elements from; places are those of even extents."""
    n = len(x.shape) - 2
    if any(e % 2 for e in x.shape[2:]):
        x = g.node("Tile", [x, g.ints(1, 1, *[2] * n)],
                   x.shape[:2] + tuple(2 * e for e in x.shape[2:]))
    shape = x.shape[:2] + tuple(e // 2 for e in x.shape[2:])
    kernel = {"kernel_shape": [2] * n, "strides": [2] * n}
    small, places = g.node("MaxPool", [x], [shape, shape], [x.type, "int64"], **kernel)
    if g.chance(0.5):
        small = g.node("Tanh", [small], small.shape)
    if g.chance(0.5):
        if g.chance(0.3):
            kernel["pads"] = [0] * (2 * n)
        return g.node("MaxUnpool", [small, places], x.shape, **kernel)
    shape = x.shape[:2] + tuple(e + g.pick([0, 0, 1]) for e in x.shape[2:])
    return g.node("MaxUnpool", [small, places, g.ints(*shape)], shape, **kernel)
