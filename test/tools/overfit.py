"""Trains a small ResNet until it knows the CIFAR-10 records by heart."""

import argparse
import lzma
import os
import shutil
import sys

import numpy as np

from programs import Failure, compile_program, fresh_folder, run_program

SAMPLES, BATCH = 1500, 50
EPOCHS = 150
# Cross-entropy of the last epoch. Guessing gives 2.3.
LOSS = 0.1


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--topology", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--records", required=True, help="train_1500.bin.xz")
    arguments = parser.parse_args()
    work = fresh_folder(arguments.work)
    path = lambda *parts: os.path.join(work, *parts)
    try:
        os.makedirs(path("data"))
        with lzma.open(arguments.records) as packed, \
                open(path("data", "data_batch_1.bin"), "wb") as file:
            shutil.copyfileobj(packed, file)
        compile_program(arguments.ffc, arguments.model, arguments.topology,
                        path("train"), ["--strategy", "data-parallel"])
        run_program(path("train"), arguments.ranks,
                    ["--lr", "0.05", "--epochs", str(EPOCHS), "--dataset",
                     path("data"), "--dump", path("trained")])
        losses = np.load(path("trained", "loss.npy"))
        steps = SAMPLES // BATCH
        if len(losses) != steps * EPOCHS:
            raise Failure(f"expected {steps * EPOCHS} steps, found {len(losses)}")
        first, last = losses[:steps].mean(), losses[-steps:].mean()
        if not last < LOSS:
            raise Failure(f"expected a loss below {LOSS} in epoch {EPOCHS}, found "
                          f"{last:.3f}")
        print(f"{arguments.ranks} ranks: loss {first:.3f} in the first epoch, "
              f"{last:.4f} in the last")
        shutil.rmtree(work)
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
