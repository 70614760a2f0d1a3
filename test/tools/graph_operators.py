"""The operators of graphs that are drawn at random (graph_generator.py).

Each is a function of a drawing and one of its values, and appends nodes. It returns what they make,
one value or a list, or None where it cannot make anything of a value of that shape.
"""

from onnx_graph import size


def positive(g, x):
    """A value above 0, for functions that want one."""
    soft = g.node("Softplus", [x], x.shape)
    return g.node("Add", [soft, g.number(0.3)], x.shape)


def axis_of(g, x):
    """A dimension of x, counted from either end, and its place."""
    d = g.random.randrange(len(x.shape))
    return d, d if g.chance(0.5) else d - len(x.shape)


# Functions of one value, with attributes.
FUNCTIONS = [
    ("Relu", ""), ("Tanh", ""), ("Sigmoid", ""), ("Abs", ""), ("Neg", ""), ("Floor", ""),
    ("Ceil", ""), ("Round", ""), ("Sign", ""), ("Softplus", ""), ("Softsign", ""), ("Erf", ""),
    ("Elu", "alpha = 0.7"), ("LeakyRelu", "alpha = 0.2"), ("Selu", ""), ("Celu", "alpha = 1.5"),
    ("HardSigmoid", ""), ("HardSwish", ""), ("Mish", ""), ("Gelu", ""),
    ("Gelu", 'approximate = "tanh"'), ("Sin", ""), ("Cos", ""), ("ThresholdedRelu", "alpha = 0.3"),
    ("Identity", ""), ("Atan", ""), ("Asinh", ""),
]


def function(g, x):
    name, attributes = g.pick(FUNCTIONS)
    return g.node(name, [x], x.shape, attributes)


def positive_function(g, x):
    if g.chance(0.3):
        power = g.number(g.pick([0.5, 1.5, 2.0, 3.0]))
        return g.node("Pow", [positive(g, x), power], x.shape)
    return g.node(g.pick(["Sqrt", "Log", "Reciprocal"]), [positive(g, x)], x.shape)


def bounded_exp(g, x):
    return g.node("Exp", [g.node("Tanh", [x], x.shape)], x.shape)


def clip(g, x):
    return g.node("Clip", [x, g.number(-0.6), g.number(0.8)], x.shape)


def prelu(g, x):
    if not x.shape:
        return None
    return g.node("PRelu", [x, g.parameter((x.shape[-1],))], x.shape)


def smaller(g, shape):
    """A shape that broadcasts to another."""
    kept = g.random.randrange(len(shape) + 1)
    return tuple(1 if g.chance(0.4) else n for n in shape[kept:])


def broadcast(a, b):
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    if any(m != n and 1 not in (m, n) for m, n in zip(a, b)):
        return None
    return tuple(n if m == 1 else m for m, n in zip(a, b))


def partner(g, x):
    """What stands beside x at an operator of two values."""
    other = g.value(lambda shape: broadcast(x.shape, shape) is not None)
    return g.parameter(smaller(g, x.shape)) if g.chance(0.4) or not other else other


def arithmetic(g, x):
    other = partner(g, x)
    operator = g.pick(["Add", "Sub", "Mul", "Max", "Min", "Mean", "Sum"])
    pair = [x, other] if g.chance(0.7) else [other, x]
    return g.node(operator, pair, broadcast(x.shape, other.shape))


def quotient(g, x):
    other = positive(g, partner(g, x))
    return g.node("Div", [x, other], broadcast(x.shape, other.shape))


def select(g, x):
    other = partner(g, x)
    shape = broadcast(x.shape, other.shape)
    where = g.node(g.pick(["Greater", "Less", "GreaterOrEqual"]), [x, other], shape, kind="bool")
    if g.chance(0.5):
        mask = g.node("Cast", [where], shape, "to = 1")
        return g.node("Mul", [mask, x], shape)
    return g.node("Where", [where, x, other], shape)


def gemm(g, x):
    if len(x.shape) != 2:
        return None
    m, k = x.shape
    turned, n = g.chance(0.3), g.extent()
    if turned:
        m, k = k, m
    turned_b = g.chance(0.5)
    operands = [x, g.parameter((n, k) if turned_b else (k, n))]
    if g.chance(0.6):
        operands.append(g.parameter(g.pick([(n,), (m, n), (1, n)])))
    return g.node("Gemm", operands, (m, n),
                  f"transA = {int(turned)}, transB = {int(turned_b)}, "
                  f"alpha = {g.pick(['1.0', '0.5'])}, beta = {g.pick(['1.0', '2.0'])}")


def dense(g, x):
    return g.dense(x) if x.shape else None


def scores(g, x):
    """Products of values with values, as those of attention."""
    if len(x.shape) < 2:
        return None
    turned = g.node("Transpose", [x], x.shape[:-2] + (x.shape[-1], x.shape[-2]),
                    f"perm = {list(range(len(x.shape) - 2)) + [len(x.shape) - 1, len(x.shape) - 2]}")
    made = g.node("MatMul", [x, turned], x.shape[:-1] + (x.shape[-2],))
    if g.chance(0.5):
        weights = g.node("Softmax", [made], made.shape, "axis = -1")
        return g.node("MatMul", [weights, x], x.shape)
    return g.node("Mul", [made, g.number(0.2)], made.shape)


def reshape(g, x):
    factors = []
    n = size(x.shape)
    while n > 1:
        factor = next(p for p in range(2, n + 1) if n % p == 0)
        factors.append(factor)
        n //= factor
    g.random.shuffle(factors)
    shape = [1] * g.pick([1, 2, 2, 3, 4])
    for factor in factors:
        shape[g.random.randrange(len(shape))] *= factor
    return g.node("Reshape", [x, g.ints(*shape)], tuple(shape))


def join_dims(g, x):
    if len(x.shape) < 2:
        return None
    d = g.random.randrange(len(x.shape) - 1)
    shape = x.shape[:d] + (x.shape[d] * x.shape[d + 1],) + x.shape[d + 2:]
    return g.node("Reshape", [x, g.ints(*shape)], shape)


def unsqueeze(g, x):
    d = g.random.randrange(len(x.shape) + 1)
    return g.node("Unsqueeze", [x, g.ints(d)], x.shape[:d] + (1,) + x.shape[d:])


def squeeze(g, x):
    ones = [d for d, n in enumerate(x.shape) if n == 1]
    if not ones:
        return None
    d = g.pick(ones)
    return g.node("Squeeze", [x, g.ints(d)], x.shape[:d] + x.shape[d + 1:])


def transpose(g, x):
    if not x.shape:
        return None
    order = list(range(len(x.shape)))
    g.random.shuffle(order)
    return g.node("Transpose", [x], tuple(x.shape[d] for d in order), f"perm = {order}")


def slice_(g, x):
    if not x.shape:
        return None
    d, axis = axis_of(g, x)
    start = g.random.randrange(x.shape[d])
    stop = g.random.randrange(start, x.shape[d]) + 1
    step = g.pick([1, 1, 2])
    shape = x.shape[:d] + (len(range(start, stop, step)),) + x.shape[d + 1:]
    return g.node("Slice", [x, g.ints(start), g.ints(stop), g.ints(axis), g.ints(step)], shape)


def concat(g, x):
    if not x.shape:
        return None
    d, axis = axis_of(g, x)
    others = [v for v in g.pool if len(v.shape) == len(x.shape)
              and v.shape[:d] + v.shape[d + 1:] == x.shape[:d] + x.shape[d + 1:]]
    parts = [x] + [g.pick(others) for _ in range(g.pick([1, 1, 2]))]
    if g.chance(0.2):
        parts.append(g.parameter(x.shape))
    g.random.shuffle(parts)
    shape = x.shape[:d] + (sum(v.shape[d] for v in parts),) + x.shape[d + 1:]
    return g.node("Concat", parts, shape, f"axis = {axis}")


def split(g, x):
    wide = [d for d, n in enumerate(x.shape) if n > 1]
    if not wide:
        return None
    d = g.pick(wide)
    first = g.random.randrange(1, x.shape[d])
    shapes = [x.shape[:d] + (n,) + x.shape[d + 1:] for n in (first, x.shape[d] - first)]
    return g.node("Split", [x, g.ints(first, x.shape[d] - first)], shapes, f"axis = {d}")


def pad(g, x):
    if not x.shape:
        return None
    before = [g.pick([0, 0, 1]) for _ in x.shape]
    after = [g.pick([0, 0, 1, 2]) for _ in x.shape]
    shape = tuple(n + b + a for n, b, a in zip(x.shape, before, after))
    return g.node("Pad", [x, g.ints(*before, *after), g.number(0.5)], shape)


def expand(g, x):
    ones = [d for d, n in enumerate(x.shape) if n == 1]
    shape = list(x.shape)
    for d in ones:
        shape[d] = g.pick([1, 2, 3])
    if g.chance(0.3):
        shape.insert(0, 2)
    return g.node("Expand", [x, g.ints(*shape)], tuple(shape))


def gather(g, x):
    if not x.shape:
        return None
    d, axis = axis_of(g, x)
    rows = [g.random.randrange(x.shape[d]) for _ in range(g.pick([1, 2, 3, 5]))]
    return g.node("Gather", [x, g.ints(*rows)], x.shape[:d] + (len(rows),) + x.shape[d + 1:],
                  f"axis = {axis}")


REDUCTIONS = ["ReduceMean", "ReduceMean", "ReduceSum", "ReduceSum", "ReduceMax", "ReduceMin",
              "ReduceL1", "ReduceL2", "ReduceSumSquare", "ReduceLogSumExp"]


def reduce(g, x):
    if not x.shape:
        return None
    axes = sorted(g.random.sample(range(len(x.shape)), g.random.randrange(1, len(x.shape) + 1)))
    kept = g.chance(0.6)
    shape = tuple(1 if d in axes else n for d, n in enumerate(x.shape) if kept or d not in axes)
    made = g.node(g.pick(REDUCTIONS), [x, g.ints(*axes)], shape, f"keepdims = {int(kept)}")
    if kept and g.chance(0.5):
        return g.node(g.pick(["Sub", "Mul"]), [x, made], x.shape)
    return made


def softmax(g, x):
    if not x.shape:
        return None
    _, axis = axis_of(g, x)
    return g.node(g.pick(["Softmax", "LogSoftmax"]), [x], x.shape, f"axis = {axis}")


def cum_sum(g, x):
    if not x.shape:
        return None
    d, _ = axis_of(g, x)
    made = g.node("CumSum", [x, g.given((), "int", [d])], x.shape,
                  f"exclusive = {g.pick([0, 1])}, reverse = {g.pick([0, 1])}")
    return g.node("Mul", [made, g.number(0.3)], x.shape)


def layer_norm(g, x):
    if not x.shape or x.shape[-1] < 2:
        return None
    d = len(x.shape) - 1
    return g.node("LayerNormalization",
                  [x, g.parameter(x.shape[d:]), g.parameter(x.shape[d:])], x.shape,
                  "axis = -1, epsilon = 0.1")


def root_mean_square(g, x):
    """RMSNorm in parts."""
    if not x.shape:
        return None
    squares = g.node("Mul", [x, x], x.shape)
    mean = g.node("ReduceMean", [squares, g.ints(len(x.shape) - 1)], x.shape[:-1] + (1,))
    root = g.node("Sqrt", [g.node("Add", [mean, g.number(0.1)], mean.shape)], mean.shape)
    return g.node("Mul", [g.node("Div", [x, root], x.shape), g.parameter(x.shape[-1:])], x.shape)


def channel_norm(g, x):
    if len(x.shape) < 3 or size(x.shape[2:]) < 2:
        return None
    c = x.shape[1]
    if g.chance(0.5):
        groups = g.pick([n for n in range(1, c + 1) if c % n == 0])
        return g.node("InstanceNormalization", [x, g.parameter((c,)), g.parameter((c,))], x.shape,
                      "epsilon = 0.1") if groups == c else x
    mean = g.given((c,), "float", [0.1 * i for i in range(c)])
    variance = g.given((c,), "float", [1 + 0.2 * i for i in range(c)])
    return g.node("BatchNormalization",
                  [x, g.parameter((c,)), g.parameter((c,)), mean, variance], x.shape,
                  "epsilon = 0.1")


def windows(g, x, most=3):
    """Attributes of windows over the dimensions behind the channels, and the extents."""
    n = len(x.shape) - 2
    kernel = [g.random.randrange(1, min(most, e + 1) + 1) for e in x.shape[2:]]
    pads = [g.random.randrange(k) for k in kernel + kernel]
    strides = [g.pick([1, 1, 2]) for _ in kernel]
    extents = [(e + pads[d] + pads[d + n] - kernel[d]) // strides[d] + 1
               for d, e in enumerate(x.shape[2:])]
    if min(extents, default=1) < 1:
        return None
    return (f"kernel_shape = {kernel}, pads = {pads}, strides = {strides}", kernel,
            tuple(extents))


def conv(g, x):
    if len(x.shape) not in (3, 4):
        return None
    way = windows(g, x)
    if not way:
        return None
    attributes, kernel, extents = way
    c = x.shape[1]
    groups = g.pick([1, 1, c])
    filters = groups * g.pick([1, 2, 3])
    operands = [x, g.parameter((filters, c // groups, *kernel))]
    if g.chance(0.5):
        operands.append(g.parameter((filters,)))
    made = g.node("Conv", operands, (x.shape[0], filters) + extents,
                  attributes + f", group = {groups}")
    return g.node("Relu", [made], made.shape) if g.chance(0.5) else made


def conv_transpose(g, x):
    if len(x.shape) != 4:
        return None
    filters, stride = g.pick([1, 2, 3]), g.pick([1, 2])
    shape = (x.shape[0], filters) + tuple((e - 1) * stride + 2 for e in x.shape[2:])
    return g.node("ConvTranspose", [x, g.parameter((x.shape[1], filters, 2, 2))], shape,
                  f"strides = [{stride}, {stride}]")


def pool(g, x):
    if len(x.shape) not in (3, 4):
        return None
    if g.chance(0.3):
        return g.node("GlobalAveragePool", [x], x.shape[:2] + (1,) * (len(x.shape) - 2))
    way = windows(g, x)
    if not way:
        return None
    operator = g.pick(["MaxPool", "AveragePool"])
    counts = ", count_include_pad = 1" if operator == "AveragePool" and g.chance(0.5) else ""
    return g.node(operator, [x], x.shape[:2] + way[2], way[0] + counts)


def recurrent(g, x):
    if len(x.shape) != 3:
        return None
    (time, batch, width), hidden = x.shape, g.pick([2, 3])
    kind, gates = g.pick([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    operands = [x, g.parameter((1, gates * hidden, width)), g.parameter((1, gates * hidden, hidden))]
    if g.chance(0.6):
        operands.append(g.parameter((1, 2 * gates * hidden)))
    made = g.node(kind, operands, (time, 1, batch, hidden), f"hidden_size = {hidden}")
    return g.node("Squeeze", [made, g.ints(1)], (time, batch, hidden))


OPERATORS = [
    function, function, function, positive_function, bounded_exp, clip, prelu, arithmetic,
    arithmetic, arithmetic, quotient, select, gemm, gemm, dense, dense, scores, reshape, join_dims,
    unsqueeze, squeeze, transpose, slice_, concat, concat, split, pad, expand, gather, reduce,
    reduce, softmax, cum_sum, layer_norm, root_mean_square, channel_norm, conv, conv,
    conv_transpose, pool, recurrent,
]
