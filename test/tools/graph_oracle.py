"""What others compute of a graph: ONNX Runtime and the evaluator of the Python package onnx.

Both are asked where they are installed; a graph that ONNX Runtime does not take, or not in these
types, is computed by the other one. What ffc computes with floats of 32 bits where a graph has
those of 16, they do too (Graph.widened).
"""

import numpy as np

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


def always(_node, _opset):
    return True


def has_pads(node, _opset):
    return "auto_pad" in node.attributes or any(node.attributes.get("pads", []))


def is_dilated(node, _opset=None):
    return any(d > 1 for d in node.attributes.get("dilations", []))


def is_dilated_and_padded(node, _opset):
    return is_dilated(node) and "auto_pad" in node.attributes


def has_gates_of_its_own(node, _opset):
    return (any(name in node.attributes for name in ("activations", "clip", "input_forget"))
            or any(node.operands[4:5]))


# What an oracle computes otherwise than ONNX says: of which nodes, and how.
WRONG = {
    "ONNX Runtime": {
        **dict.fromkeys(["AveragePool", "LpPool"],
                        (is_dilated_and_padded, "pads as if windows were not dilated")),
        "AffineGrid": (lambda node, _: node.attributes.get("align_corners"),
                       "ends at 1 where there is one element; PyTorch takes the middle"),
        "Col2Im": (is_dilated, "loses columns of dilated blocks in one dimension"),
        "MaxPool": (lambda node, _: "auto_pad" in node.attributes,
                    "has pads below zero where windows of integers are smaller than strides"),
        "MaxUnpool": (lambda node, _: len(node.operands) > 2,
                      "takes positions as those of the extents that are asked for"),
        "MeanVarianceNormalization": (always, "has no number where all elements are equal"),
    },
    "onnx": {
        **dict.fromkeys(["AveragePool", "LpPool"],
                        (is_dilated_and_padded, "pads as if windows were not dilated")),
        "AffineGrid": (lambda node, _: node.attributes.get("align_corners"),
                       "begins at -1 where there is one element"),
        "GlobalMaxPool": (always, "pools the channels of one dimension, too"),
        "LpNormalization": (always, "sums for p = 1 without absolute values"),
        "Loop": (always, "takes no turn without a condition"),
        "MaxPool": (has_pads, "forgets the pads of some integers"),
        "MeanVarianceNormalization": (always, "subtracts squares of nearly the same size"),
        "Resize": (always, "takes extents of results that are no whole numbers"),
        **dict.fromkeys(["LSTM", "GRU", "RNN"],
                        (has_gates_of_its_own, "knows the usual gates and whole sequences only")),
        **dict.fromkeys(["Softmax", "LogSoftmax", "Hardmax"],
                        (lambda _, opset: opset < 13, "along one dimension only")),
    },
}


def nodes_of(graph):
    for node in graph.nodes:
        yield node
        for inner in node.inner():
            yield from nodes_of(inner)


def is_wrong(oracle, graph):
    for node in nodes_of(graph):
        wrong, _ = WRONG[oracle].get(node.operator, (None, ""))
        if wrong and wrong(node, graph.opset):
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


def oracles(graph, report):
    """(name, outputs) of those that take the graph; nothing where they are not installed."""
    if not onnx or any(node.operator in RANDOM for node in nodes_of(graph)):
        return
    model, feeds = graph.widened().model(), arrays(graph, report)
    for name, compute in (("ONNX Runtime", by_runtime), ("onnx", by_reference)):
        if is_wrong(name, graph):
            continue
        try:
            outputs = compute(model, feeds)
        except Exception:  # whatever they raise: not taken
            continue
        yield name, outputs
