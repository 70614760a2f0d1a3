"""Sums and other reductions, softmax, running sums."""

from onnx_graph import FLOATS

from .elementwise import axis_of
from .registry import ANY_RANK, draws

REDUCTIONS = ["ReduceMean", "ReduceMean", "ReduceSum", "ReduceSum", "ReduceMax", "ReduceMin",
              "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp", "ReduceProd"]


def axes_of(g, x):
    """Dimensions, from either end, or None: all."""
    rank = len(x.shape)
    if not rank or g.chance(0.15):
        return None
    axes = sorted(g.random.sample(range(rank), g.random.randrange(1, rank + 1)))
    return [d - rank if g.since(11) and g.chance(0.3) else d for d in axes]


@draws(ranks=ANY_RANK, weight=4)
def reduce(g, x):
    axes, kept = axes_of(g, x), g.chance(0.6)
    operator = g.pick(REDUCTIONS)
    if operator == "ReduceProd":
        x = g.node("Tanh", [x], x.shape)
    given = {}
    if g.since(13 if operator == "ReduceSum" else 18) and g.chance(0.2):
        given["noop_with_empty_axes"] = int(axes is not None and g.chance(0.5))
    made = g.reduce(operator, x, axes, int(kept), **given)
    if kept and g.chance(0.5):
        return g.node(g.pick(["Sub", "Mul"]), [x, made], x.shape)
    return made


@draws(ranks=ANY_RANK, weight=0.7)
def reduce_logarithm(g, x):
    soft = g.node("Softplus", [x], x.shape)
    above = g.node("Add", [soft, g.number(0.3)], x.shape)
    given = {"noop_with_empty_axes": 0} if g.since(18) and g.chance(0.2) else {}
    return g.reduce("ReduceLogSum", above, axes_of(g, x), g.pick([0, 1]), **given)


@draws(types=("int32", "int64", "uint32", "uint64", "int8", "uint8", "bool"), weight=2)
def reduce_integers(g, x):
    operator = g.pick(["ReduceSum", "ReduceMax", "ReduceMin", "ReduceL1", "ReduceSumSquare"])
    return g.reduce(operator, x, axes_of(g, x), g.pick([0, 1]))


@draws(weight=0.3)
def reduce_nothing(g, x):
    """Without axes, and told that this is no reduction."""
    operator = g.pick(["ReduceSum", "ReduceMean", "ReduceMax"])
    if not g.since(13 if operator == "ReduceSum" else 18):
        return None
    return g.node(operator, [x], x.shape, noop_with_empty_axes=1)


@draws(weight=2)
def softmax(g, x):
    _, axis = axis_of(g, x)
    operator = g.pick(["Softmax", "LogSoftmax"])
    return g.node(operator, [x], x.shape, **({} if g.chance(0.25) and len(x.shape) > 1
                                             else {"axis": axis}))


@draws(types=FLOATS + ("int32", "int64", "uint32", "uint64"), weight=2)
def running(g, x):
    d, axis = axis_of(g, x)
    operator = g.pick(["CumSum", "CumSum", "CumProd"])
    if operator == "CumProd" and x.type not in FLOATS:
        return None
    given = {name: value for name, value in
             (("exclusive", g.pick([0, 1])), ("reverse", g.pick([0, 1]))) if g.chance(0.6)}
    place = g.given(g.pick([(), (1,)]) if operator == "CumSum" else (), g.pick(["int64", "int32"]),
                    [axis])
    if operator == "CumProd":
        x = g.node("Tanh", [x], x.shape)
    made = g.node(operator, [x, place], x.shape, **given)
    if x.type not in FLOATS:
        return g.node("Mod", [made, g.number(13)], made.shape)
    return g.node("Mul", [made, g.number(0.3)], x.shape)


@draws(ranks=(2, 3, 4), weight=1)
def determinant(g, x):
    if x.shape[-1] != x.shape[-2]:
        n = min(x.shape[-2:])
        if not g.since(10):
            return None
        rank = len(x.shape)
        x = g.node("Slice", [x, g.ints(0, 0), g.ints(n, n), g.ints(rank - 2, rank - 1)],
                   x.shape[:-2] + (n, n))
    if x.shape[-1] > 4:
        return None
    x = g.node("Tanh", [x], x.shape)
    return g.node("Det", [x], x.shape[:-2])
