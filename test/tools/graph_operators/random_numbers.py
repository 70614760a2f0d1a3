"""Random numbers, and dropout that acts in training."""

from onnx_graph import FLOATS, TYPES

from .constants import used
from .registry import ANY_RANK, draws


def some(g, **given):
    return {name: value for name, value in given.items() if g.chance(0.5)}


@draws(types=("float", "double"), is_random=True, weight=6)
def random_values(g, x):
    normal = g.chance(0.5)
    given = some(g, mean=0.5, scale=0.3) if normal else some(g, low=-0.5, high=0.7)
    if g.chance(0.3):
        given["seed"] = 7.0
    if g.chance(0.4):
        given["dtype"] = TYPES[x.type] if x.type == "double" else g.pick([1, 11])
    name = "RandomNormal" if normal else "RandomUniform"
    type = {1: "float", 11: "double"}.get(given.get("dtype"))
    if g.chance(0.5):
        made = g.node(name + "Like", [x], x.shape, type or x.type, **given)
    else:
        made = g.node(name, [], x.shape, type or "float", shape=list(x.shape), **given)
    return used(g, x, made)


@draws(types=FLOATS, is_random=True, weight=3)
def bernoulli(g, x):
    given = {}
    type = g.pick([None, "float", "double", "int64", "bool"])
    if type:
        given["dtype"] = TYPES[type]
    if g.chance(0.3):
        given["seed"] = 5.0
    chances = g.node("Sigmoid", [x], x.shape)
    return used(g, x, g.node("Bernoulli", [chances], x.shape, type or x.type, **given))


@draws(types=FLOATS, ranks=ANY_RANK, is_random=True, weight=4)
def dropout(g, x):
    if not g.since(12):
        return g.node("Dropout", [x], x.shape, ratio=g.pick([0.3, 0.5]))
    given = {"seed": 3} if g.chance(0.3) else {}
    operands = [x, g.number(0.3, "float")] + (
        [g.given((), "bool", [1])] if g.chance(0.6) else [])
    if g.chance(0.3):
        return g.node("Dropout", operands, [x.shape, x.shape], [x.type, "bool"], **given)
    return g.node("Dropout", operands, x.shape, **given)
