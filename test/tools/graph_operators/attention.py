"""Attention, and what turns its queries and keys."""

import math

from onnx_graph import size

from .registry import draws


def heads_of(g, width, most=4):
    return g.pick([n for n in range(1, most + 1) if width % n == 0])


@draws(ranks=(3, 4), weight=4)
def attention(g, x):
    if not g.since(23):
        return None
    flat = len(x.shape) == 3
    given = {}
    if flat:
        batch, rows, width = x.shape
        heads = heads_of(g, width)
        kept = g.pick([n for n in (1, heads) if heads % n == 0])
        each = width // heads
        given.update(q_num_heads=heads, kv_num_heads=kept)
    else:
        batch, heads, rows, each = x.shape
        kept = g.pick([n for n in (1, heads) if heads % n == 0])
    columns, values = g.pick([rows, rows, 1, 3]), g.pick([each, each, 2])

    def keys_of(width, columns):
        return g.parameter((batch, columns, kept * width) if flat else
                           (batch, kept, columns, width))

    own = kept == heads and columns == rows
    k = x if own and g.chance(0.4) else keys_of(each, columns)
    v = x if own and values == each and g.chance(0.4) else keys_of(values, columns)
    operands = [x, k, v, None, None, None]
    past = g.pick([0, 0, 2])
    if past:
        operands[4] = g.parameter((batch, kept, past, each))
        operands[5] = g.parameter((batch, kept, past, values))
    every = columns + past
    causal = g.chance(0.3)
    if g.chance(0.4):
        shape = g.pick([(rows, every), (1, 1, rows, every), (batch, heads, rows, every),
                        (batch, 1, rows, every)])
        if g.chance(0.4):
            bits = [1 if i % every == 0 else g.random.randrange(2) for i in range(size(shape))]
            operands[3] = g.given(shape, "bool", bits)
        else:
            operands[3] = g.constants(shape)
    elif g.since(24) and not past and g.chance(0.5) and not causal:
        operands.append(g.ints(*(g.random.randrange(1, every + 1) for _ in range(batch))))
    counted = len(operands) > 6
    while operands[-1] is None:
        operands.pop()
    if causal or g.chance(0.2):
        given["is_causal"] = int(causal)
    if g.chance(0.3):
        given["scale"] = 0.4
    if g.chance(0.3):
        given["softcap"] = g.pick([0.0, 2.0])
    if g.chance(0.2) and x.type != "double":
        given["softmax_precision"] = 1
    if g.since(25) and g.chance(0.2):
        given["left_window_size"] = g.pick([1, 2])
        if g.chance(0.6):
            given["right_window_size"] = g.pick([0, 1, 2])
    shapes = [x.shape[:2] + (heads * values,) if flat else x.shape[:3] + (values,)]
    chosen = g.pick(["y", "y", "present", "scores"])
    if chosen != "y" and not counted:
        shapes += [(batch, kept, every, each), (batch, kept, every, values)]
        if not past and not flat:
            shapes[1:] = [None, None] if chosen == "scores" else []
    if chosen == "scores" and not counted:
        # Between them they are infinite where something is masked.
        masked = causal or operands[3:4] or "left_window_size" in given
        given["qk_matmul_output_mode"] = g.pick([0, 3] if masked else [0, 1, 2, 3])
        shapes.append((batch, heads, rows, every))
    return [value for value in g.node("Attention", operands, shapes, **given) if value]


def rotary_heads(g, x):
    """(rows, width of a head, attributes), or None where no heads have an even width."""
    if len(x.shape) == 4:
        return None if x.shape[3] % 2 else (x.shape[2], x.shape[3], {})
    _, length, width = x.shape
    heads = [n for n in range(1, width + 1) if width % n == 0 and width // n % 2 == 0]
    if not heads:
        return None
    taken = g.pick(heads)
    return length, width // taken, {"num_heads": taken}


def rotary_tables(g, x, shape):
    """Cosines and sines."""
    angles = [g.random.uniform(0, 3) for _ in range(size(shape))]
    return [g.given(shape, x.type, [round(function(a), 3) for a in angles])
            for function in (math.cos, math.sin)]


@draws(ranks=(3, 4), types=("float", "float16", "bfloat16"), weight=2)
def rotary(g, x):
    if not g.since(23):
        return None
    heads = rotary_heads(g, x)
    if not heads:
        return None
    length, each, given = heads
    batch = x.shape[0]
    turned = each
    if each > 2 and g.chance(0.3):
        turned = g.random.randrange(2, each + 1, 2)
        given["rotary_embedding_dim"] = turned
    if g.chance(0.5):
        given["interleaved"] = g.pick([0, 1])
    if g.chance(0.5):
        rows = length + 2
        tables, places = (rows, turned // 2), [g.given(
            (batch, length), "int64", [g.random.randrange(rows) for _ in range(batch * length)])]
    else:
        tables, places = (batch, length, turned // 2), []
    return g.node("RotaryEmbedding", [x, *rotary_tables(g, x, tables), *places], x.shape, **given)


@draws(ranks=(3,), types=("float", "float16", "bfloat16"), weight=3)
def linear_attention(g, x):
    if not g.since(27):
        return None
    batch, length, width = x.shape
    heads = heads_of(g, width)
    kept = g.pick([n for n in range(1, heads + 1) if heads % n == 0])
    each, values = width // heads, g.pick([1, 2, 3])
    rule = g.pick(["linear", "gated", "delta", "gated_delta"])
    k, v = g.parameter((batch, length, kept * each)), g.parameter((batch, length, kept * values))
    k = g.node("Tanh", [k], k.shape)
    past = g.parameter((batch, kept, each, values)) if g.chance(0.4) else None
    decay = beta = None
    if rule.startswith("gated"):
        shape = (batch, length, kept * g.pick([1, each]))
        decay = g.node("Neg", [g.node("Softplus", [g.parameter(shape)], shape)], shape)
    if rule.endswith("delta"):
        shape = (batch, length, g.pick([kept, 1]))
        beta = g.node("Sigmoid", [g.parameter(shape)], shape)
    operands = [x, k, v, past, decay, beta]
    while operands[-1] is None:
        operands.pop()
    given = {"q_num_heads": heads, "kv_num_heads": kept}
    if rule != "gated_delta" or g.chance(0.5):
        given["update_rule"] = rule
    if g.chance(0.4):
        given["scale"] = g.pick([0.0, 0.5])
    if g.chance(0.2):
        given["chunk_size"] = 2
    return g.node("LinearAttention", operands,
                  [(batch, length, heads * values), (batch, kept, each, values)], **given)
