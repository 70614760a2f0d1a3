"""Values that are known when a model is compiled: fills, ranges, windows."""

from onnx_graph import FLOATS, INTEGERS, TYPES, Value

from .elementwise import broadcast
from .registry import ANY_RANK, draws


def used(g, x, made):
    """What was made beside x, or by itself."""
    shape = broadcast(x.shape, made.shape)
    if shape is not None and x.type in FLOATS and g.chance(0.7):
        return g.node("Mul", [x, g.cast(made, x.type)], shape)
    return made


@draws()
def fill(g, x):
    shape = g.pick([x.shape, x.shape[-1:], (1,), (2, 3)])
    type = g.pick(("float", "float", "double", "int64", "int32", "bool", x.type) + INTEGERS[:3])
    if type in ("float16", "bfloat16") and not g.since(20 if type == "bfloat16" else 9):
        return None
    if type == "float" and g.chance(0.3):
        made = g.node("ConstantOfShape", [g.ints(*shape)], shape, type)
    else:
        number = 1 if type == "bool" else 2 if type in INTEGERS else 0.5
        made = g.node("ConstantOfShape", [g.ints(*shape)], shape, type,
                      value=(Value("", (1,), type), [number]))
    return used(g, x, made)


@draws(types=FLOATS + ("int32", "int64"))
def counted(g, x):
    """A range, of its own or as long as x."""
    if x.type in FLOATS and x.shape and g.chance(0.5):
        whole = g.node("Shape", [x], (len(x.shape),), "int64")
        last = g.node("Gather", [whole, g.number(len(x.shape) - 1, "int64")], (), "int64", axis=0)
        made = g.node("Range", [g.number(0, "int64"), last, g.number(1, "int64")], x.shape[-1:],
                      "int64")
        return used(g, x, made)
    if x.type == "bfloat16" or x.type == "float16" and not g.since(27):
        return None
    start, step, count = g.pick([0, 1, -2]), g.pick([1, 2, -1]), g.pick([1, 3, 4])
    limits = [g.number(n) for n in (start, start + step * count, step)]
    given = {"stash_type": 1} if g.since(27) and g.chance(0.3) else {}
    return g.node("Range", limits, (count,), x.type, **given)


@draws(types=tuple(TYPES), ranks=ANY_RANK)
def extents(g, x):
    if g.chance(0.4):
        return g.node("Size", [x], (), "int64")
    rank = len(x.shape)
    if g.since(15) and rank and g.chance(0.4):
        start = g.random.randrange(rank)
        end = g.random.randrange(start, rank) + 1
        given = {"start": start - rank if g.chance(0.3) else start}
        if end < rank or g.chance(0.5):
            given["end"] = end
        return g.node("Shape", [x], (end - start,), "int64", **given)
    return g.node("Shape", [x], (rank,), "int64") if rank else None


@draws(types=FLOATS + ("int32", "int64"), ranks=(2,))
def identity_matrix(g, x):
    type = g.pick([None, "float", "double", "int64", "int32", "float16"])
    given = {} if not type else {"dtype": TYPES[type]}
    if g.chance(0.5):
        given["k"] = g.pick([-1, 0, 1, 2])
    made = g.node("EyeLike", [x], x.shape, type or x.type, **given)
    return used(g, x, made)


@draws(types=("float",))
def window(g, x):
    n = x.shape[-1]
    operator = g.pick(["HannWindow", "HammingWindow", "BlackmanWindow"])
    type = g.pick([None, "float", "double"])
    given = {} if not type else {"output_datatype": TYPES[type]}
    if g.chance(0.5):
        given["periodic"] = g.pick([0, 1])
    if n < 2:
        return None
    made = g.node(operator, [g.number(n, g.pick(["int64", "int32"]))], (n,), type or "float",
                  **given)
    return used(g, x, made)


@draws(types=("float",), ranks=(2, 3))
def mel_weights(g, x):
    bins, length = g.pick([1, 2, 4]), 2 * (x.shape[-1] - 1)
    if length < 4:
        return None
    given = g.pick([{}, {"output_datatype": TYPES["float"]}])
    type = g.pick(["int64", "int32"])
    made = g.node("MelWeightMatrix", [g.number(bins, type), g.number(length, type),
                                      g.number(8000, type), g.number(g.pick([0, 200]), "float"),
                                      g.number(3500, "float")],
                  (x.shape[-1], bins), "float", **given)
    return g.node("MatMul", [x, made], x.shape[:-1] + (bins,))
