"""What ffc may refuse of the graphs that are drawn, and why."""

import re

# (pattern of a refusal as graph_checker.refusal_of writes it, reason)
KNOWN = [
    (r"^unsupported operators: BitCast of a computed operand",
     "bits of values are those of floats that stand for them"),
    (r"^SoftmaxCrossEntropyLoss: cross-entropy over one class", "it is always 0"),
    (r"^AveragePool: expected windows that see an element", "means of nothing"),
    (r"op expected a position inside the image in every window", "maxima of nothing"),
    (r"^Resize: nearest_mode '_' is not supported with tf_half_pixel_for_nn",
     "of half_pixel no rounding is half a position further"),
    (r"^Dropout: its result N \('_'\) is used", "masks of dropout stay inside it"),
    (r"^RoiAlign: expected an attribute '_' from N to N, found N: how many samples",
     "RoiAlign wants to know how many samples a region takes"),
]


def is_known(refusal):
    return any(re.search(pattern, refusal) for pattern, _ in KNOWN)
