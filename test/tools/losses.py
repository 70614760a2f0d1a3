"""Compares one step of a tiny network with numpy, for the losses that no exported
model has: mse, bce and those that the model computes itself.

Loss, gradients and updated parameters are computed here in double precision, by
formulas written out below, and judged by the rule of compare_runs.py.
"""

import argparse
import math
import os
import shutil
import sys

import numpy as np

from compare_runs import judge, norm
from programs import (Failure, compile_program, file_name, fresh_folder, run_program,
                      write_inputs)

# One step in f32 against double precision.
LOSS_TOLERANCE = 1e-5
LEARNING_RATE = 0.1
BATCH, INPUTS, HIDDEN, OUTPUTS = 6, 5, 7, 3

# The network, without its last nodes and outputs. The batch of six is also split
# unevenly: over four devices.
HEAD = """<ir_version: 7, opset_import: ["" : 13]>
tiny (float[{n},{i}] x{more}) => ({out})
<float[{i},{h}] w1 = {{{w1}}}, float[{h}] b1 = {{{b1}}},
 float[{h},{o}] w2 = {{{w2}}}, float[{o}] b2 = {{{b2}}}>
{{
  h = Gemm (x, w1, b1)
  a = Tanh (h)
  z = Gemm (a, w2, b2)
{tail}
}}
"""

HALF = "  half = Constant <value_float = 0.5> ()\n  l = Mul (m, half)"
WEIGHTS = (0.5, 2.0, 1.5)
IGNORED = 1
NUMBERS = f", float[{BATCH},{OUTPUTS}] goal"
CLASSES = f", int64[{BATCH}] goal"

# The last nodes, the model's output, further inputs.
TAILS = {
    "mse": ("  y = Identity (z)", f"float[{BATCH},{OUTPUTS}] y", ""),
    "bce": ("  y = Sigmoid (z)", f"float[{BATCH},{OUTPUTS}] y", ""),
    # Half of what mse gives.
    "none": ("  d = Sub (z, goal)\n  s = Mul (d, d)\n"
             "  m = ReduceMean <keepdims = 0> (s)\n" + HALF, "float l", NUMBERS),
    # Cross-entropy: as the loss, half of it, of weighted classes of which one does
    # not count, and composed.
    "sce": ("  l = SoftmaxCrossEntropyLoss (z, goal)", "float l", CLASSES),
    "sce-half": ("  m = SoftmaxCrossEntropyLoss (z, goal)\n" + HALF, "float l",
                 CLASSES),
    "sce-weighted": (
        f"  w = Constant <value = float[3] {{{', '.join(map(str, WEIGHTS))}}}> ()\n"
        f"  l = SoftmaxCrossEntropyLoss <ignore_index = {IGNORED}> (z, goal, w)",
        "float l", CLASSES),
    "nll": ("  p = LogSoftmax (z)\n  l = NegativeLogLikelihoodLoss (p, goal)",
            "float l", CLASSES),
}


def make_values():
    """The input, targets, and the parameters, as f32 holds them."""
    random = np.random.default_rng(20261121)

    def normal(*shape):
        # Few digits, so that the model's text is exact.
        return np.round(random.standard_normal(shape), 3).astype(np.float32)

    parameters = {"w1": normal(INPUTS, HIDDEN), "b1": normal(HIDDEN),
                  "w2": normal(HIDDEN, OUTPUTS), "b2": normal(OUTPUTS)}
    goal = normal(BATCH, OUTPUTS)
    labels = (random.random((BATCH, OUTPUTS)) < 0.5).astype(np.float32)
    x = normal(BATCH, INPUTS)
    classes = random.integers(0, OUTPUTS, BATCH)
    return x, {"mse": goal, "none": goal, "bce": labels, "class": classes}, parameters


def write_model(path, loss, parameters):
    tail, out, more = TAILS[loss]
    texts = {name: ", ".join(f"{value:g}" for value in array.ravel())
             for name, array in parameters.items()}
    with open(path, "w") as file:
        file.write(HEAD.format(n=BATCH, i=INPUTS, h=HIDDEN, o=OUTPUTS, tail=tail,
                               out=out, more=more, **texts))


def cross_entropy(loss, z, target):
    """Cross-entropy and its gradient."""
    p = np.exp(z) / np.exp(z).sum(1, keepdims=True)
    weights = np.ones(OUTPUTS)
    if loss == "sce-weighted":
        weights = np.array(WEIGHTS)
        weights[IGNORED] = 0
    share = weights[target] / weights[target].sum()
    if loss == "sce-half":
        share = share / 2
    value = -np.sum(share * np.log(p[np.arange(BATCH), target]))
    return value, share[:, None] * (p - np.eye(OUTPUTS)[target])


def expected_step(loss, x, target, parameters):
    """Loss and gradients."""
    x = x.astype(np.float64)
    w1, b1, w2, b2 = (parameters[name].astype(np.float64)
                      for name in ("w1", "b1", "w2", "b2"))
    a = np.tanh(x @ w1 + b1)
    z = a @ w2 + b2
    if loss == "bce":
        y = 1 / (1 + np.exp(-z))
        value = -np.mean(target * np.log(y) + (1 - target) * np.log(1 - y))
        dz = (y - target) / z.size
    elif target.ndim == 1:
        value, dz = cross_entropy(loss, z, target)
    else:
        scale = 0.5 if loss == "none" else 1.0
        value = scale * np.mean((z - target) ** 2)
        dz = scale * 2 * (z - target) / z.size
    dh = (dz @ w2.T) * (1 - a * a)
    return value, {"w1": x.T @ dh, "b1": dh.sum(0), "w2": a.T @ dz, "b2": dz.sum(0)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--topology", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--loss", choices=TAILS, required=True)
    parser.add_argument("--work", required=True)
    arguments = parser.parse_args()

    x, targets, parameters = make_values()
    own = arguments.loss not in ("mse", "bce")
    target = targets.get(arguments.loss, targets["class"])
    expected_loss, gradients = expected_step(arguments.loss, x, target, parameters)
    work = fresh_folder(arguments.work)
    try:
        model = os.path.join(work, "tiny.onnxtxt")
        write_model(model, arguments.loss, parameters)
        label = "goal" if own else "target"
        write_inputs(os.path.join(work, "inputs"), {"x": x, label: target})
        program, dump = os.path.join(work, "train"), os.path.join(work, "dump")
        compile_program(arguments.ffc, model, arguments.topology, program,
                        [f"--loss={'none' if own else arguments.loss}"])
        run_program(program, arguments.ranks,
                    ["--steps", "1", "--lr", str(LEARNING_RATE), "--inputs",
                     os.path.join(work, "inputs"), "--dump", dump])

        found = float(np.load(os.path.join(dump, "loss.npy"))[0])
        if not abs(found - expected_loss) <= LOSS_TOLERANCE * abs(expected_loss):
            raise Failure(f"expected loss {expected_loss:.9g}, found {found:.9g}")
        total = math.sqrt(sum(norm(g) ** 2 for g in gradients.values()))
        worst = 0.0
        for name, gradient in gradients.items():
            file = file_name(name) + ".npy"
            dumped = np.load(os.path.join(dump, "grad", file))
            worst = max(worst, judge(f"gradient of '{name}'", norm(dumped - gradient),
                                     norm(gradient), total))
            # The first step of SGD with momentum is one without. Differences of
            # parameters are judged as multiples of the gradient.
            moved = (parameters[name].astype(np.float64) -
                     np.load(os.path.join(dump, "param", file))) / LEARNING_RATE
            worst = max(worst, judge(f"update of '{name}'", norm(moved - gradient),
                                     norm(gradient), total))
        print(f"{arguments.loss}, {arguments.ranks} ranks: loss {found:.9g}, worst "
              f"at {worst:.1%} of what is allowed")
        shutil.rmtree(work)
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
