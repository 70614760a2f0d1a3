"""Losses, gates of two values, and updates as operators."""

from onnx_graph import FLOATS, size

from .registry import ANY_RANK, draws


@draws(ranks=(2, 3, 4), types=("float", "double"), weight=2)
def class_loss(g, x):
    """Labels are constants, or the largest elements of another value."""
    n, classes = x.shape[:2]
    shape = (n,) + x.shape[2:]
    if g.chance(0.5):
        other = g.value(lambda v: len(v.shape) == len(x.shape) and v.shape[0] == n
                        and v.shape[2:] == x.shape[2:] and v.shape[1] <= classes)
        if not other:
            return None
        labels = g.node("ArgMax", [other], shape, "int64", axis=1, keepdims=0)
    else:
        labels = g.given(shape, g.pick(["int64", "int32"]),
                         [g.random.randrange(classes) for _ in range(size(shape))])
    given = {}
    kind = g.pick([None, "mean", "sum", "none"])
    if kind:
        given["reduction"] = kind
    operands = [x, labels]
    if g.chance(0.3):
        operands.append(g.given((classes,), x.type, [0.5 + 0.25 * i for i in range(classes)]))
    if g.chance(0.3):
        given["ignore_index"] = 0 if kind in ("sum", "none") and g.chance(0.5) else -1
    made = shape if kind == "none" else ()
    if g.chance(0.5):
        operands[0] = g.node("LogSoftmax", [x], x.shape, axis=1)
        return g.node("NegativeLogLikelihoodLoss", operands, made, **given)
    if g.chance(0.3):
        return g.node("SoftmaxCrossEntropyLoss", operands, [made, x.shape], **given)
    return g.node("SoftmaxCrossEntropyLoss", operands, made, **given)


@draws(ranks=ANY_RANK, types=FLOATS)
def swiglu(g, x):
    other = g.value(lambda v: v.shape == x.shape) if g.chance(0.7) else g.parameter(x.shape)
    return g.node("SwiGLU", [x, other], x.shape, **g.pick([{}, {"alpha": 0.7}]))


@draws(types=("float", "double"), weight=0.7)
def update(g, x):
    kind, others = g.pick([("Adagrad", 1), ("Adam", 2), ("Momentum", 1)])
    rate, step = g.number(0.1), g.number(g.pick([0, 1, 3]), "int64")
    state = [g.node("Softplus", [g.parameter(x.shape)], x.shape) for _ in range(others)]
    given = {"norm_coefficient": 0.01}
    if kind == "Momentum":
        given.update(alpha=0.9, beta=0.7, mode=g.pick(["standard", "nesterov"]))
    elif kind == "Adam":
        given.update(alpha=0.8, beta=0.9, epsilon=0.1)
        if g.chance(0.5):
            given["norm_coefficient_post"] = 0.1
    else:
        given.update(epsilon=0.1)
        if g.chance(0.5):
            given["decay_factor"] = 0.1
    made = g.node(kind, [rate, step, g.parameter(x.shape), x, *state], [x.shape] * (1 + others),
                  domain="ai.onnx.preview.training", **given)
    return made[0]
