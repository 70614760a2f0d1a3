"""Operators that move, repeat and drop elements by what is known beforehand."""

import dataclasses

from onnx_graph import FLOATS, TYPES, size

from .elementwise import axis_of
from .registry import ANY_RANK, draws

ALL = tuple(TYPES)


@draws(types=ALL, ranks=ANY_RANK, weight=3)
def reshape(g, x):
    return reshape_to(g, x, g.pick([1, 2, 2, 3, 4, 4, 5]))


def reshape_to(g, x, rank):
    """A reshape of some rank at random; a target is given in one of its forms."""
    factors = []
    n = size(x.shape)
    while n > 1:
        factor = next(p for p in range(2, n + 1) if n % p == 0)
        factors.append(factor)
        n //= factor
    g.random.shuffle(factors)
    if not rank:
        return g.node("Reshape", [x, g.ints()], ()) if size(x.shape) == 1 else None
    shape = [1] * rank
    for factor in factors:
        shape[g.random.randrange(len(shape))] *= factor
    target = list(shape)
    if g.chance(0.3):
        target[g.random.randrange(len(shape))] = -1
    elif x.shape and shape[0] == x.shape[0] and g.chance(0.4):
        target[0] = 0
    given = {"allowzero": 0} if g.since(14) and g.chance(0.2) else {}
    if g.since(14) and 0 not in target and g.chance(0.1):
        given = {"allowzero": 1}
    return g.node("Reshape", [x, g.ints(*target)], tuple(shape), **given)


@draws(types=ALL, ranks=(2, 3, 4, 5))
def join_dims(g, x):
    d = g.random.randrange(len(x.shape) - 1)
    return g.reshape(x, x.shape[:d] + (x.shape[d] * x.shape[d + 1],) + x.shape[d + 2:])


@draws(types=ALL, ranks=(2, 3, 4), weight=0.7)
def reshape_by_shape(g, x):
    """To a shape that is computed of x's own."""
    rank = len(x.shape)
    whole = g.node("Shape", [x], (rank,), "int64")
    if g.since(15) and g.chance(0.4):
        first = g.node("Shape", [x], (1,), "int64", start=0, end=1 - rank)
    else:
        first = g.node("Gather", [whole, g.ints(0)], (1,), **g.pick([{}, {"axis": 0}]))
    target = g.node("Concat", [first, g.ints(-1)], (2,), axis=0)
    return g.node("Reshape", [x, target], (x.shape[0], size(x.shape[1:])))


@draws(types=ALL, ranks=ANY_RANK)
def flatten(g, x):
    d = g.random.randrange(len(x.shape) + 1)
    axis = d - len(x.shape) if g.since(11) and d < len(x.shape) and g.chance(0.4) else d
    given = {} if axis == 1 and g.chance(0.5) else {"axis": axis}
    return g.node("Flatten", [x], (size(x.shape[:d]), size(x.shape[d:])), **given)


@draws(types=ALL, ranks=ANY_RANK)
def unsqueeze(g, x):
    return g.unsqueeze(x, g.random.randrange(len(x.shape) + 1))


@draws(types=ALL, weight=1.5)
def squeeze(g, x):
    ones = [d for d, n in enumerate(x.shape) if n == 1]
    if not ones:
        return None
    if g.chance(0.2):
        return g.node("Squeeze", [x], tuple(n for n in x.shape if n != 1))
    return g.squeeze(x, [g.pick(ones)])


@draws(types=ALL, weight=2)
def transpose(g, x):
    order = list(range(len(x.shape)))
    if g.chance(0.2):
        return g.node("Transpose", [x], x.shape[::-1])
    g.random.shuffle(order)
    return g.transpose(x, order)


@draws(types=ALL, weight=2)
def slice_(g, x):
    d, axis = axis_of(g, x)
    n = x.shape[d]
    start = g.random.randrange(n)
    stop = g.random.randrange(start, n) + 1
    if not g.since(10):
        shape = x.shape[:d] + (stop - start,) + x.shape[d + 1:]
        given = {} if d == 0 and g.chance(0.3) else {"axes": [d]}
        return g.node("Slice", [x], shape, starts=[start], ends=[stop], **given)
    step = g.pick([1, 1, 2, -1])
    if step < 0:
        first, last = stop - 1, start - 1
        shape = x.shape[:d] + (len(range(first, last, step)),) + x.shape[d + 1:]
        last = last if last >= 0 else -n - 1
        operands = [first, last, axis, step]
    else:
        shape = x.shape[:d] + (len(range(start, stop, step)),) + x.shape[d + 1:]
        start, stop = (start - n, stop) if g.chance(0.3) else (start, stop)
        stop = g.pick([stop, 1 << 40]) if stop == n else stop
        operands = [start, stop, axis, step]
        if step == 1 and g.chance(0.3):
            operands.pop()
            if d == 0 and g.chance(0.5):
                operands.pop()
    type = "int64" if max(operands) > 1 << 30 else g.pick(["int64", "int64", "int32"])
    return g.node("Slice", [x] + [g.ints(n, type=type) for n in operands], shape)


@draws(types=ALL, weight=4)
def concat(g, x):
    d, axis = axis_of(g, x)
    others = [v for v in g.pool if v.type == x.type and len(v.shape) == len(x.shape)
              and v.shape[:d] + v.shape[d + 1:] == x.shape[:d] + x.shape[d + 1:]]
    parts = [x] + [g.pick(others) for _ in range(g.pick([0, 1, 1, 1, 2]))]
    if g.chance(0.2):
        parts.append(g.parameter(x.shape))
    g.random.shuffle(parts)
    shape = x.shape[:d] + (sum(v.shape[d] for v in parts),) + x.shape[d + 1:]
    return g.node("Concat", parts, shape, axis=axis)


@draws(types=ALL, weight=2)
def split(g, x):
    wide = [d for d, n in enumerate(x.shape) if n > 1]
    if not wide:
        return None
    d = g.pick(wide)
    n = x.shape[d]
    given = {} if d == 0 and g.chance(0.3) else {"axis": d}
    def parts(extents):
        return [x.shape[:d] + (e,) + x.shape[d + 1:] for e in extents]
    if g.chance(0.4):
        count = g.pick([k for k in range(1, n + 1)
                        if n % k == 0 or g.since(18) and (k - 1) * -(-n // k) < n])
        each = -(-n // count)
        if g.since(18):
            given["num_outputs"] = count
        return g.node("Split", [x], parts([each] * (count - 1) + [n - each * (count - 1)]),
                      **given)
    first = g.random.randrange(1, n)
    if g.since(13):
        return g.node("Split", [x, g.ints(first, n - first)], parts([first, n - first]), **given)
    return g.node("Split", [x], parts([first, n - first]), split=[first, n - first], **given)


@draws(types=ALL, weight=2.5)
def pad(g, x):
    mode = g.pick(["constant", "constant", "edge", "reflect"] + ["wrap"] * g.since(19))
    least = -1 if mode == "constant" and g.chance(0.2) else 0
    counts = []
    for n in x.shape * 2:
        most = {"constant": 2, "edge": 2, "reflect": min(2, n - 1), "wrap": min(2, n)}[mode]
        counts.append(g.pick([0, 0, 0, g.random.randrange(max(least, 1 - n) if least else 0,
                                                          most + 1)]))
    rank = len(x.shape)
    before, after = counts[:rank], counts[rank:]
    shape = tuple(n + b + a for n, b, a in zip(x.shape, before, after))
    if min(shape) < 1:
        return None
    given = {} if mode == "constant" and g.chance(0.5) else {"mode": mode}
    if not g.since(11):
        value = {"value": 0.5} if g.chance(0.5) else {}
        return g.node("Pad", [x], shape, pads=before + after, **given, **value)
    filler = [g.constants(())] if mode == "constant" and g.chance(0.6) else []
    if g.since(18) and g.chance(0.3):
        d = g.random.randrange(rank)
        axis = d - rank if g.chance(0.5) else d
        shape = x.shape[:d] + (shape[d],) + x.shape[d + 1:]
        return g.node("Pad", [x, g.ints(before[d], after[d]), *(filler or [None]), g.ints(axis)],
                      shape, **given)
    return g.node("Pad", [x, g.ints(*before, *after), *filler], shape, **given)


@draws(types=ALL, ranks=ANY_RANK, weight=1.5)
def expand(g, x):
    shape = [g.pick([1, 2, 3]) if n == 1 else n for n in x.shape]
    target = [1 if n == m and g.chance(0.3) else n for n, m in zip(shape, x.shape)]
    if g.chance(0.3):
        shape.insert(0, 2)
        target.insert(0, 2)
    if not target:
        return None
    return g.node("Expand", [x, g.ints(*target)], tuple(shape))


@draws(types=ALL, weight=1.5)
def tile(g, x):
    counts = [g.pick([1, 1, 2, 3]) for _ in x.shape]
    return g.node("Tile", [x, g.ints(*counts)], tuple(n * c for n, c in zip(x.shape, counts)))


@draws(ranks=(4,), weight=2)
def depth_and_space(g, x):
    n, c, h, w = x.shape
    if g.chance(0.5):
        if h % 2 or w % 2:
            h, w = 2 * h, 2 * w
            x = g.node("Tile", [x, g.ints(1, 1, 2, 2)], (n, c, h, w))
        modes = {"mode": g.pick(["DCR", "CRD"])} if g.since(28) and g.chance(0.5) else {}
        return g.node("SpaceToDepth", [x], (n, c * 4, h // 2, w // 2), blocksize=2, **modes)
    if c % 4:
        if g.chance(0.5):
            return None
        c *= 4
        x = g.node("Tile", [x, g.ints(1, 4, 1, 1)], (n, c, h, w))
    modes = {"mode": g.pick(["DCR", "CRD"])} if g.since(11) and g.chance(0.7) else {}
    return g.node("DepthToSpace", [x], (n, c // 4, h * 2, w * 2), blocksize=2, **modes)


@draws(types=ALL, weight=1.5)
def center_crop_pad(g, x):
    rank = len(x.shape)
    axes = sorted(g.random.sample(range(rank), g.random.randrange(1, rank + 1)))
    extents = {d: max(1, x.shape[d] + g.pick([-2, -1, 0, 1, 2])) for d in axes}
    shape = tuple(extents.get(d, n) for d, n in enumerate(x.shape))
    given = {"axes": [d - rank if g.chance(0.5) else d for d in axes]}
    if len(axes) == rank and g.chance(0.5):
        given = {}
    return g.node("CenterCropPad", [x, g.ints(*extents.values(),
                                              type=g.pick(["int64", "int32"]))], shape, **given)


@draws(types=FLOATS + ("int32", "int64", "bool"), ranks=(2, 3, 4), weight=1.5)
def triangle(g, x):
    given = g.pick([{}, {"upper": 0}, {"upper": 1}])
    operands = [x] + ([g.number(g.pick([-1, 0, 1, 2]), "int64")] if g.chance(0.6) else [])
    return g.node("Trilu", operands, x.shape, **given)


@draws(types=ALL, ranks=(2, 3, 4), weight=1.5)
def reverse_sequence(g, x):
    batch, time = g.pick([(0, 1), (1, 0)])
    lengths = [g.random.randrange(1, x.shape[time] + 1) for _ in range(x.shape[batch])]
    given = {"batch_axis": batch, "time_axis": time}
    if batch == 1 and g.chance(0.5):
        given = {}
    return g.node("ReverseSequence", [x, g.ints(*lengths)], x.shape, **given)


@draws(types=[name for name in ALL if name != "bfloat16"], weight=1.5)
def sequence(g, x):
    """Through sequences of tensors."""
    d, axis = axis_of(g, x)
    n = x.shape[d]
    way = g.pick(["split", "split_one", "construct", "insert", "erase"])
    if way.startswith("split"):
        given = {"axis": axis} if d or g.chance(0.5) else {}
        if way == "split_one":
            keeps = g.pick([0, 1])
            parts = sequence_of(g, "SplitToSequence", [x], **given, keepdims=keeps)
            shape = x.shape[:d] + (1,) * keeps + x.shape[d + 1:]
            count = n
        else:
            each = g.random.randrange(1, n + 1)
            while n % each:
                each -= 1
            parts = sequence_of(g, "SplitToSequence",
                                [x, g.given((), "int64", [each])], **given)
            shape = x.shape[:d] + (each,) + x.shape[d + 1:]
            count = n // each
    else:
        parts, shape, count = sequence_of(g, "SequenceConstruct", [x, x]), x.shape, 2
        if way == "insert":
            parts = sequence_of(g, "SequenceInsert", [parts, g.parameter(x.shape)]
                                + ([g.number(1, "int64")] if g.chance(0.5) else []))
            count = 3
        elif way == "erase":
            parts = sequence_of(g, "SequenceErase", [parts]
                                + ([g.number(0, "int64")] if g.chance(0.5) else []))
            count = 1
    if g.chance(0.5):
        place = g.random.randrange(-count, count)
        return g.node("SequenceAt", [parts, g.number(place, "int64")], shape, x.type)
    if g.chance(0.2):
        return g.node("SequenceLength", [parts], (), "int64")
    d = g.random.randrange(len(shape) + 1)
    if d < len(shape) and g.chance(0.5):
        made = shape[:d] + (shape[d] * count,) + shape[d + 1:]
        return g.node("ConcatFromSequence", [parts], made, x.type, axis=d)
    return g.node("ConcatFromSequence", [parts], shape[:d] + (count,) + shape[d:], x.type,
                  axis=d, new_axis=1)


def sequence_of(g, operator, operands, **given):
    made = g.node(operator, operands, (), operands[0].type if operands else g.type, **given)
    as_sequence = dataclasses.replace(made, is_sequence=True)
    g.graph.nodes[-1].results[0] = as_sequence
    return as_sequence


@draws(types=("float", "double", "float16", "int64", "bool"), weight=0.2)
def empty_sequence(g, x):
    given = {"dtype": TYPES[x.type]} if x.type != "float" or g.chance(0.5) else {}
    parts = sequence_of(g, "SequenceEmpty", [], **given)
    parts = sequence_of(g, "SequenceInsert", [parts, x])
    return g.node("SequenceAt", [parts, g.number(0, "int64")], x.shape, x.type)


@draws(types=ALL, ranks=ANY_RANK, weight=2)
def twin(g, x):
    """A node once more, with the same operands."""
    nodes = [node for node in g.graph.nodes
             if len(node.results) == 1 and not node.inner() and not node.made()[0].is_sequence]
    if not nodes:
        return None
    node = g.pick(nodes[-6:])
    result = dataclasses.replace(node.results[0], name=f"v{g.count}")
    g.count += 1
    name = g.name_of(node.operator) if g.chance(0.9) else node.name
    g.graph.nodes.append(dataclasses.replace(node, results=[result], name=name))
    return result
