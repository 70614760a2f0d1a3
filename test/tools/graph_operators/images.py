"""Images that are resized, sampled and put together."""

import math

from onnx_graph import FLOATS, size

from .registry import draws


@draws(ranks=(3, 4), weight=1.5)
def upsample(g, x):
    """The forms of resizing before opset 11: Upsample, and Resize of two operands."""
    if g.since(11):
        return None
    mode = g.pick(["nearest", "linear"])
    scales = [1.0, 1.0] + [g.pick([1.0, 2.0, 3.0]) for _ in x.shape[2:]]
    shape = tuple(int(n * s) for n, s in zip(x.shape, scales))
    given = {} if mode == "nearest" and g.chance(0.5) else {"mode": mode}
    if not g.since(9):
        return g.node("Upsample", [x], shape, scales=scales, **given)
    operand = g.given((len(scales),), "float", scales)
    return g.node("Resize" if g.since(10) else "Upsample", [x, operand], shape, **given)


@draws(ranks=(2, 3, 4, 5), weight=4)
def resize(g, x):
    if not g.since(11):
        return None
    rank = len(x.shape)
    axes = list(range(2 if rank > 2 else 0, rank))
    mode = g.pick(["nearest", "nearest", "linear"] + ["cubic"] * (len(axes) == 2))
    given = {} if mode == "nearest" and g.chance(0.5) else {"mode": mode}
    by_sizes = g.chance(0.5)
    ways = ["half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"]
    if g.since(19):
        ways.append("half_pixel_symmetric")
    way = g.pick(ways + ["tf_half_pixel_for_nn"] * (mode == "nearest" and g.opset < 13)
                 + ["tf_crop_and_resize"] * (rank == 4))
    if way != "half_pixel" or g.chance(0.4):
        given["coordinate_transformation_mode"] = way
    if mode == "nearest" and g.chance(0.6):
        given["nearest_mode"] = g.pick(["round_prefer_floor", "round_prefer_ceil", "floor",
                                        "ceil"])
    if mode == "cubic":
        if g.chance(0.5):
            given["cubic_coeff_a"] = g.pick([-0.5, -0.75])
        if g.chance(0.3):
            given["exclude_outside"] = 1
    if mode != "nearest" and g.since(18) and g.chance(0.3) and way != "tf_crop_and_resize":
        given["antialias"] = 1
    partial = g.since(18) and g.chance(0.4)
    # Of scales that are no sums of a few powers of 2, who is nearest depends on rounding.
    nearest = mode == "nearest"
    scales = [g.pick([1.0, 2.0, 0.5, 1.5] + [0.7] * (not nearest)) for _ in axes]
    if nearest and any(x.shape[d] * s % 1 for d, s in zip(axes, scales)):
        by_sizes = False
    kept = [1.0] * (rank - len(axes))
    extents = [max(1, math.floor(x.shape[d] * s)) for d, s in zip(axes, scales)]
    if any(math.floor(x.shape[d] * s) < 1 for d, s in zip(axes, scales)):
        return None
    roi = None
    if way == "tf_crop_and_resize":
        count = len(axes) if partial else rank
        starts = [0.0] * (count - len(axes)) + [0.1] * len(axes)
        ends = [1.0] * (count - len(axes)) + [g.pick([0.8, 1.2])] * len(axes)
        roi = g.given((2 * count,), "float", starts + ends)
        given["extrapolation_value"] = 0.25
        if not by_sizes:
            extents = [math.floor(x.shape[d] * (end - start) * s) for d, s, start, end in
                       zip(axes, scales, starts[-len(axes):], ends[-len(axes):])]
            if min(extents) < 1:
                return None
            by_sizes = True  # what scales mean with a region differs between runtimes
    elif not g.since(13):
        roi = g.given((0,), "float", [])
    if partial:
        given["axes"] = [d - rank if g.chance(0.2) else d for d in axes]
        kept = []
    shape = x.shape[:rank - len(axes)] + tuple(extents)
    if by_sizes:
        if partial and min(given["axes"]) >= 0 and g.chance(0.4) and not given.get(
                "extrapolation_value"):
            given["keep_aspect_ratio_policy"] = g.pick(["stretch", "not_larger", "not_smaller"])
            shape = kept_ratio(x, axes, extents, given["keep_aspect_ratio_policy"])
        sizes = g.ints(*([] if partial else x.shape[:rank - len(axes)]), *extents)
        scale = g.given((0,), "float", []) if not g.since(13) else None
        operands = [x, roi, scale, sizes]
    else:
        operands = [x, roi, g.given((len(kept) + len(scales),), "float", kept + scales)]
    return g.node("Resize", operands, shape, **given)


def kept_ratio(x, axes, extents, policy):
    if policy == "stretch":
        return x.shape[:len(x.shape) - len(axes)] + tuple(extents)
    ratios = [e / x.shape[d] for e, d in zip(extents, axes)]
    ratio = min(ratios) if policy == "not_larger" else max(ratios)
    return x.shape[:len(x.shape) - len(axes)] + tuple(
        max(1, math.floor(ratio * x.shape[d] + 0.5)) for d in axes)


@draws(ranks=(4, 5), weight=2.5)
def grid_sample(g, x):
    spatial = len(x.shape) - 2
    if spatial == 3 and not g.since(20):
        return None
    new = g.since(20)
    modes = [("linear" if new else "bilinear"), "nearest"]
    if spatial == 2:
        modes.append("cubic" if new else "bicubic")
    given = {}
    if g.chance(0.8):
        given["mode"] = g.pick(modes)
    if g.chance(0.6):
        given["padding_mode"] = g.pick(["zeros", "border", "reflection"])
    if g.chance(0.6):
        given["align_corners"] = g.pick([0, 1])
    if g.since(20) and g.chance(0.4):
        out = tuple(g.pick([1, 2, 3, 4]) for _ in range(spatial))
        theta = g.parameter((x.shape[0], spatial, spatial + 1))
        aligned = {} if g.chance(0.4) else {"align_corners": g.pick([0, 1])}
        grid = g.node("AffineGrid", [theta, g.ints(x.shape[0], x.shape[1], *out)],
                      (x.shape[0],) + out + (spatial,), **aligned)
    else:
        out = tuple(g.pick([1, 2, 3]) for _ in range(spatial))
        grid = g.parameter((x.shape[0],) + out + (spatial,))
        if g.chance(0.5):
            grid = g.node("Tanh", [grid], grid.shape)
    return g.node("GridSample", [x, grid], x.shape[:2] + out, **given)


@draws(ranks=(4,), types=("float", "double", "float16"), weight=2)
def roi_align(g, x):
    n, c, h, w = x.shape
    rois = g.pick([1, 2, 3])
    numbers = []
    for _ in range(rois):
        left, top = g.random.uniform(-0.5, w / 2), g.random.uniform(-0.5, h / 2)
        numbers += [left, top, left + g.random.uniform(0.3, w), top + g.random.uniform(0.3, h)]
    boxes = g.given((rois, 4), x.type, [round(number, 2) for number in numbers])
    out = (g.pick([1, 2, 3]), g.pick([1, 2, 3]))
    given = {"output_height": out[0], "output_width": out[1]}
    if g.chance(0.6):
        given["sampling_ratio"] = g.pick([0, 1, 2])
    if g.chance(0.5):
        given["spatial_scale"] = g.pick([1.0, 0.5])
    if g.chance(0.6):
        given["mode"] = g.pick(["avg", "max"])
    if g.since(16) and g.chance(0.5):
        given["coordinate_transformation_mode"] = g.pick(["half_pixel", "output_half_pixel"])
    return g.node("RoiAlign", [x, boxes, g.indices((rois,), n, negative=False)],
                  (rois, c) + out, **given)


@draws(ranks=(2, 3), types=FLOATS, weight=2)
def col2im(g, x):
    """Columns are made of x by a product that has the right extents."""
    spatial = g.pick([1, 2, 2])
    block = [g.pick([1, 2, 3]) for _ in range(spatial)]
    dilations = [g.pick([1, 1, 2]) for _ in range(spatial)]
    strides = [g.pick([1, 1, 2]) for _ in range(spatial)]
    pads = [g.pick([0, 0, 1]) for _ in range(2 * spatial)]
    image = [g.pick([3, 4, 5]) for _ in range(spatial)]
    counts = [(e + pads[d] + pads[d + spatial] - dilations[d] * (block[d] - 1) - 1) // strides[d]
              + 1 for d, e in enumerate(image)]
    if min(counts) < 1:
        return None
    channels, batch = g.pick([1, 2]), x.shape[0]
    flat = g.reshape(x, (batch, size(x.shape[1:])))
    columns = (batch, channels * size(block), size(counts))
    wide = g.node("MatMul", [flat, g.parameter((flat.shape[1], size(columns[1:])))],
                  (batch, size(columns[1:])))
    given = {}
    if max(dilations) > 1 or g.chance(0.3):
        given["dilations"] = dilations
    if max(strides) > 1 or g.chance(0.3):
        given["strides"] = strides
    if max(pads) > 0 or g.chance(0.3):
        given["pads"] = pads
    return g.node("Col2Im", [g.reshape(wide, columns), g.ints(*image), g.ints(*block)],
                  (batch, channels, *image), **given)
