"""Records what ONNX Runtime computes of a model, for forward.py.

    pip install onnxruntime
    test/tools/record_forward.py MODEL.onnx RECORD.npz --dim batch=2 --below ids=99

Inputs are drawn by seed: floats from a normal distribution, integers from 0 to below
what --below says. A record holds inputs as in/NAME, outputs as out/NAME.
"""

import argparse

import numpy as np
import onnxruntime


def numbers(texts):
    """NAME=N."""
    return {name: int(n) for name, n in (text.split("=") for text in texts)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("record")
    parser.add_argument("--dim", action="append", default=[], metavar="NAME=N")
    parser.add_argument("--below", action="append", default=[], metavar="INPUT=N")
    arguments = parser.parse_args()
    dims, below = numbers(arguments.dim), numbers(arguments.below)
    session = onnxruntime.InferenceSession(arguments.model, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(1)
    inputs = {}
    for value in session.get_inputs():
        shape = [dims.get(extent, extent) for extent in value.shape]
        if value.type == "tensor(int64)":
            inputs[value.name] = random.integers(0, below[value.name], shape)
        else:
            inputs[value.name] = random.standard_normal(shape).astype(np.float32)
    names = [value.name for value in session.get_outputs()]
    outputs = dict(zip(names, session.run(names, inputs)))
    np.savez_compressed(arguments.record,
                        **{f"in/{name}": value for name, value in inputs.items()},
                        **{f"out/{name}": value for name, value in outputs.items()})


if __name__ == "__main__":
    main()
