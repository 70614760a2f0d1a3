"""Trains a language model on a text and checks what it has learned.

The model comes from examples/generate. Programs on one rank and on several begin
with the same values and see the same data, so their losses must stay together.
The loss on text that was not trained on is computed from what a third program
evaluates with the parameters that the first one dumped. With these it continues a
text too, and as it does on several ranks.
"""

import argparse
import os
import shutil
import sys

import numpy as np

from programs import Failure, compile_program, expect_success, fresh_folder, run_program

BATCH, TESTED = 16, 64 * 256 + 1
# Of losses, relative, while training amplifies rounding.
TOGETHER = 0.001


def split(source, work):
    """The end of the text is tested on; returns its targets."""
    with open(source, "rb") as file:
        text = file.read()
    for folder, part in (("train-data", text[:-TESTED]), ("test-data", text[-TESTED:])):
        os.makedirs(os.path.join(work, folder))
        with open(os.path.join(work, folder, "text.txt"), "wb") as file:
            file.write(part)
    return np.frombuffer(text[-TESTED:], np.uint8)[1:].astype(int)


def mean_loss(logits, targets):
    """Cross-entropy of logits."""
    rows = logits.reshape(len(targets), -1).astype(np.float64)
    rows -= rows.max(axis=1, keepdims=True)
    return float((np.log(np.exp(rows).sum(axis=1)) - rows[np.arange(len(rows)), targets]).mean())


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--topologies", required=True, nargs=2, help="of one rank, and of several")
    parser.add_argument("--ranks", type=int, required=True, help="in the second topology")
    parser.add_argument("--strategy", required=True, help="on several ranks")
    parser.add_argument("--work", required=True)
    parser.add_argument("--generate", required=True, help="the script that writes the model")
    parser.add_argument("--text", required=True)
    parser.add_argument("--steps", type=int, required=True)
    parser.add_argument("--loss", type=float, required=True, help="that the test must reach")
    parser.add_argument("model", nargs="+", help="name and options of the model")
    arguments = parser.parse_args()
    work = fresh_folder(arguments.work)
    path = lambda *parts: os.path.join(work, *parts)
    try:
        targets = split(arguments.text, work)
        model = path("model.onnxtxt")
        with open(model, "w") as file:
            file.write(expect_success([sys.executable, arguments.generate, *arguments.model], 60))
        single, several = arguments.topologies
        common = ["--batch-size", str(BATCH), "--optimizer=adamw", "--clip-norm", "1"]
        infer = ["--batch-size", str(BATCH), "--mode", "infer", "--strategy=data-parallel"]
        for program, topology, flags in (
                ("one", single, [*common, "--strategy=data-parallel"]),
                ("many", several, [*common, f"--strategy={arguments.strategy}"]),
                ("infer", single, infer),
                ("infer-many", several, [*infer[:-1], "--strategy=random:3"])):
            compile_program(arguments.ffc, model, topology, path(program), flags)
        losses = {}
        for program, ranks in (("one", 1), ("many", arguments.ranks)):
            run_program(path(program), ranks,
                        ["--steps", str(arguments.steps), "--lr", "3e-3", "--lr-schedule=cosine",
                         "--warmup", "20", "--dataset", path("train-data"), "--dump",
                         path(program + "-dump")])
            losses[program] = np.load(path(program + "-dump", "loss.npy"))
        apart = np.abs(losses["many"] / losses["one"] - 1)
        if not apart.max() < TOGETHER:
            raise Failure(f"losses of one and {arguments.ranks} ranks: expected them within "
                          f"{TOGETHER:.1%}, found {apart.max():.2%} in step {apart.argmax() + 1}")
        run_program(path("infer"), 1, ["--dataset", path("test-data"), "--no-shuffle",
                                       "--weights", path("one-dump"), "--dump", path("tested")])
        outputs = os.listdir(path("tested", "out"))
        loss = mean_loss(np.load(path("tested", "out", outputs[0])), targets)
        if not loss < arguments.loss:
            raise Failure(f"expected a loss below {arguments.loss} on the test, found {loss:.3f}")
        likeliest = ["--generate", "40", "--prompt=KING", "--temperature=0",
                     "--weights", path("one-dump")]
        said = [run_program(path(program), ranks, likeliest)
                for program, ranks in (("infer", 1), ("infer-many", arguments.ranks))]
        if said[0] != said[1]:
            raise Failure(f"expected the same text on one rank and on {arguments.ranks}, found "
                          f"{said[0]!r} and {said[1]!r}")
        if said[0].count("KING") < BATCH:
            raise Failure(f"expected {BATCH} texts that begin with 'KING', found {said[0]!r}")
        print(f"loss {losses['one'][0]:.3f} at first, {losses['one'][-1]:.3f} at last, "
              f"{loss:.3f} on the test; ranks at most {apart.max():.1e} apart")
        shutil.rmtree(work)
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
