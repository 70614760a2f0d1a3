"""Recurrent layers and loops over time."""

from .registry import draws


@draws(ranks=(3,), types=("float", "double", "float16"), weight=3)
def recurrent(g, x):
    kind, gates = g.pick([("LSTM", 4), ("GRU", 3), ("RNN", 1)])
    hidden = g.pick([1, 2, 3])
    batched = g.since(14) and g.chance(0.3)
    time, batch, width = x.shape if not batched else (x.shape[1], x.shape[0], x.shape[2])
    way = g.pick(["forward", "forward", "reverse", "bidirectional"])
    ways = 2 if way == "bidirectional" else 1
    operands = [x, g.parameter((ways, gates * hidden, width)),
                g.parameter((ways, gates * hidden, hidden)),
                g.parameter((ways, 2 * gates * hidden)) if g.chance(0.6) else None,
                g.given((batch,), "int32", [g.random.randrange(1, time + 1)
                                            for _ in range(batch)]) if g.chance(0.15) else None]
    first = (batch, ways, hidden) if batched else (ways, batch, hidden)
    operands.append(g.parameter(first) if g.chance(0.3) else None)
    if kind == "LSTM":
        operands.append(g.parameter(first) if g.chance(0.3) else None)
        operands.append(peepholes(g, (ways, 3 * hidden)) if g.chance(0.2) else None)
    while operands[-1] is None:
        operands.pop()
    given = {"hidden_size": hidden}
    if way != "forward" or g.chance(0.3):
        given["direction"] = way
    if batched or g.since(14) and g.chance(0.2):
        given["layout"] = int(batched)
    if kind == "GRU" and g.chance(0.5):
        given["linear_before_reset"] = g.pick([0, 1])
    if g.chance(0.1):
        given["clip"] = g.pick([0.25, 1.0, 3.0])
    if kind == "LSTM" and g.chance(0.15):
        given["input_forget"] = g.pick([0, 1])
    if g.chance(0.15):
        return with_activations(g, kind, operands, given, functions(g, kind, ways, given), time,
                                batch, ways, hidden, batched)
    if g.chance(0.3):
        names = {"LSTM": [["Sigmoid", "Tanh", "Tanh"]], "GRU": [["Sigmoid", "Tanh"]],
                 "RNN": [["Tanh"], ["Relu"]]}[kind]
        return with_activations(g, kind, operands, given, g.pick(names) * ways, time, batch,
                                ways, hidden, batched)
    return with_activations(g, kind, operands, given, None, time, batch, ways, hidden, batched)


def peepholes(g, shape):
    return g.parameter(shape) if g.chance(0.7) else g.given(shape, g.type,
                                                            [0.0] * (shape[0] * shape[1]))


# Functions of gates, and what numbers they have.
FUNCTIONS = {"Relu": "", "Tanh": "", "Sigmoid": "", "Softsign": "", "Softplus": "", "Affine": "ab",
             "LeakyRelu": "a", "ThresholdedRelu": "a", "ScaledTanh": "ab", "HardSigmoid": "ab",
             "Elu": "a"}


def functions(g, kind, ways, given):
    """Any, with numbers for all that have some, or for none."""
    names = [g.pick(sorted(FUNCTIONS)) for _ in range({"LSTM": 3, "GRU": 2, "RNN": 1}[kind] * ways)]
    for letter, attribute in ("a", "activation_alpha"), ("b", "activation_beta"):
        count = sum(letter in FUNCTIONS[name] for name in names)
        if count:
            given[attribute] = [g.pick([0.1, 0.25, 0.5]) for _ in range(count)]
    return names


def with_activations(g, kind, operands, given, names, time, batch, ways, hidden, batched):
    if names:
        given["activations"] = names
    every = (batch, time, ways, hidden) if batched else (time, ways, batch, hidden)
    last = (batch, ways, hidden) if batched else (ways, batch, hidden)
    count = 3 if kind == "LSTM" else 2
    chosen = g.pick(["every", "every", "last", "all"])
    shapes = [every if chosen != "last" else None] + [
        last if chosen != "every" else None] * (count - 1)
    if chosen == "every":
        shapes = shapes[:1]
    made = [value for value in g.node(kind, operands, shapes, **given) if value]
    y = made[0]
    axis = (2 if batched else 1) if chosen != "last" else (1 if batched else 0)
    if ways == 1 and g.chance(0.6):
        made[0] = g.squeeze(y, [axis])
    return made
