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


# What an oracle computes otherwise than ONNX says, in opsets before one, and how.
WRONG = {
    "ONNX Runtime": {},
    "onnx": {
        "LpNormalization": (1000, "sums for p = 1 without absolute values"),
        "Loop": (1000, "takes no turn without a condition"),
        "MaxPool": (1000, "forgets the pads of some integers"),
        "MeanVarianceNormalization": (1000, "subtracts squares of nearly the same size"),
        **dict.fromkeys(["Softmax", "LogSoftmax", "Hardmax"], (13, "along one dimension only")),
    },
}


def has(graph, operators):
    return any(node.operator in operators or any(has(inner, operators) for inner in node.inner())
               for node in graph.nodes)


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
    if not onnx or has(graph, RANDOM):
        return
    model, feeds = graph.widened().model(), arrays(graph, report)
    for name, compute in (("ONNX Runtime", by_runtime), ("onnx", by_reference)):
        if has(graph, [operator for operator, (before, _) in WRONG[name].items()
                       if graph.opset < before]):
            continue
        try:
            outputs = compute(model, feeds)
        except Exception:  # whatever they raise: not taken
            continue
        yield name, outputs
