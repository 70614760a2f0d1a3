"""Recurrent networks."""

from .text import TextGraph


def lstm(g, name, x, width, units, state=()):
    """One layer over a sequence [steps, N, width]; returns [steps, N, units] and the
    names of its last states, and takes such names."""
    operands = [x, g.parameter(f"{name}_w", 1, 4 * units, width),
                g.parameter(f"{name}_r", 1, 4 * units, units),
                g.parameter(f"{name}_b", 1, 8 * units)]
    if state:
        operands += ["", *state]
    last = (f"{name}_h", f"{name}_c")
    g.node([f"{name}_y", *last], "LSTM", operands, hidden_size=units)
    return g.node(f"{name}_steps", "Squeeze", [f"{name}_y", "directions"]), last


def nmt(blocks=10, steps=10, width=1024, layers=2, vocabulary=32000, embed=1):
    """`embed` is 0 for a model that is given what an embedding would look up."""
    length = blocks * steps
    g = TextGraph("nmt", [
        f"Neural machine translation: {layers} LSTM layers each for encoder and decoder, hidden and",
        f"embedding {width}, attention, vocabulary {vocabulary}.",
        "",
        "FlexFlow's: two layers each, attention, 10 time steps per graph node, 64 samples a",
        "worker, embedding and linear layer per node. Of its standalone simulator: width 1024 and",
        "vocabulary 32000 (its program of 2018 has 2048 and 20000), but five nodes each for source",
        f"and target. Ours: {blocks} nodes each ({length} steps), dot-product attention over the top",
        "layer of the encoder with a layer that mixes in what it finds (Luong et al., 2015), where",
        "the simulator has LSTM layers; no biases in the head; one softmax over all nodes, which is",
        "part of the loss.",
        "",
        f"With --time-block {steps}{' (the default)' if steps == 10 else ''} every layer is a row of "
        f"{blocks} operators, and each part of",
        "the head follows from one of the last row's."])
    g.constant("directions", "int64", (1,))

    def embedded(side):
        if not embed:
            rows = g.input(f"{side}_rows", ("N", length, width))
            return g.node(f"{side}_first", "Transpose", [rows], perm=(1, 0, 2))
        ids = g.input(f"{side}_ids", ("N", length), "int64")
        table = g.parameter(f"{side}_table", vocabulary, width)
        steps_first = g.node(f"{side}_first", "Transpose", [ids], perm=(1, 0))
        return g.node(f"{side}_rows", "Gather", [table, steps_first])

    g.comment(f"encoder: {length} steps")
    x, last = embedded("source"), []
    for i in range(1, layers + 1):
        x, state = lstm(g, f"encoder{i}", x, width, width)
        last.append(state)
    keys = g.node("keys", "Transpose", [x], perm=(1, 2, 0))
    values = g.node("values", "Transpose", [x], perm=(1, 0, 2))

    g.comment(f"decoder: {length} steps")
    x = embedded("target")
    for i in range(1, layers + 1):
        x, _ = lstm(g, f"decoder{i}", x, width, width, last[i - 1])
    parts = [f"decoded{b}" for b in range(blocks)]
    g.constant("block_sizes", "int64", (steps,) * blocks)
    g.node(parts, "Split", [x, "block_sizes"], axis=0)

    mix = g.parameter("mix_weight", 2 * width, width)
    head = g.parameter("head_weight", width, vocabulary)
    logits = []
    for b, part in enumerate(parts):
        g.comment(f"steps {b * steps} to {(b + 1) * steps - 1}: attention and linear layer")
        query = g.node(f"query{b}", "Transpose", [part], perm=(1, 0, 2))
        scores = g.node(f"scores{b}", "MatMul", [query, keys])
        weights = g.node(f"weights{b}", "Softmax", [scores], axis=-1)
        context = g.node(f"context{b}", "MatMul", [weights, values])
        both = g.node(f"both{b}", "Concat", [query, context], axis=2)
        seen = g.node(f"seen{b}", "Tanh", [g.node(f"mix{b}", "MatMul", [both, mix])])
        logits.append(g.node(f"logits{b}", "MatMul", [seen, head]))
    g.comment("all steps")
    words = g.node("words", "Softmax", [g.node("logits", "Concat", logits, axis=1)], axis=-1)
    g.answer(words, ("N", length, vocabulary))
    return g


def flexflow_nmt(blocks=5, steps=8, width=1024, vocabulary=32000):
    """The graph that FlexFlow's standalone simulator builds: every block of steps has operators
    of its own, which share parameters with those of its row."""
    g = TextGraph("flexflow_nmt", [
        "Neural machine translation as FlexFlow's standalone simulator (scripts/simulator.cc of",
        f"2018) has it: {blocks} blocks each of source and target, {steps} steps a block, with an",
        "embedding and an LSTM of two layers each, which the target goes on with from where the",
        "source ends; of the target another LSTM in place of attention, and a linear layer."])
    g.constant("directions", "int64", (1,))
    sides = [("source", b) for b in range(blocks)] + [("target", b) for b in range(blocks)]

    g.comment("embeddings")
    rows = []
    for side, b in sides:
        ids = g.input(f"{side}_ids{b}", ("N", steps), "int64")
        table = f"{side}_table"
        if b == 0:
            g.parameter(table, vocabulary, width)
        looked_up = g.node(f"{side}_rows{b}", "Gather", [table, ids])
        rows.append(g.node(f"{side}_first{b}", "Transpose", [looked_up], perm=(1, 0, 2)))

    def layer(name, inputs):
        """A row of LSTMs; the parameters of each are those of its side."""
        g.comment(name)
        results, state = [], []
        for (side, b), x in zip(sides[-len(inputs):], inputs):
            called = f"{side}_{name}"
            parameters = [f"{called}_w", f"{called}_r", f"{called}_b"]
            if b == 0:
                for parameter, shape in zip(parameters, [(1, 4 * width, width)] * 2 +
                                            [(1, 8 * width)]):
                    g.parameter(parameter, *shape)
            last = [f"{called}_h{b}", f"{called}_c{b}"]
            operands = [x, *parameters] + (["", *state] if state else [])
            g.node([f"{called}_y{b}", *last], "LSTM", operands, hidden_size=width)
            results.append(g.node(f"{called}_steps{b}", "Squeeze", [f"{called}_y{b}",
                                                                    "directions"]))
            state = last
        return results

    x = layer("lstm1", rows)
    x = layer("lstm2", x)
    x = layer("attention", x[blocks:])
    g.comment("linear")
    head = g.parameter("head_weight", width, vocabulary)
    logits = [g.node(f"logits{b}", "MatMul",
                     [g.node(f"states{b}", "Transpose", [part], perm=(1, 0, 2)), head])
              for b, part in enumerate(x)]
    g.comment("all steps")
    words = g.node("words", "Softmax", [g.node("logits", "Concat", logits, axis=1)], axis=-1)
    g.answer(words, ("N", blocks * steps, vocabulary))
    return g


def lstm_lm(layers=2, width=256, sequence=64, vocabulary=256):
    """Predicts the next token of a text; with bytes as tokens, the vocabulary is 256."""
    g = TextGraph("lstm_lm", [
        f"A language model of {layers} LSTM layers of {width} units over {sequence} tokens of a",
        f"vocabulary of {vocabulary}; every sample starts from an empty state."])
    g.constant("directions", "int64", (1,))
    ids = g.input("ids", ("N", sequence), "int64")
    table = g.parameter("table", vocabulary, width)
    x = g.node("rows", "Gather", [table, g.node("first", "Transpose", [ids], perm=(1, 0))])
    for i in range(1, layers + 1):
        x, _ = lstm(g, f"lstm{i}", x, width, width)
    states = g.node("states", "Transpose", [x], perm=(1, 0, 2))
    logits = g.node("logits", "MatMul", [states, g.parameter("head_weight", width, vocabulary)])
    g.answer(logits, ("N", sequence, vocabulary))
    return g


MODELS = {"nmt": nmt, "flexflow_nmt": flexflow_nmt, "lstm_lm": lstm_lm}
FILES = ["nmt"]
