"""Operators that pick and place elements by indices, which are constants, computed or inputs."""

from onnx_graph import FLOATS, INTEGERS, TYPES, Value, size

from .elementwise import axis_of
from .registry import draws

ALL = tuple(TYPES)
INDICES = ("int64", "int64", "int32")


@draws(types=ALL, weight=2)
def gather(g, x):
    d, axis = axis_of(g, x)
    shape = g.pick([(), (1,), (2,), (3,), (5,), (2, 2)])
    rows = g.indices(shape, x.shape[d], g.pick(INDICES), negative=g.since(11))
    given = {} if axis == 0 and g.chance(0.5) else {"axis": axis}
    return g.node("Gather", [x, rows], x.shape[:d] + shape + x.shape[d + 1:], **given)


@draws(types=FLOATS, weight=1.5)
def embedding(g, x):
    """Rows of a table, by an input of integers."""
    if not g.graph.inputs[0].shape:
        return None
    batch = g.graph.inputs[0].shape[0]
    shape = (batch,) + g.pick([(), (2,), (3,)])
    ids = Value(f"ids{len(g.graph.inputs)}", shape, "int64")
    g.graph.inputs = g.graph.inputs + [ids]
    rows, width = g.pick([3, 5, 10]), g.extent()
    return g.node("Gather", [g.parameter((rows, width)), ids], shape + (width,), x.type)


@draws(types=FLOATS + ("int32", "int64"), weight=1.5)
def gather_by_largest(g, x):
    """A row by the place of another value's largest."""
    other = g.value(lambda v: v.shape and v.shape[-1] <= x.shape[0])
    if not other:
        return None
    rows = g.node("ArgMax", [other], other.shape[:-1] + (1,), "int64", axis=len(other.shape) - 1)
    return g.node("Gather", [x, rows], rows.shape + x.shape[1:], x.type)


@draws(types=ALL, weight=1.5)
def gather_elements(g, x):
    d, axis = axis_of(g, x)
    shape = tuple(g.pick([1, 2, 3]) if i == d else g.random.randrange(1, n + 1)
                  for i, n in enumerate(x.shape))
    places = g.indices(shape, x.shape[d], g.pick(INDICES))
    given = {} if axis == 0 and g.chance(0.5) else {"axis": axis}
    return g.node("GatherElements", [x, places], shape, **given)


def places_of(g, extents, leading):
    """Indices of `leading` places, each of one number per extent."""
    numbers = []
    for _ in range(size(leading)):
        numbers += [g.random.randrange(-n if g.chance(0.2) else 0, n) for n in extents]
    return g.given(leading + (len(extents),), "int64", numbers)


@draws(types=ALL, weight=1.5)
def gather_nd(g, x):
    rank = len(x.shape)
    batch = g.random.randrange(min(2, rank)) if g.since(12) and g.chance(0.5) else 0
    count = g.random.randrange(1, rank - batch + 1)
    leading = x.shape[:batch] + g.pick([(1,), (2,), (3,), (2, 2)])
    places = places_of(g, x.shape[batch:batch + count], leading)
    given = {"batch_dims": batch} if batch or g.since(12) and g.chance(0.2) else {}
    return g.node("GatherND", [x, places], leading + x.shape[batch + count:], **given)


def reduction(g, x):
    """Of scatters: an attribute, and whether places may repeat."""
    kinds = ["none"] * g.since(16) + ["add", "mul"] * g.since(16) + ["max", "min"] * g.since(18)
    if x.type == "bool":
        kinds = ["none"] * g.since(16)
    if not kinds or g.chance(0.2):
        return {}, False
    kind = g.pick(kinds)
    return {"reduction": kind}, kind != "none"


@draws(types=ALL, weight=3)
def scatter_elements(g, x):
    d, axis = axis_of(g, x)
    given, repeats = reduction(g, x)
    n = x.shape[d]
    count = g.random.randrange(1, n + 1)
    shape = tuple(count if i == d else g.random.randrange(1, e + 1)
                  for i, e in enumerate(x.shape))
    # Places differ within a line along the axis; one permutation for all does.
    if repeats:
        places = g.indices(shape, n, g.pick(INDICES))
    else:
        line = g.random.sample(range(n), count)
        inner = size(shape[d + 1:])
        places = g.given(shape, g.pick(INDICES), [line[i // inner % count]
                                                  for i in range(size(shape))])
    if axis or g.chance(0.5):
        given["axis"] = axis
    operator = "ScatterElements" if g.since(11) else "Scatter"
    if operator == "Scatter":
        given.pop("reduction", None)
        if axis < 0:
            given["axis"] = d
    updates = g.parameter(shape)
    return g.node(operator, [x, places, updates], x.shape, **given)


@draws(types=ALL, weight=3)
def scatter_nd(g, x):
    given, repeats = reduction(g, x)
    rank = len(x.shape)
    count = g.random.randrange(1, rank + 1)
    spots = size(x.shape[:count])
    number = g.random.randrange(1, min(4, spots) + 1)
    chosen = [g.random.randrange(spots) for _ in range(number)] if repeats else (
        g.random.sample(range(spots), number))
    numbers = []
    for spot in chosen:
        place = []
        for n in reversed(x.shape[:count]):
            place.insert(0, spot % n)
            spot //= n
        numbers += place
    places = g.given((number, count), "int64", numbers)
    return g.node("ScatterND", [x, places, g.parameter((number,) + x.shape[count:])], x.shape,
                  **given)


@draws(types=ALL, ranks=(2, 3, 4), weight=2)
def tensor_scatter(g, x):
    axis = g.random.randrange(1, len(x.shape))
    n, batch = x.shape[axis], x.shape[0]
    count = g.random.randrange(1, n + 1)
    circular = g.chance(0.5)
    operands = [x, g.parameter(x.shape[:axis] + (count,) + x.shape[axis + 1:])]
    if g.chance(0.7):
        most = n if circular else n - count + 1
        operands.append(g.ints(*(g.random.randrange(most) for _ in range(batch))))
    given = {"axis": axis - len(x.shape) if g.chance(0.5) else axis}
    if len(x.shape) - axis == 2 and g.chance(0.5):
        given = {}
    if circular or g.chance(0.3):
        given["mode"] = "circular" if circular else "linear"
    return g.node("TensorScatter", operands, x.shape, **given)


@draws(types=ALL, weight=1.5)
def compress(g, x):
    along = g.chance(0.7)
    d, axis = axis_of(g, x)
    n = x.shape[d] if along else size(x.shape)
    kept = [g.random.randrange(2) for _ in range(g.random.randrange(1, n + 1))]
    kept[g.random.randrange(len(kept))] = 1
    condition = g.given((len(kept),), "bool", kept)
    if not along:
        return g.node("Compress", [x, condition], (sum(kept),))
    return g.node("Compress", [x, condition], x.shape[:d] + (sum(kept),) + x.shape[d + 1:],
                  axis=axis)


@draws(types=FLOATS + INTEGERS, ranks=(1, 2, 3), weight=1.5)
def one_hot(g, x):
    if x.type in FLOATS:
        if not x.shape or x.shape[-1] < 2:
            return None
        x = g.node("ArgMax", [x], x.shape[:-1] + (1,), "int64", axis=len(x.shape) - 1)
        if g.chance(0.3):
            x = g.cast(x, g.pick(["int32", "uint8", "float"]))
    if x.type not in ("int64", "int32", "float", "uint8"):
        return None
    depth = g.pick([2, 3, 4])
    d = g.random.randrange(len(x.shape) + 1)
    axis = d - len(x.shape) - 1 if g.chance(0.5) else d
    given = {} if d == len(x.shape) and g.chance(0.4) else {"axis": axis}
    type = g.pick(["float", "float", "int64", "double", "int32"])
    counted = g.pick([(), (1,)]) if g.opset < 28 or g.chance(0.5) else ()
    values = g.given((2,), type, g.pick([[0, 1], [-1, 2]]))
    return g.node("OneHot", [x, g.given(counted, g.pick(["int64", "int32"]), [depth]), values],
                  x.shape[:d] + (depth,) + x.shape[d:], type, **given)


@draws(types=FLOATS + ("int32", "int64"), weight=2)
def top_k(g, x):
    d, axis = axis_of(g, x)
    k = g.random.randrange(1, x.shape[d] + 1)
    shape = x.shape[:d] + (k,) + x.shape[d + 1:]
    given = {"axis": axis} if d < len(x.shape) - 1 or g.chance(0.5) else {}
    operands = [x]
    if g.since(10):
        operands.append(g.ints(k))
    else:
        given["k"] = k
    if g.since(11):
        if g.chance(0.4):
            given["largest"] = g.pick([0, 1])
        if g.chance(0.3):
            given["sorted"] = 1
    made = g.node("TopK", operands, [shape, shape], [x.type, "int64"], **given)
    return made if g.chance(0.4) else made[0]


@draws(types=FLOATS + INTEGERS, weight=1.5)
def arg_extreme(g, x):
    d, axis = axis_of(g, x)
    kept = g.chance(0.5)
    given = {} if d == 0 and g.chance(0.4) else {"axis": axis}
    if not kept or g.chance(0.4):
        given["keepdims"] = int(kept)
    if g.since(12) and g.chance(0.3):
        given["select_last_index"] = g.pick([0, 1])
    shape = x.shape[:d] + (1,) * kept + x.shape[d + 1:]
    return g.node(g.pick(["ArgMax", "ArgMin"]), [x], shape, "int64", **given)


@draws(types=FLOATS, weight=1)
def hard_max(g, x):
    """The place of the largest as a one."""
    if not g.since(13):
        d = g.random.randrange(len(x.shape))
        return g.node("Hardmax", [x], x.shape, axis=d)
    _, axis = axis_of(g, x)
    return g.node("Hardmax", [x], x.shape, **g.pick([{}, {"axis": axis}]))


@draws(types=("float",), weight=0.5)
def unique(g, x):
    """How many different ones there are is known of constants only."""
    numbers = [g.random.randrange(4) for _ in range(g.pick([1, 3, 5]))]
    values = g.given((len(numbers),), g.pick(["float", "int64", "int32"]), numbers)
    given = g.pick([{}, {"sorted": 1}, {"sorted": 0}, {"axis": 0}])
    count = len(set(numbers))
    made = g.node("Unique", [values], [(count,), (count,), (len(numbers),), (count,)],
                  [values.type, "int64", "int64", "int64"], **given)
    return made[g.random.randrange(4)]
