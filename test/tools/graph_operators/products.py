"""Products of matrices and convolutions."""

from onnx_graph import FLOATS, size

from .registry import draws

@draws(ranks=(2,), weight=2)
def gemm(g, x):
    m, k = x.shape
    turned, n = g.chance(0.3), g.extent()
    if turned:
        m, k = k, m
    turned_b = g.chance(0.5)
    operands = [x, g.parameter((n, k) if turned_b else (k, n))]
    if g.chance(0.6) or not g.since(11):
        operands.append(g.parameter(g.pick([(n,), (m, n), (1, n), (1, 1), (1,), ()])))
    given = {"transA": int(turned), "transB": int(turned_b)}
    given.update(alpha=g.pick([1.0, 0.5]), beta=g.pick([1.0, 2.0]))
    defaults = {"transA": 0, "transB": 0, "alpha": 1.0, "beta": 1.0}
    return g.node("Gemm", operands, (m, n),
                  **{name: value for name, value in given.items()
                     if value != defaults[name] or g.chance(0.5)})


@draws(weight=2)
def dense(g, x):
    return g.dense(x)


@draws(types=("int32", "int64"), weight=0.5)
def integer_product(g, x):
    if not g.since(11):
        return None
    x = g.node("Mod", [x, g.number(7)], x.shape)
    n = g.pick([1, 2, 3])
    if len(x.shape) == 2 and g.chance(0.3):
        operands = [x, g.constants((n, x.shape[1])), g.constants((n,))]
        made = g.node("Gemm", operands, (x.shape[0], n), transB=1, **g.pick([{}, {"alpha": 2.0}]))
    else:
        made = g.node("MatMul", [x, g.constants((x.shape[-1], n))], x.shape[:-1] + (n,))
    return g.node("Mod", [made, g.number(7)], made.shape)


@draws()
def vector_product(g, x):
    """A product with a vector, at either side."""
    if g.chance(0.5) or len(x.shape) < 2:
        return g.node("MatMul", [x, g.parameter((x.shape[-1],))], x.shape[:-1])
    return g.node("MatMul", [g.parameter((x.shape[-2],)), x], x.shape[:-2] + x.shape[-1:])


@draws(ranks=(2, 3, 4), weight=2)
def scores(g, x):
    """Products of values with values, as those of attention."""
    rank = len(x.shape)
    turned = g.transpose(x, [*range(rank - 2), rank - 1, rank - 2])
    made = g.node("MatMul", [x, turned], x.shape[:-1] + (x.shape[-2],))
    if g.chance(0.5):
        weights = g.node("Softmax", [made], made.shape,
                         axis=-1 if g.since(11) else rank - 1)
        return g.node("MatMul", [weights, x], x.shape)
    return g.node("Mul", [made, g.number(0.2)], made.shape)


@draws(weight=1.5)
def batches(g, x):
    """A product of broadcast batches of matrices."""
    if len(x.shape) < 2:
        return None
    n = g.pick([1, 2, 3])
    batch = g.pick([(), (1,) * (len(x.shape) - 2), x.shape[:-2], (2,) + (1,) * (len(x.shape) - 2)])
    made = batch if len(batch) > len(x.shape) - 2 else x.shape[:-2]
    if len(batch) > len(x.shape) - 2:
        made = (2,) + x.shape[:-2]
    return g.node("MatMul", [x, g.parameter(batch + (x.shape[-1], n))],
                  made + (x.shape[-2], n))


EQUATIONS = [
    # (equation, shape of operand 1 by letter, letters of the result)
    ("ij,jk->ik", "jk", "ik"), ("ij,kj->ki", "kj", "ki"), ("ij,ij->i", "ij", "i"),
    ("ij->ji", "", "ji"), ("ij->", "", ""), ("ij,k->ijk", "k", "ijk"), ("ij,jk", "jk", "ik"),
    ("bij,bjk->bik", "bjk", "bik"), ("bij,kj->bik", "kj", "bik"), ("bij->b", "", "b"),
    ("bij,bj->bi", "bj", "bi"), ("bhij,bhkj->bhik", "bhkj", "bhik"),
    ("bhij,jk->bhik", "jk", "bhik"), ("...ij,jk->...ik", "jk", "...ik"), ("i,i->", "i", ""),
    ("i,j->ij", "j", "ij"), ("...i->...", "", "..."), ("bij,bij->bij", "bij", "bij"),
]


@draws(ranks=(1, 2, 3, 4), types=FLOATS, weight=1.5)
def einsum(g, x):
    equation, other, result = g.pick(EQUATIONS)
    left = equation.split("->")[0].split(",")[0]
    letters = left.replace("...", "")
    leading = len(x.shape) - len(letters)
    if leading < 0 or leading and "..." not in left:
        return None
    extents = dict(zip(letters, x.shape[leading:]))
    for letter in other:
        extents.setdefault(letter, g.pick([1, 2, 3]))
    operands = [x] + ([g.parameter([extents[letter] for letter in other])] if other else [])
    shape = (x.shape[:leading] if "..." in result else ()) + tuple(
        extents[letter] for letter in result.replace("...", ""))
    return g.node("Einsum", operands, shape, equation=equation)


class Windows:
    """Windows over the dimensions behind the channels: attributes and extents."""

    def __init__(self, g, x, most=3, dilated=True, ceil=False, automatic=True):
        n = len(x.shape) - 2
        self.kernel = [g.random.randrange(1, min(most, e + 1) + 1) for e in x.shape[2:]]
        self.strides = [g.pick([1, 1, 2, 3]) for _ in self.kernel]
        self.dilations = [g.pick([1, 1, 1, 2]) if dilated else 1 for _ in self.kernel]
        reach = [d * (k - 1) + 1 for d, k in zip(self.dilations, self.kernel)]
        self.given = {"kernel_shape": self.kernel}
        if max(self.strides, default=1) > 1 or g.chance(0.5):
            self.given["strides"] = self.strides
        if max(self.dilations, default=1) > 1 or dilated and g.chance(0.3):
            self.given["dilations"] = self.dilations
        is_ceil = ceil and g.chance(0.4)
        if is_ceil or ceil and g.chance(0.2):
            self.given["ceil_mode"] = int(is_ceil)
        self.extents = None
        way = g.pick(["SAME_UPPER", "SAME_LOWER", "VALID", "NOTSET"]) if (
            automatic and g.chance(0.25)) else None
        if way:
            self.given["auto_pad"] = way
        if way in ("SAME_UPPER", "SAME_LOWER"):
            self.given.pop("ceil_mode", None)
            self.extents = tuple(-(-e // s) for e, s in zip(x.shape[2:], self.strides))
            return
        pads = [0] * (2 * n)
        if way != "VALID":
            pads = [g.random.randrange(k) for k in self.kernel + self.kernel]
            if max(pads, default=0) > 0 or g.chance(0.3):
                self.given["pads"] = pads
        extents = []
        for d, e in enumerate(x.shape[2:]):
            left = e + pads[d] + pads[d + n] - reach[d]
            if left < 0:
                return
            extent = left // self.strides[d] + 1
            if is_ceil:
                extent = -(-left // self.strides[d]) + 1
                if (extent - 1) * self.strides[d] >= e + pads[d]:
                    if not g.since(22):  # newer versions say that such a window is none
                        return
                    extent -= 1
            extents.append(extent)
        self.extents = tuple(extents)
        self.pads = pads


@draws(ranks=(3, 4, 5), weight=4)
def conv(g, x):
    way = Windows(g, x)
    if not way.extents:
        return None
    c = x.shape[1]
    groups = g.pick([n for n in (1, 1, c, 2) if c % n == 0])
    filters = groups * g.pick([1, 2, 3])
    operands = [x, g.parameter((filters, c // groups, *way.kernel))]
    if g.chance(0.5):
        operands.append(g.parameter((filters,)))
    if groups > 1 or g.chance(0.3):
        way.given["group"] = groups
    if g.chance(0.3):
        del way.given["kernel_shape"]
    made = g.node("Conv", operands, (x.shape[0], filters) + way.extents, **way.given)
    return g.node("Relu", [made], made.shape) if g.chance(0.5) else made


@draws(ranks=(3, 4, 5), weight=2)
def conv_transpose(g, x):
    n, c = len(x.shape) - 2, x.shape[1]
    groups = g.pick([k for k in (1, 1, c, 2) if c % k == 0])
    filters = g.pick([1, 2, 3])
    kernel = [g.pick([1, 2, 3]) for _ in range(n)]
    strides = [g.pick([1, 2, 3]) for _ in range(n)]
    dilations = [g.pick([1, 1, 2]) for _ in range(n)]
    pads = [0] * (2 * n)
    extra = [0] * n
    given = {"strides": strides}
    if max(dilations) > 1:
        given["dilations"] = dilations
    way = g.pick(["pads", "pads", "none", "SAME_UPPER", "SAME_LOWER", "VALID", "output_shape"])
    if g.chance(0.4) and way[:4] != "SAME":
        extra = [g.random.randrange(max(s, d)) for s, d in zip(strides, dilations)]
        given["output_padding"] = extra
    full = [s * (e - 1) + o + d * (k - 1) + 1
            for s, e, o, d, k in zip(strides, x.shape[2:], extra, dilations, kernel)]
    if way == "pads":
        pads = [g.random.randrange(k) for k in kernel + kernel]
        given["pads"] = pads
    shape = [f - pads[d] - pads[d + n] for d, f in enumerate(full)]
    if way in ("SAME_UPPER", "SAME_LOWER"):
        shape = [e * s for e, s in zip(x.shape[2:], strides)]
        if any(f < e for f, e in zip(full, shape)):
            return None
        given["auto_pad"] = way
    elif way == "VALID":
        given["auto_pad"] = way
    elif way == "output_shape":
        shape = [g.random.randrange(max(1, f - 2), f + 1) for f in full]
        given["output_shape"] = shape
    if min(shape) < 1:
        return None
    operands = [x, g.parameter((c, filters, *kernel))]
    if g.chance(0.4):
        operands.append(g.parameter((filters * groups,)))
    if groups > 1 or g.chance(0.3):
        given["group"] = groups
    if g.chance(0.5):
        given["kernel_shape"] = kernel
    return g.node("ConvTranspose", operands, (x.shape[0], filters * groups, *shape), **given)


@draws(ranks=(4,), weight=2)
def deform_conv(g, x):
    way = Windows(g, x, automatic=False)
    if not way.extents:
        return None
    c = x.shape[1]
    groups = g.pick([n for n in (1, c, 2) if c % n == 0])
    offsets = g.pick([n for n in (1, c, 2) if c % n == 0])
    filters = groups * g.pick([1, 2])
    points = size(way.kernel)
    places = (x.shape[0], offsets * 2 * points, *way.extents)
    offset = g.parameter(places)
    if g.chance(0.5):
        offset = g.node("Mul", [g.node("Tanh", [offset], places), g.number(0.7)], places)
    operands = [x, g.parameter((filters, c // groups, *way.kernel)), offset]
    operands.append(g.parameter((filters,)) if g.chance(0.5) else None)
    if g.chance(0.5):
        operands.append(g.parameter((x.shape[0], offsets * points, *way.extents)))
    while operands[-1] is None:
        operands.pop()
    if groups > 1 or g.chance(0.3):
        way.given["group"] = groups
    if offsets > 1 or g.chance(0.3):
        way.given["offset_group"] = offsets
    return g.node("DeformConv", operands, (x.shape[0], filters) + way.extents, **way.given)


@draws(ranks=(3,), weight=1.5)
def causal_conv(g, x):
    batch, channels, length = x.shape
    kernel = g.pick([1, 2, 3])
    operands = [x, g.parameter((channels, 1, kernel)),
                g.parameter((channels,)) if g.chance(0.5) else None]
    if g.chance(0.5) and kernel > 1:
        operands.append(g.parameter((batch, channels, kernel - 1)))
    while operands[-1] is None:
        operands.pop()
    given = g.pick([{}, {"activation": "none"}, {"activation": "silu"}, {"activation": "swish"}])
    made = g.node("CausalConvWithState", operands,
                  [x.shape, (batch, channels, kernel - 1)], **given)
    return made if kernel > 1 else made[0]
