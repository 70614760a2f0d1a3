"""Fourier transforms."""

from .registry import draws


@draws(ranks=(2, 3, 4), types=("float", "double"), weight=2)
def fourier(g, x):
    """Of real signals; of the complex result, maybe, back."""
    rank = len(x.shape)
    d = g.random.randrange(rank)
    n = x.shape[d]
    if rank > 3 or n < 1:
        return None
    signal = g.unsqueeze(x, rank)
    onesided = g.chance(0.4)
    length = g.pick([None, n, n, max(1, n - 1), n + 2])
    taken = length or n
    bins = taken // 2 + 1 if onesided else taken
    shape = x.shape[:d] + (bins,) + x.shape[d + 1:] + (2,)
    given = {} if not onesided and g.chance(0.5) else {"onesided": int(onesided)}
    if g.chance(0.3):
        given["inverse"] = 0
    made = transform(g, signal, length, d, shape, given)
    if not onesided and g.chance(0.5):
        given = {"inverse": 1}
        return transform(g, made, None, d, shape, given)
    return made


def transform(g, x, length, d, shape, given):
    rank = len(x.shape)
    axis = d - rank if g.chance(0.3) else d
    operands = [x] + ([g.number(length, "int64")] if length else [])
    if g.since(20):
        if not (d == rank - 2 and g.chance(0.4)):
            operands += [None] * (2 - len(operands)) + [g.number(axis, "int64")]
    elif d != 1 or g.chance(0.4):
        given = {**given, "axis": axis}
    return g.node("DFT", operands, shape, **given)


@draws(ranks=(2, 3), types=("float", "double"), weight=2)
def short_time_fourier(g, x):
    if len(x.shape) == 3:
        x = g.reshape(x, (x.shape[0], x.shape[1] * x.shape[2]))
    batch, length = x.shape
    if length < 2:
        return None
    frame = g.random.randrange(2, min(length, 8) + 1)
    step = g.pick([1, 2, 3])
    frames = 1 + (length - frame) // step
    signal = g.reshape(x, (batch, length, 1))
    windowed = g.chance(0.6)
    operands = [signal, g.number(step, "int64"), g.constants((frame,)) if windowed else None]
    if not windowed or g.chance(0.5):
        operands.append(g.number(frame, "int64"))
    onesided = g.chance(0.6)
    given = {} if onesided and g.chance(0.5) else {"onesided": int(onesided)}
    bins = frame // 2 + 1 if onesided else frame
    return g.node("STFT", operands, (batch, frames, bins, 2), **given)
