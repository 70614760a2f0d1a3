"""Writes the node tests of the Python package onnx, in the form of Debian's libonnx-testdata.

    generate.py FOLDER

The tests are in FOLDER/VERSION, where VERSION, the last line that is printed, says which ones
they are. Ends with 77, "not run", where the package is not there.
"""

import os
import sys
import tempfile
import warnings


def encoded(value, kind, name):
    """A value of a test, of a graph's input or output, as a message."""
    from onnx import TensorProto, numpy_helper

    if isinstance(value, TensorProto):
        return value
    makers = {"sequence_type": numpy_helper.from_list, "optional_type": numpy_helper.from_optional,
              "map_type": numpy_helper.from_dict}
    return makers.get(kind.WhichOneof("value"), numpy_helper.from_array)(value, name)


def write(path, message):
    with open(path, "wb") as file:
        file.write(message.SerializeToString())


def write_case(case, folder):
    os.makedirs(folder)
    write(os.path.join(folder, "model.onnx"), case.model)
    graph = case.model.graph
    for i, data_set in enumerate(case.data_sets):
        data = os.path.join(folder, f"test_data_set_{i}")
        os.mkdir(data)
        for kind, values, infos in zip(("input", "output"), data_set, (graph.input, graph.output)):
            for j, (value, info) in enumerate(zip(values, infos)):
                write(os.path.join(data, f"{kind}_{j}.pb"), encoded(value, info.type, info.name))


def main():
    try:
        import onnx
        import onnx.backend.test.case.node as node
    except ImportError as missing:
        print(f"not run: {missing}")
        sys.exit(77)
    title = f"ONNX {onnx.__version__}, opset {onnx.defs.onnx_opset_version()}"
    folder = os.path.join(sys.argv[1], title)
    if not os.path.exists(folder):
        os.makedirs(sys.argv[1], exist_ok=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of infinities that are meant
            cases = node.collect_testcases(None)
        with tempfile.TemporaryDirectory(dir=sys.argv[1]) as made:
            for case in cases:
                write_case(case, os.path.join(made, "tests", case.name))
            os.rename(os.path.join(made, "tests"), folder)
    print(title)


if __name__ == "__main__":
    main()
