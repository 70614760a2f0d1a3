"""Trains a model with --validate, by a program of several ranks with a random strategy and by one
of one rank, and compares the metrics of both with what NumPy makes of the outputs of an inference
program (--mode=infer) with the weights that were trained. The last batch of the set is not full.

  validated_runs.py --ffc FFC --model MODEL --loss LOSS --work DIR -- FLAGS OF ffc
"""

import argparse
import json
import os
import shutil
import sys

import numpy as np

from programs import Failure, compile_program, fresh_folder, run_program
from run_equality import write_batches

STEPS, EVERY = 4, 2
BATCHES = 3
MISSING = 2  # samples of the last batch
METRICS = {"cross-entropy": ["loss", "accuracy", "top5", "perplexity", "f1"],
           "mse": ["loss", "mse", "rmse", "mae", "r2"],
           "bce": ["loss", "accuracy", "f1", "auc"]}
TOLERANCE = 2e-5


def f1(right, predicted, there):
    return 2 * right / (predicted + there) if predicted + there else 0.0


def of_classes(logits, target, axis):
    """Of logits with the classes along an axis."""
    logits = np.moveaxis(logits.astype(np.float64), axis, -1).reshape(-1, logits.shape[axis])
    target = target.ravel()
    shifted = logits - logits.max(axis=1, keepdims=True)
    logs = shifted - np.log(np.exp(shifted).sum(axis=1, keepdims=True))
    rows = np.arange(len(target))
    loss = -logs[rows, target].mean()
    order = np.argsort(-logits, axis=1, kind="stable")[:, :5]
    first = order[:, 0]
    return {"loss": loss, "perplexity": np.exp(loss), "accuracy": (first == target).mean(),
            "top5": (order == target[:, None]).any(axis=1).mean(),
            "f1": np.mean([f1(((first == c) & (target == c)).sum(), (first == c).sum(),
                              (target == c).sum()) for c in np.union1d(first, target)])}


def of_numbers(found, target):
    error = found.astype(np.float64).ravel() - target.ravel()
    spread = ((target - target.astype(np.float64).mean()) ** 2).sum()
    mse = (error ** 2).mean()
    return {"loss": mse, "mse": mse, "rmse": np.sqrt(mse), "mae": np.abs(error).mean(),
            "r2": 1 - (error ** 2).sum() / spread}


def of_logits(x, target):
    x, target = x.astype(np.float64).ravel(), target.ravel()
    loss = np.maximum(x, 0) - x * target + np.log1p(np.exp(-np.abs(x)))
    yes, said = target > 0.5, x > 0
    pairs = x[yes][:, None] - x[~yes][None, :]
    auc = ((pairs > 0).sum() + 0.5 * (pairs == 0).sum()) / pairs.size if pairs.size else np.nan
    return {"loss": loss.mean(), "accuracy": (yes == said).mean(),
            "f1": f1((yes & said).sum(), said.sum(), yes.sum()), "auc": auc}


def record_in(checkpoint):
    with open(os.path.join(checkpoint, "checkpoint.json"), encoding="utf-8") as file:
        return json.load(file)


class Runs:
    def __init__(self, arguments):
        self.arguments = arguments
        self.data, self.validation = (os.path.join(arguments.work, name)
                                      for name in ("data", "validation"))

    def compile(self, name, ranks, strategy, *flags):
        a = self.arguments
        program = os.path.join(a.work, name, "train")
        compile_program(a.ffc, a.model, f"cpu:{ranks}", program,
                        ["--strategy", strategy, *flags, *a.compile_arguments])
        return program

    def write_data(self, program):
        write_batches(program, self.data, BATCHES)
        write_batches(program, self.validation, BATCHES)
        for folder in self.data, self.validation:
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                array = np.load(path)
                if folder == self.validation:  # other samples, and fewer
                    array = (array if name == "target.npy" else array[::-1])[:-MISSING]
                if name == "target.npy" and self.arguments.loss == "bce":
                    array = (array > 0.3).astype(np.float32)
                elif array.dtype.kind == "i":
                    array = array % self.arguments.numbers
                np.save(path, array.copy())

    def run(self, program, ranks, steps, *flags):
        return run_program(program, ranks, [
            "--steps", str(steps), "--lr", "0.01", "--seed", "7", "--dataset", self.data,
            "--validate", self.validation, "--validate-every", str(EVERY), "--metrics",
            ",".join(METRICS[self.arguments.loss]), *flags])

    def train(self, program, ranks):
        """The metrics of the last validation, and the checkpoint after it."""
        folder = os.path.dirname(program)
        log, checkpoints = (os.path.join(folder, name) for name in ("log", "checkpoints"))
        self.run(program, ranks, STEPS, "--checkpoint", checkpoints, "--log", log)
        with open(log, encoding="utf-8") as file:
            found = [json.loads(line)["validation"] for line in file if "validation" in line]
        if [each["step"] for each in found] != list(range(EVERY, STEPS + 1, EVERY)):
            raise Failure(f"expected validations every {EVERY} steps, found {found}")
        best = min(found, key=lambda each: each["loss"])
        leads_to = os.readlink(os.path.join(checkpoints, "best"))
        if leads_to != f"step-{best['step']:08d}":
            raise Failure(f"expected a link to step {best['step']}, found {leads_to}")
        return found[-1], os.path.join(checkpoints, f"step-{STEPS:08d}")

    def interrupt(self, program, ranks, whole):
        """A run in two parts knows what was best; one that gets no better ends."""
        parts = os.path.join(os.path.dirname(program), "parts")
        for steps in EVERY, STEPS:
            self.run(program, ranks, steps, "--checkpoint", parts, "--resume")
        records = [record_in(folder)
                   for folder in (whole, os.path.join(parts, f"step-{STEPS:08d}"))]
        if records[0]["best"] != records[1]["best"] or records[0]["values"] != records[1]["values"]:
            raise Failure(f"expected {records[0]['best']}, and the same values, found "
                          f"{records[1]['best']}")
        stays = os.path.join(os.path.dirname(program), "stays")
        flags = ["--lr", "0", "--patience", "2", "--checkpoint", stays, "--resume"]
        self.run(program, ranks, 100, *flags)
        record = record_in(os.path.join(stays, max(
            name for name in os.listdir(stays) if name != "best")))
        if record["step"] != record["best"]["step"] + 2 * EVERY or record["best"]["since"] != 2:
            raise Failure(f"expected an end two validations after {record['best']}, found "
                          f"{record['step']}")
        said = self.run(program, ranks, 100, *flags)
        if "no validation was better" not in said:
            raise Failure(f"expected a run that has ended, found {said}")

    def infer(self, checkpoint):
        program = self.compile("infer", 1, "data-parallel", "--mode=infer", "--bn=infer",
                               "--dropout=off")
        dump = os.path.join(os.path.dirname(program), "dump")
        run_program(program, 1, ["--dataset", self.validation, "--weights", checkpoint, "--dump",
                                 dump])
        folder = os.path.join(dump, "out")
        output = np.load(os.path.join(folder, self.arguments.output + ".npy"))
        target = np.load(os.path.join(self.validation, "target.npy"))
        if self.arguments.loss == "cross-entropy":
            return of_classes(output, target, self.arguments.axis)
        return (of_numbers if self.arguments.loss == "mse" else of_logits)(output, target)

    def check(self):
        for name, ranks, strategy in (("one", 1, "data-parallel"),
                                      ("some", self.arguments.ranks, self.arguments.strategy)):
            program = self.compile(name, ranks, strategy)
            if name == "one":
                self.write_data(program)
            found, checkpoint = self.train(program, ranks)
            expected = self.infer(checkpoint)
            for metric, value in expected.items():
                if not abs(found[metric] - value) <= TOLERANCE * max(1, abs(value)):
                    raise Failure(f"{name}: expected {metric} {value}, found {found[metric]}")
            if name == "some":
                self.interrupt(program, ranks, checkpoint)
            print(name, {metric: float(f"{value:.6g}") for metric, value in expected.items()})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--loss", default="cross-entropy", choices=METRICS)
    parser.add_argument("--axis", type=int, default=1, help="of the classes")
    parser.add_argument("--numbers", type=int, default=10, help="labels and indices are below")
    parser.add_argument("--output", default="y", help="the model's, that the loss is of")
    parser.add_argument("--ranks", type=int, default=3)
    parser.add_argument("--strategy", default="random:4")
    parser.add_argument("--work", required=True)
    parser.add_argument("compile_arguments", nargs="*", help="further flags of ffc")
    arguments = parser.parse_args()
    arguments.compile_arguments.append(f"--loss={arguments.loss}")
    try:
        fresh_folder(arguments.work)
        Runs(arguments).check()
        shutil.rmtree(arguments.work)
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
