"""Normalisations and dropout."""

from onnx_graph import size

from .registry import ANY_RANK, draws


def maybe(g, **given):
    return {name: value for name, value in given.items() if g.chance(0.6)}


@draws(weight=2)
def layer_norm(g, x):
    rank = len(x.shape)
    d = g.pick([rank - 1, g.random.randrange(rank)])
    if size(x.shape[d:]) < 2:
        return None
    operands = [x, g.parameter(x.shape[d:])]
    if g.chance(0.7):
        operands.append(g.parameter(x.shape[d:]))
    given = {} if d == rank - 1 and g.chance(0.4) else {"axis": g.pick([d, d - rank])}
    given.update(maybe(g, stash_type=1))
    return g.node("LayerNormalization", operands, x.shape, epsilon=0.1, **given)


@draws(weight=1.5)
def rms_norm(g, x):
    rank = len(x.shape)
    d = g.pick([rank - 1, g.random.randrange(rank)])
    given = {} if d == rank - 1 and g.chance(0.4) else {"axis": g.pick([d, d - rank])}
    given.update(maybe(g, stash_type=1))
    return g.node("RMSNormalization", [x, g.parameter(x.shape[d:])], x.shape, epsilon=0.1, **given)


@draws(weight=1.5)
def root_mean_square(g, x):
    """RMSNorm in parts."""
    squares = g.node("Mul", [x, x], x.shape)
    mean = g.reduce("ReduceMean", squares, [len(x.shape) - 1])
    root = g.node("Sqrt", [g.node("Add", [mean, g.number(0.1)], mean.shape)], mean.shape)
    return g.node("Mul", [g.node("Div", [x, root], x.shape), g.parameter(x.shape[-1:])], x.shape)


@draws(ranks=(2, 3, 4, 5), weight=2)
def batch_norm(g, x):
    c = x.shape[1]
    if size(x.shape) // c < 2:
        return None
    mean = g.given((c,), x.type, [0.1 * i for i in range(c)], name="m")
    variance = g.given((c,), x.type, [1 + 0.2 * i for i in range(c)], name="m")
    given = maybe(g, momentum=0.8)
    if g.since(14) and g.chance(0.2):
        given["training_mode"] = 0
    if not g.since(9) and g.chance(0.3):
        given["spatial"] = 1
    return g.node("BatchNormalization",
                  [x, g.parameter((c,)), g.parameter((c,)), mean, variance], x.shape,
                  epsilon=0.1, **given)


@draws(ranks=(3, 4, 5), weight=3)
def channel_norm(g, x):
    c, extent = x.shape[1], size(x.shape[2:])
    kind = g.pick(["instance", "group", "group", "lrn", "variance"])
    if kind == "lrn":
        given = maybe(g, alpha=0.01, beta=0.6, bias=1.5)
        return g.node("LRN", [x], x.shape, size=g.pick([1, 3, 5]), **given)
    if extent < 2:
        return None
    if kind == "variance":
        squeezed = g.node("Tanh", [x], x.shape)
        if len(x.shape) == 4 and g.chance(0.5):
            return g.node("MeanVarianceNormalization", [squeezed], x.shape)
        return g.node("MeanVarianceNormalization", [squeezed], x.shape,
                      axes=g.pick([[0, 2], [2], [1, 2]]))
    if kind == "instance":
        return g.node("InstanceNormalization", [x, g.parameter((c,)), g.parameter((c,))], x.shape,
                      epsilon=0.1)
    groups = g.pick([n for n in range(1, c + 1) if c % n == 0])
    return g.node("GroupNormalization", [x, g.parameter((c,)), g.parameter((c,))], x.shape,
                  num_groups=groups, epsilon=0.1, **maybe(g, stash_type=1))


@draws(weight=1.5)
def lp_norm(g, x):
    rank = len(x.shape)
    d = g.random.randrange(rank)
    given = maybe(g, p=g.pick([1, 2]))
    if d < rank - 1 or g.chance(0.5):
        given["axis"] = d if g.chance(0.5) else d - rank
    away = g.node("Add", [x, g.number(0.5)], x.shape)
    return g.node("LpNormalization", [away], x.shape, **given)


@draws(ranks=ANY_RANK, weight=0.7)
def inactive_dropout(g, x):
    if g.since(12):
        operands = g.pick([[x], [x, g.number(0.0, "float")],
                           [x, g.number(0.5, "float"), g.given((), "bool", [0])]])
        return g.node("Dropout", operands, x.shape, **maybe(g, seed=3))
    return g.node("Dropout", [x], x.shape, ratio=0.0)
