"""Trains exported models for some steps, writes them with what they have learned (ffc export), and
compares what three evaluations of that say of the same inputs: the program of the model with the
checkpoint's weights, the program of the written model, which must give the same bits, and ONNX
Runtime, where it is installed (within 1e-5).

  exported_models.py --ffc FFC --work DIR FOLDER...

A folder has model.onnx, in/*.npy and expected.json with the flags that ffc needs.
"""

import argparse
import json
import os
import shutil
import sys

import numpy as np

from programs import (Failure, compile_program, expect_success, file_name, fresh_folder,
                      run_program)

try:
    import onnxruntime
except ImportError:
    onnxruntime = None

TOLERANCE = 1e-5
# Flags of training, which an evaluation does not know.
TRAINING = ("--loss", "--target", "--optimizer")


class Case:
    def __init__(self, ffc, folder, work):
        self.ffc, self.folder, self.work = ffc, folder, work
        self.model = os.path.join(folder, "model.onnx")
        with open(os.path.join(folder, "expected.json"), encoding="utf-8") as file:
            self.flags = json.load(file)["flags"]
        self.inputs = ["--inputs", os.path.join(folder, "in")]

    def path(self, name):
        return os.path.join(self.work, name)

    def evaluate(self, name, model, arguments):
        """The outputs of an evaluation, by the names of their files."""
        flags = [flag for flag in self.flags if not flag.startswith(TRAINING)]
        program = self.path(name)
        # As ONNX Runtime takes the file, whatever else the exporter's notes say of the module.
        with open(self.model, "rb") as file:
            mode = "exported" if b"training_mode" in file.read() else "infer"
        compile_program(self.ffc, model, "cpu:1", program, ["--mode=infer", f"--bn={mode}", *flags])
        dump = self.path(name + ".dump")
        run_program(program, 1, ["--steps", "1", *self.inputs, *arguments, "--dump", dump])
        out = os.path.join(dump, "out")
        return {entry: np.load(os.path.join(out, entry)) for entry in sorted(os.listdir(out))}

    def run(self):
        program, saved, written = map(self.path, ("train", "saved", "trained.onnx"))
        compile_program(self.ffc, self.model, "cpu:1", program, self.flags)
        run_program(program, 1, ["--steps", "3", "--lr", "0.01", *self.inputs, "--checkpoint",
                                 saved])
        expect_success([self.ffc, "export", self.model, "--weights", saved, "-o", written,
                        *[flag for flag in self.flags if not flag.startswith(TRAINING)]], 300)
        own = self.evaluate("own", self.model, ["--weights", saved])
        again = self.evaluate("again", written, [])
        if own.keys() != again.keys():
            raise Failure(f"expected the outputs {sorted(own)}, found {sorted(again)}")
        for name, value in own.items():
            if not np.array_equal(value, again[name], equal_nan=True):
                raise Failure(f"{name}: the written model gives other values, by up to "
                              f"{np.abs(value - again[name]).max():.2e}")
        return self.compare_with_onnx_runtime(written, own)

    def compare_with_onnx_runtime(self, model, own):
        if onnxruntime is None:
            return "the same bits as the checkpoint"
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3

        def load(path):
            return onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])

        try:
            load(self.model)
        except onnxruntime.capi.onnxruntime_pybind11_state.Fail as failure:
            return f"ONNX Runtime does not take the model as it came in ({str(failure)[:100]}...)"
        session = load(model)
        types = {"tensor(float)": np.float32, "tensor(int64)": np.int64,
                 "tensor(int32)": np.int32, "tensor(bool)": np.bool_,
                 "tensor(double)": np.float64, "tensor(float16)": np.float16}
        inputs = {}
        for value in session.get_inputs():
            path = os.path.join(self.folder, "in", file_name(value.name) + ".npy")
            inputs[value.name] = np.load(path).astype(types[value.type])
        worst = 0.0
        for value, found in zip(session.get_outputs(), session.run(None, inputs)):
            expected = own.get(file_name(value.name) + ".npy")
            if expected is None or found.dtype.kind != "f":
                continue
            scale = max(1.0, float(np.abs(expected).max()))
            worst = max(worst, float(np.abs(found.reshape(expected.shape) - expected).max()) / scale)
        if not worst <= TOLERANCE:
            raise Failure(f"ONNX Runtime gives other values, by up to {worst:.2e}")
        return f"ONNX Runtime within {worst:.1e}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("folders", nargs="+")
    arguments = parser.parse_args()
    failed = 0
    for folder in arguments.folders:
        name = os.path.basename(os.path.normpath(folder))
        try:
            result = Case(arguments.ffc, folder, fresh_folder(arguments.work)).run()
        except Failure as failure:
            failed += 1
            result = f"error: {failure}"
        print(f"{name}: {result}", flush=True)
    shutil.rmtree(arguments.work)
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
