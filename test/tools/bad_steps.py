"""Runs with a step whose values are not finite: what --on-nan makes of them, to the bit.

  bad_steps.py --ffc FFC --topologies DIR --work DIR

With --on-nan=skip a run must end as one over data without the bad samples; with rollback, without
those since the checkpoint. Where it stops, the operator is named, in programs with micro-batches
and pipelines, too.
"""

import argparse
import os
import sys

import numpy as np

from programs import Failure, environment, fresh_folder, run

BATCH, BATCHES = 8, 30
BAD = 17  # the batch with a value that is no number, from 0
EVERY = 5  # steps from checkpoint to checkpoint

MODEL = """<ir_version: 8, opset_import: ["" : 13]>
mlp (float[N, 8] x, float[16, 8] fc1_weight, float[16] fc1_bias, float[16, 16] fc2_weight,
     float[16] fc2_bias, float[4, 16] fc3_weight, float[4] fc3_bias) => (float[N, 4] y)
{
  fc1 = Gemm <transB = 1> (x, fc1_weight, fc1_bias)
  act1 = Sigmoid (fc1)
  fc2 = Gemm <transB = 1> (act1, fc2_weight, fc2_bias)
  act2 = Sigmoid (fc2)
  y = Gemm <transB = 1> (act2, fc3_weight, fc3_bias)
}
"""


def write_data(folder, without=()):
    """A data set, of which some batches are left out."""
    random = np.random.default_rng(0)
    x = random.normal(size=(BATCHES, BATCH, 8)).astype("f4")
    target = random.integers(0, 4, (BATCHES, BATCH)).astype("i4")
    x[BAD, 5, 3] = np.nan
    kept = [i for i in range(BATCHES) if i not in without]
    os.makedirs(folder)
    np.save(os.path.join(folder, "x.npy"), x[kept].reshape(-1, 8))
    np.save(os.path.join(folder, "target.npy"), target[kept].reshape(-1))
    return folder


class Runs:
    def __init__(self, arguments):
        self.arguments = arguments
        self.work = fresh_folder(os.path.abspath(arguments.work))
        self.model = self.path("model.onnxtxt")
        with open(self.model, "w", encoding="utf-8") as file:
            file.write(MODEL)

    def path(self, *names):
        return os.path.join(self.work, *names)

    def expect(self, command, good):
        status, out, err = run(command, 120)
        if (status == 0) != good:
            raise Failure(f"{' '.join(command)}\nstatus {status}\n{out}{err}")
        return out + err

    def compile(self, name, ranks, *flags):
        devices = os.path.join(os.path.abspath(self.arguments.topologies), f"cpu-{ranks}.yaml")
        self.expect([self.arguments.ffc, self.model, "--devices", devices, "--batch-size",
                     str(BATCH), "--quiet", "-o", self.path(name), *flags], True)

    def train(self, program, ranks, data, *flags, good=True):
        start = ["--local-ranks", str(ranks)] if ranks > 1 else []
        return self.expect([self.path(program), *start, "--no-shuffle", "-d", data, "--lr", "0.1",
                            *flags], good)

    def parameters(self, program, ranks, data, name, *flags):
        """What a run ends with, and what it says."""
        out = self.path(name)
        said = self.train(program, ranks, data, "--dump", out, *flags)
        folder = os.path.join(out, "param")
        return {file: np.load(os.path.join(folder, file)) for file in os.listdir(folder)}, said

    def compare(self, program, ranks):
        bad = self.path("bad")
        before = BAD // EVERY * EVERY
        for how, without, steps, clean_steps in (
                ("skip", [BAD], BATCHES, BATCHES - 1),
                # The steps since the checkpoint are done again, with other samples.
                ("rollback", range(before, BAD + 1), 20, 20)):
            name = f"{program}-{how}"
            clean = write_data(self.path(f"{name}-data"), without)
            expected, _ = self.parameters(program, ranks, clean, f"{name}-clean", "--steps",
                                          str(clean_steps))
            found, said = self.parameters(
                program, ranks, bad, f"{name}-found", "--steps", str(steps), "--checkpoint",
                self.path(f"{name}-run"), "--checkpoint-every", str(EVERY), "--on-nan", how)
            if f"step {BAD + 1} is nan: goes back to" not in said:
                raise Failure(f"{name}: expected step {BAD + 1} to be bad, found\n{said}")
            for parameter, value in expected.items():
                if not np.array_equal(value, found[parameter]):
                    raise Failure(f"{name}: {parameter}: expected the values without the bad "
                                  f"samples, found a difference of "
                                  f"{np.abs(value - found[parameter]).max()}\n{said}")

    def stop(self, program, ranks, step, *texts):
        said = self.train(program, ranks, self.path("bad"), "--on-nan", "stop", good=False)
        for text in (f"the loss of step {step} is nan; the first value that is not finite is in "
                     f"step {step} that of the input 'x', ",
                     "the first result is that of operator 'fc1' (task fc1#0@", *texts):
            if text not in said:
                raise Failure(f"{program}: expected '{text}', found\n{said}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("ffc", "topologies", "work"):
        parser.add_argument(f"--{name}", required=True)
    arguments = parser.parse_args()
    os.environ.update(environment())
    runs = Runs(arguments)
    write_data(runs.path("bad"))
    try:
        runs.compile("one", 1)
        runs.compile("two", 2, "--strategy", "data-parallel")
        runs.compile("adam", 1, "--optimizer", "adam")
        runs.compile("accumulated", 2, "--strategy", "data-parallel", "--accumulate", "2")
        with open(runs.path("s.txt"), "w", encoding="utf-8") as file:
            file.write("ffc strategy 1\nfc1: n=4 on 0 0 0 0\nact1: n=4 on 0 0 0 0\n"
                       "fc2: n=4 on 1 1 1 1\nact2: n=4 on 1 1 1 1\ny: n=4 on 1 1 1 1\n")
        runs.compile("pipeline", 2, "--strategy", runs.path("s.txt"), "--schedule", "1f1b")
        runs.compare("one", 1)
        runs.compare("two", 2)
        runs.stop("one", 1, BAD + 1)
        runs.stop("two", 2, BAD + 1, "error: rank 1: run: ")
        runs.stop("adam", 1, BAD + 1)
        runs.stop("accumulated", 2, BAD // 2 + 1, "error: rank 1: run: ")
        runs.stop("pipeline", 2, BAD + 1, "error: rank 0: run: ", "shape [2, 16] at [4, 0]")
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
