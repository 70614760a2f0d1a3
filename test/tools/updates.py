"""Trains a model for a few steps and computes its updates again with NumPy, from the gradients
that the program dumps: rates and decay of groups of parameters, what the optimizer keeps.

  updates.py --ffc FFC --model MODEL --ranks N --strategy S --work DIR \\
      [--group 'NAME|NAME: lr=X, wd=X']... [--clip-norm X] [--clip-value X] [--ema X] \\
      -- FLAGS OF ffc
"""

import argparse
import fnmatch
import os
import shutil
import sys

import numpy as np

from programs import Failure, compile_program, file_name, fresh_folder, run_program
from resumed_runs import read_safetensors

STEPS = 5
RATE, DECAY = 0.02, 0.1
# Of what a parameter moves by in all steps, in the largest norm.
BOUND = 2e-4
# The same where slots are bf16, and may be rounded to another neighbour.
NARROW_BOUND = 2e-2


class Sgd:
    """With decay in the gradient and a momentum, as PyTorch has it."""
    numbers = {"momentum": 0.9}

    def __call__(self, state, t, w, g, rate, decay):
        state["momentum"] = self.numbers["momentum"] * state.get("momentum", 0) + g + decay * w
        return w - rate * state["momentum"]


class AdamW:
    """Loshchilov and Hutter, ICLR 2019."""
    numbers = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-8}

    def __call__(self, state, t, w, g, rate, decay):
        beta1, beta2, epsilon = self.numbers.values()
        m = state["first_moment"] = beta1 * state.get("first_moment", 0) + (1 - beta1) * g
        v = state["second_moment"] = beta2 * state.get("second_moment", 0) + (1 - beta2) * g * g
        root = np.sqrt(v / (1 - beta2 ** t)) + epsilon
        return w - rate * (m / (1 - beta1 ** t) / root + decay * w)


class Lion:
    """Chen et al., NeurIPS 2023, algorithm 2."""
    numbers = {"beta1": 0.9, "beta2": 0.99}

    def __call__(self, state, t, w, g, rate, decay):
        beta1, beta2 = self.numbers.values()
        m = state.get("first_moment", 0)
        state["first_moment"] = beta2 * m + (1 - beta2) * g
        return w - rate * (np.sign(beta1 * m + (1 - beta1) * g) + decay * w)


class Lamb(AdamW):
    """You et al., ICLR 2020, which trusts whole parameters."""
    numbers = {"beta1": 0.9, "beta2": 0.999, "epsilon": 1e-6}

    def __call__(self, state, t, w, g, rate, decay):
        r = w - super().__call__(state, t, w, g, 1.0, decay)
        norms = np.linalg.norm(w), np.linalg.norm(r)
        return w - rate * (norms[0] / norms[1] if all(norms) else 1) * r


def to_bf16(values):
    """Rounded to nearest even."""
    words = np.asarray(values, np.float32).view(np.uint32)
    words = words + np.uint32(0x7fff) + ((words >> np.uint32(16)) & np.uint32(1))
    return (words & np.uint32(0xffff0000)).view(np.float32).astype(float)


OPTIMIZERS = {"sgd": Sgd, "adamw": AdamW, "lamb": Lamb, "lion": Lion}


def rates_of(name, groups):
    """Rate and decay of a parameter; later groups count more."""
    rate, decay = RATE, DECAY
    for group in groups:
        patterns, _, settings = group.rpartition(":")
        if not any(fnmatch.fnmatchcase(name, p.strip()) for p in patterns.split("|")):
            continue
        for key, value in (setting.split("=") for setting in settings.split(",")):
            if key.strip() == "wd":
                decay = float(value)
            elif value.endswith("x"):
                rate = RATE * float(value[:-1])
            else:
                rate = float(value)
    return rate, decay


class Updates:
    def __init__(self, arguments):
        self.arguments = arguments
        self.program = os.path.join(arguments.work, "train")
        kind, _, numbers = arguments.optimizer.partition(":")
        self.optimizer = OPTIMIZERS[kind]()
        self.optimizer.numbers = dict(self.optimizer.numbers)
        given = dict(pair.split("=") for pair in numbers.split(",") if pair)
        self.is_narrow = given.pop("slots", "f32") == "bf16"
        for key, value in given.items():
            self.optimizer.numbers[key] = float(value)

    def run(self, folder, steps, rate, decay, flags):
        run_program(self.program, self.arguments.ranks, [
            "--steps", str(steps), "--lr", str(rate), "--wd", str(decay), "--seed", "3",
            "--checkpoint", fresh_folder(os.path.join(folder, "saved")),
            "--dump", fresh_folder(os.path.join(folder, "dump")), *flags])

    def saved(self, folder, step, name):
        path = os.path.join(folder, "saved", f"step-{step:08d}", name + ".safetensors")
        return read_safetensors(path) if os.path.exists(path) else {}

    def check(self):
        a = self.arguments
        compile_program(a.ffc, a.model, f"cpu:{a.ranks}", self.program, [
            "--optimizer", a.optimizer, "--table-gradients=dense", "--strategy", a.strategy,
            "--clip-norm", str(a.clip_norm), "--ema", str(a.ema), *a.compile_arguments])
        first, whole = (os.path.join(a.work, name) for name in ("first", "whole"))
        # What the parameters begin with: a step that changes none of them.
        self.run(first, 1, 0, 0, [])
        flags = [word for group in a.group for word in ("--group", group)]
        flags += ["--clip-value", str(a.clip_value)]
        self.run(whole, STEPS, RATE, DECAY,
                 ["--dump-steps", ",".join(map(str, range(1, STEPS + 1))), *flags])
        begun = self.saved(first, 1, "model")
        ended, slots, means = (self.saved(whole, STEPS, name)
                               for name in ("model", "optimizer", "ema"))
        gradients = [self.gradients(os.path.join(whole, "dump", f"step{t}", "grad"), begun)
                     for t in range(1, STEPS + 1)]
        for name in gradients[0]:
            self.check_parameter(name, begun[name].astype(float),
                                 [of_step[name] for of_step in gradients], ended, slots, means)
        print(f"{len(gradients[0])} parameters as computed again")

    def gradients(self, folder, parameters):
        """Those of a step, clipped by the norm of all of them and then by value."""
        found = {}
        for name in parameters:
            path = os.path.join(folder, file_name(name) + ".npy")
            if os.path.exists(path):
                found[name] = np.load(path).astype(float)
        if not found:
            raise Failure("expected parameters with gradients, found none")
        clip_norm, clip_value = self.arguments.clip_norm, self.arguments.clip_value
        norm = np.sqrt(sum((g * g).sum() for g in found.values()))
        scale = min(1, clip_norm / norm) if clip_norm else 1
        bound = clip_value or np.inf
        return {name: np.clip(scale * g, -bound, bound) for name, g in found.items()}

    def check_parameter(self, name, begun, gradients, ended, slots, means):
        rate, decay = rates_of(name, self.arguments.group)
        w, state, mean, ema = begun, {}, begun, self.arguments.ema
        for t, gradient in enumerate(gradients, 1):
            w = self.optimizer(state, t, w, gradient, rate, decay)
            if self.is_narrow:
                state = {key: to_bf16(value) for key, value in state.items()}
            mean = ema * mean + (1 - ema) * w
        self.expect_near(name, ended[name], w, np.abs(w - begun).max())
        if ema:
            self.expect_near(f"mean of {name}", means[name], mean, np.abs(w - begun).max())
        for key, value in state.items():
            self.expect_near(f"{name}/{key}", slots[f"{name}/{key}"], value, np.abs(value).max())

    def expect_near(self, name, found, expected, size):
        away = np.abs(found - expected).max()
        bound = NARROW_BOUND if self.is_narrow else BOUND
        if not away <= bound * size + 1e-7:
            raise Failure(f"{name}: expected values within {bound * size:.1e}, found {away:.1e}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--strategy", required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--optimizer", default="sgd")
    parser.add_argument("--group", action="append", default=[])
    parser.add_argument("--clip-norm", type=float, default=0)
    parser.add_argument("--clip-value", type=float, default=0)
    parser.add_argument("--ema", type=float, default=0)
    parser.add_argument("compile_arguments", nargs="*", help="further flags of ffc")
    arguments = parser.parse_args()
    try:
        fresh_folder(arguments.work)
        Updates(arguments).check()
        shutil.rmtree(arguments.work)
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
