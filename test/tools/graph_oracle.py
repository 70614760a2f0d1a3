"""What others compute of a graph: ONNX Runtime and the evaluator of the Python package onnx.

Both are asked where they are installed; a graph that ONNX Runtime does not take, or not in these
types, is computed by the other one. What ffc computes with floats of 32 bits where a graph has
those of 16, they do too (Graph.widened).

Where the answer hangs on last bits, as Floor of a sum that would be a whole number, nobody's is
the right one: an oracle's own answers differ as much for inputs that differ in last bits.
"""

import numpy as np

from graph_expected import NOISES
from onnx_graph import NARROW, NUMPY

try:
    import onnx
    from onnx.reference import ReferenceEvaluator
    import onnxruntime
    onnxruntime.set_default_logger_severity(4)
except ImportError:
    onnx = onnxruntime = None

# What depends on random numbers is nobody else's.
RANDOM = {"RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike", "Bernoulli",
          "Multinomial", "Dropout"}

# Of an element, as much as the judge lets pass; and how often inputs are changed.
LAST_BITS, SHAKEN = NOISES * 2.0**-23, 16


def always(_node, _graph):
    return True


def has_pads(node, _graph):
    return "auto_pad" in node.attributes or any(node.attributes.get("pads", []))


def is_dilated(node, _graph=None):
    return any(d > 1 for d in node.attributes.get("dilations", []))


def is_dilated_and_padded(node, _graph):
    return is_dilated(node) and "auto_pad" in node.attributes


def has_gates_of_its_own(node, _graph):
    return (any(name in node.attributes for name in ("activations", "clip", "input_forget"))
            or any(node.operands[4:5]))


def pads_below_zero(node):
    return "auto_pad" in node.attributes and any(
        stride > extent for stride, extent in zip(node.attributes.get("strides", []),
                                                  node.attributes["kernel_shape"]))


def has_biases_of_groups(node, _graph):
    return node.attributes.get("group", 1) > 1 and any(node.operands[2:])


def crops_to_same_extents(node, graph):
    given = graph.values().get(node.operands[0])
    same = not given or any(a == b for a, b in zip(given.shape[2:], node.results[0].shape[2:]))
    return node.attributes.get("coordinate_transformation_mode") == "tf_crop_and_resize" and same


# What an oracle computes otherwise than ONNX says: of which nodes, and how.
WRONG = {
    "ONNX Runtime": {
        **dict.fromkeys(["AveragePool", "LpPool"],
                        (lambda node, graph: is_dilated_and_padded(node, graph)
                         or pads_below_zero(node),
                         "pads as if windows were not dilated, and below zero where they are "
                         "smaller than strides")),
        "AffineGrid": (lambda node, _: node.attributes.get("align_corners"),
                       "ends at 1 where there is one element; PyTorch takes the middle"),
        "Col2Im": (is_dilated, "loses columns of dilated blocks in one dimension"),
        **dict.fromkeys(["DFT", "STFT"],
                        (always, "loses digits where extents are no powers of two")),
        "MaxPool": (lambda node, _: "auto_pad" in node.attributes,
                    "has pads below zero where windows of integers are smaller than strides"),
        "MaxUnpool": (lambda node, _: len(node.operands) > 2,
                      "takes positions as those of the extents that are asked for"),
        "MeanVarianceNormalization": (always, "has no number where all elements are equal"),
        "Resize": (crops_to_same_extents, "crops no dimension whose extent stays"),
    },
    "onnx": {
        "AveragePool": (is_dilated_and_padded, "pads as if windows were not dilated"),
        "LpPool": (lambda node, graph: is_dilated_and_padded(node, graph)
                   or node.attributes.get("ceil_mode"),
                   "pads as if windows were not dilated, and scales those beyond the end"),
        "AffineGrid": (lambda node, _: node.attributes.get("align_corners"),
                       "begins at -1 where there is one element"),
        "BatchNormalization": (lambda _, graph: graph.opset < 14,
                               "takes the statistics of the samples"),
        "ConvTranspose": (has_biases_of_groups, "adds the first bias to every group"),
        "GridSample": (lambda node, _: "cubic" in node.attributes.get("mode", "")
                       and node.attributes.get("padding_mode") == "border",
                       "moves places to the border before it weighs what is around them"),
        "GlobalMaxPool": (always, "pools the channels of one dimension, too"),
        "LRN": (always, "takes the number of samples for that of channels"),
        "LpNormalization": (always, "sums for p = 1 without absolute values"),
        "Loop": (always, "takes no turn without a condition"),
        "MaxPool": (lambda node, graph: has_pads(node, graph) or len(node.results) > 1,
                    "forgets the pads of some integers, and channels in positions"),
        "MeanVarianceNormalization": (always, "subtracts squares of nearly the same size"),
        "Resize": (always, "takes extents of results that are no whole numbers"),
        **dict.fromkeys(["LSTM", "GRU", "RNN"],
                        (has_gates_of_its_own, "knows the usual gates and whole sequences only")),
        **dict.fromkeys(["Softmax", "LogSoftmax", "Hardmax"],
                        (lambda _, graph: graph.opset < 13, "along one dimension only")),
    },
}


def nodes_of(graph):
    """With the graphs that hold them."""
    for node in graph.nodes:
        yield node, graph
        for inner in node.inner():
            yield from nodes_of(inner)


def is_wrong(oracle, graph):
    for node, holder in nodes_of(graph):
        wrong, _ = WRONG[oracle].get(node.operator, (None, ""))
        if wrong and wrong(node, holder):
            return True
    return False


def arrays(graph, report):
    """The inputs that ffc-evaluate has drawn."""
    types = {value.name: "float" if value.type in NARROW else value.type
             for value in graph.inputs}
    return {name: np.array(value["data"], dtype=np.float64).reshape(value["shape"])
            .astype(NUMPY[types[name]])
            for name, value in report["inputs"].items()}


def by_runtime(model, feeds):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    names = [value.name for value in session.get_outputs()]
    taken = {value.name for value in session.get_inputs()}
    found = session.run(names, {name: value for name, value in feeds.items() if name in taken})
    return dict(zip(names, found))


def by_reference(model, feeds):
    evaluator = ReferenceEvaluator(onnx.load_from_string(model))
    with np.errstate(all="ignore"):
        return dict(zip(evaluator.output_names, evaluator.run(None, feeds)))


class Oracle:
    """What one of them computes of a graph and the inputs that ffc-evaluate has drawn."""

    def __init__(self, name, compute, graph, report):
        self.name, self.graph, self.compute = name, graph.widened(), compute
        self.feeds = arrays(graph, report)

    def outputs(self):
        """By their names; None where it does not take the graph."""
        return self.outputs_of(self.graph, self.feeds)

    def outputs_of(self, graph, feeds):
        try:
            return self.compute(graph.model(), feeds)
        except Exception:  # whatever they raise: not taken
            return None

    def shaken_outputs(self):
        """Again and again, with the last five bits of floats of inputs and of the graph changed."""
        dice = np.random.default_rng(1)

        def shake(numbers):
            numbers = np.asarray(numbers)
            return numbers * (1 + LAST_BITS * dice.integers(-1, 2, numbers.shape))

        for _ in range(SHAKEN):
            feeds = {name: shake(array).astype(array.dtype) if array.dtype.kind == "f" else array
                     for name, array in self.feeds.items()}
            outputs = self.outputs_of(self.graph.shaken(shake), feeds)
            if outputs:
                yield outputs


def oracles(graph, report):
    """Those that are installed, take random numbers as they are, and know what ONNX says."""
    if not onnx or any(node.operator in RANDOM for node, _ in nodes_of(graph)):
        return []
    return [Oracle(name, compute, graph, report)
            for name, compute in (("ONNX Runtime", by_runtime), ("onnx", by_reference))
            if not is_wrong(name, graph)]
