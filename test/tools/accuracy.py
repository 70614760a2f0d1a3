"""Trains LeNet on part of MNIST's test set and checks what it has learned.

The first 8,000 images are trained on, the other 2,000 are evaluated, by a second
program with the parameters that the first one has dumped.
"""

import argparse
import gzip
import os
import shutil
import struct
import sys

import numpy as np

from programs import Failure, compile_program, fresh_folder, run_program

TRAINED, BATCH, EPOCHS = 8000, 64, 2
# What two epochs must reach; 97 % is usual.
ACCURACY = 0.94


def split(source, folder):
    """Writes train-data and test-data as IDX files; returns the labels of the
    latter."""
    for kind, shape in (("images-idx3", [28, 28]), ("labels-idx1", [])):
        with gzip.open(os.path.join(source, f"t10k-{kind}-ubyte.gz")) as file:
            data = file.read()
        head = 8 + 4 * len(shape)
        samples = np.frombuffer(data[head:], np.uint8).reshape([-1, *shape])
        for part, rows in (("train-data", samples[:TRAINED]),
                           ("test-data", samples[TRAINED:])):
            os.makedirs(os.path.join(folder, part), exist_ok=True)
            with open(os.path.join(folder, part, f"{kind}-ubyte"), "wb") as file:
                file.write(data[:4] + struct.pack(">I", len(rows)) + data[8:head])
                file.write(rows.tobytes())
    return samples[TRAINED:]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--topology", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--exports", required=True, help="folder with lenet.*.onnx")
    parser.add_argument("--mnist", required=True, help="folder with MNIST's test set")
    arguments = parser.parse_args()
    work = fresh_folder(arguments.work)
    path = lambda *parts: os.path.join(work, *parts)
    try:
        labels = split(arguments.mnist, work)
        common = ["--strategy", "data-parallel", "--batch-size", str(BATCH)]
        for mode, flags in (("train", ["--momentum", "0.9"]),
                            ("infer", ["--mode", "infer"])):
            model = os.path.join(arguments.exports, f"lenet.{mode}.onnx")
            compile_program(arguments.ffc, model, arguments.topology, path(mode),
                            common + flags)
        run_program(path("train"), arguments.ranks,
                    ["--lr", "0.05", "--epochs", str(EPOCHS), "--dataset",
                     path("train-data"), "--dump", path("trained")])
        run_program(path("infer"), arguments.ranks,
                    ["--dataset", path("test-data"), "--weights", path("trained"),
                     "--dump", path("evaluated")])
        losses = np.load(path("trained", "loss.npy"))
        if len(losses) != TRAINED // BATCH * EPOCHS:
            raise Failure(f"expected {TRAINED // BATCH * EPOCHS} steps, found "
                          f"{len(losses)}")
        scores = np.load(path("evaluated", "out", "y.npy"))
        if scores.shape != (len(labels), 10):
            raise Failure(f"expected scores of {len(labels)} samples, found shape "
                          f"{scores.shape}")
        accuracy = float((scores.argmax(axis=1) == labels).mean())
        if accuracy < ACCURACY:
            raise Failure(f"expected an accuracy of {ACCURACY:.1%}, found "
                          f"{accuracy:.1%}")
        print(f"{arguments.ranks} ranks: {accuracy:.1%} of {len(labels)} images")
        shutil.rmtree(work)
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
