"""Operators that ONNX Runtime makes of several (com.microsoft)."""

import math

from onnx_graph import size

from .attention import heads_of, rotary_heads, rotary_tables
from .products import Windows
from .registry import ANY_RANK, draws

TYPES = ("float",)


def make(g, operator, operands, shape, **given):
    return g.node(operator, operands, shape, g.type, domain="com.microsoft", **given)


@draws(types=TYPES, ranks=ANY_RANK)
def gelus(g, x):
    if g.chance(0.3):
        return make(g, "Gelu", [x], x.shape)
    if g.chance(0.4):
        return make(g, "QuickGelu", [x], x.shape, **g.pick([{}, {"alpha": 1.2}]))
    if not x.shape:
        return None
    bias = g.parameter(x.shape[-1:])
    if g.chance(0.5):
        return make(g, "BiasGelu", [x, bias], x.shape)
    return make(g, "FastGelu", [x, bias] if g.chance(0.6) else [x], x.shape)


@draws(types=TYPES, ranks=(2, 3, 4))
def fused_matmul(g, x):
    n, turned = g.pick([1, 2, 3]), g.chance(0.4)
    shape = x.shape
    given = {}
    if g.chance(0.3):
        given["transA"] = 1
        shape = shape[:-2] + (shape[-1], shape[-2])
    k = shape[-1]
    if turned or g.chance(0.2):
        given["transB"] = int(turned)
    if g.chance(0.5):
        given["alpha"] = 0.5
    batch = x.shape[:-2] if g.chance(0.3) else ()
    w = g.parameter(batch + ((n, k) if turned else (k, n)))
    return make(g, "FusedMatMul", [x, w], shape[:-1] + (n,), **given)


@draws(types=TYPES, ranks=(3,), weight=1.5)
def skip_norm(g, x):
    width = x.shape[-1]
    simple = g.chance(0.5)
    skip = g.value(lambda v: v.shape == x.shape and v != x) or g.parameter(x.shape)
    operands = [x, skip, g.parameter((width,))]
    if not simple:
        operands.append(g.parameter((width,)) if g.chance(0.7) else None)
    operands.append(g.parameter((width,)) if g.chance(0.5) else None)
    while operands[-1] is None:
        operands.pop()
    name = "SkipSimplifiedLayerNormalization" if simple else "SkipLayerNormalization"
    if width < 2 and not simple:
        return None
    wants_sum = g.chance(0.4)
    shapes = [x.shape, None, None, x.shape] if wants_sum else [x.shape]
    return [v for v in make(g, name, operands, shapes, epsilon=0.1) if v]


@draws(types=TYPES, ranks=(4,))
def fused_conv(g, x):
    way = Windows(g, x)
    if not way.extents:
        return None
    c, filters = x.shape[1], g.pick([1, 2, 3])
    shape = (x.shape[0], filters) + way.extents
    operands = [x, g.parameter((filters, c, *way.kernel)), g.parameter((filters,))]
    if g.chance(0.3):
        operands.append(g.parameter(shape))
    activation = g.pick([{}, {"activation": "Relu"}, {"activation": "Tanh"},
                         {"activation": "Sigmoid"},
                         {"activation": "LeakyRelu", "activation_params": [0.2]},
                         {"activation": "Clip", "activation_params": [-0.5, 0.8]},
                         {"activation": "HardSigmoid", "activation_params": [0.2, 0.5]}])
    return make(g, "FusedConv", operands, shape, **way.given, **activation)


@draws(types=TYPES, ranks=(3,), weight=1.5)
def packed_attention(g, x):
    batch, rows, width = x.shape
    heads = g.pick([1, 2])
    each = g.pick([1, 2, 3])
    w = g.parameter((width, 3 * heads * each))
    operands = [x, w, g.parameter((3 * heads * each,))]
    given = {"num_heads": heads}
    if g.chance(0.4):
        given["unidirectional"] = g.pick([0, 1])
    if g.chance(0.3):
        given["scale"] = 0.4
    if g.chance(0.4) and not given.get("unidirectional"):
        if g.chance(0.5):
            operands.append(g.given((batch, rows), "int32",
                                    [1 if i % rows == 0 else g.random.randrange(2)
                                     for i in range(batch * rows)]))
        else:
            operands.append(g.given((batch,), "int32", [g.random.randrange(1, rows + 1)
                                                        for _ in range(batch)]))
    return make(g, "Attention", operands, (batch, rows, heads * each), **given)


@draws(types=TYPES, ranks=(3,), weight=1.5)
def multi_head_attention(g, x):
    batch, rows, width = x.shape
    heads = heads_of(g, width)
    columns = g.pick([rows, 2])
    k, v = g.parameter((batch, columns, width)), g.parameter((batch, columns, width))
    operands = [x, k, v, g.parameter((3 * width,)) if g.chance(0.4) else None, None, None]
    given = {"num_heads": heads}
    if g.chance(0.3):
        given["scale"] = 0.4
    if g.chance(0.3) and columns == rows:
        given["unidirectional"] = g.pick([0, 1])
    if g.chance(0.3) and not given.get("unidirectional"):
        operands[4] = g.given((batch, columns), "int32",
                              [1 if i % columns == 0 else g.random.randrange(2)
                               for i in range(batch * columns)])
    if g.chance(0.3):
        operands[5] = g.constants((batch, heads, rows, columns))
    while operands[-1] is None:
        operands.pop()
    return make(g, "MultiHeadAttention", operands, x.shape, **given)


@draws(types=TYPES, ranks=(3,), weight=1.5)
def group_query_attention(g, x):
    """All positions at once, without past keys; ONNX Runtime wants heads as wide as 8."""
    batch, rows, width = x.shape
    heads, each = g.pick([1, 2, 4]), 8
    if width != heads * each:
        x = g.node("MatMul", [x, g.parameter((width, heads * each))], (batch, rows, heads * each))
    kept = g.pick([n for n in range(1, heads + 1) if heads % n == 0])
    k, v = (g.parameter((batch, rows, kept * each)) for _ in range(2))
    lengths = g.given((batch,), "int32", [rows - 1] * batch)
    total = g.given((), "int32", [rows])
    given = {"num_heads": heads, "kv_num_heads": kept}
    if g.chance(0.3):
        given["scale"] = 0.4
    if g.chance(0.3):
        given["softcap"] = 2.0
    if g.chance(0.3):
        given["local_window_size"] = 2
    shapes = [x.shape] + [(batch, kept, rows, each)] * 2
    return make(g, "GroupQueryAttention", [x, k, v, None, None, lengths, total], shapes, **given)


@draws(types=TYPES, ranks=(3, 4))
def rotary_embedding(g, x):
    heads = rotary_heads(g, x)
    if not heads:
        return None
    length, each, given = heads
    batch = x.shape[0]
    given["interleaved"] = g.pick([0, 1])
    rows = length + 3
    tables = rotary_tables(g, x, (rows, each // 2))
    places = g.ints(g.random.randrange(3)) if g.chance(0.5) else g.given(
        (batch, length), "int64", [g.random.randrange(rows) for _ in range(batch * length)])
    return make(g, "RotaryEmbedding", [x, places, *tables], x.shape, **given)


@draws(types=TYPES, weight=0.7)
def embeddings(g, x):
    """Three tables, by constants of integers."""
    batch, length, width, words = g.pick([2, 3]), g.pick([1, 3]), g.pick([2, 4]), 5
    shape = (batch, length)
    def ids(rows):
        return g.given(shape, "int32", [g.random.randrange(rows) for _ in range(size(shape))])
    operands = [ids(words), ids(2), g.parameter((words, width)), g.parameter((length + 1, width)),
                g.parameter((2, width)), g.parameter((width,)), g.parameter((width,))]
    if g.chance(0.3):
        operands[1] = operands[4] = None
    if g.chance(0.4):
        operands.append(g.given(shape, "int32", [1] * size(shape)))
    shapes = [shape + (width,), (batch,)]
    made = g.node("EmbedLayerNormalization", operands, shapes, ["float", "int32"],
                  domain="com.microsoft", epsilon=0.1)
    return made if len(operands) > 7 else made[0]
