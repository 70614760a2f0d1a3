"""Exports modules by the Python package, trains them by ffc on two ranks, loads what was learned
back, and compares with PyTorch's own training: losses of 20 steps within 1e-4, outputs after
loading within 1e-5. Without torch the status is 77, "skipped".

  python_package.py --ffc FFC --package FOLDER --work DIR
"""

import argparse
import copy
import os
import subprocess
import sys
import warnings

import numpy as np

from programs import Failure, compile_program, fresh_folder, run_program, write_inputs

SKIPPED = 77
STEPS, RATE, MOMENTUM = 20, 0.05, 0.9
LOSSES, OUTPUTS = 1e-4, 1e-5
BATCH, CLASSES, LENGTH, WORDS = 8, 5, 6, 23

try:
    import torch
    from torch import nn
except ImportError:
    print("python_package: no torch")
    sys.exit(SKIPPED)


class Tied(nn.Module):
    """A small language model whose head is its table, with attention that looks back."""

    def __init__(self, width=16, heads=2):
        super().__init__()
        self.tokens, self.places = nn.Embedding(WORDS, width), nn.Embedding(LENGTH, width)
        self.norm, self.heads = nn.LayerNorm(width), heads
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.head = nn.Linear(width, WORDS, bias=False)
        self.head.weight = self.tokens.weight

    def forward(self, ids):
        x = self.tokens(ids) + self.places(torch.arange(LENGTH))
        q, k, v = (part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
                   for part in self.qkv(self.norm(x)).chunk(3, -1))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        return self.head(x + self.out(y.transpose(1, 2).flatten(2)))


def convolutions():
    """Running statistics; equal parameters that must not be merged."""
    module = nn.Sequential(
        nn.Conv2d(3, 6, 3, padding=1), nn.BatchNorm2d(6), nn.ReLU(), nn.Conv2d(6, 6, 3, padding=1),
        nn.BatchNorm2d(6), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
        nn.Linear(6, CLASSES))
    return module, torch.randn(BATCH, 3, 8, 8), torch.randint(0, CLASSES, (BATCH,)), None


def language():
    return Tied(), torch.randint(0, WORDS, (BATCH, LENGTH)), torch.randint(
        0, WORDS, (BATCH, LENGTH)), None


class Mean(nn.Module):
    """A loss that is none of ffc's."""

    def forward(self, found, target):
        return nn.functional.huber_loss(found, target) + found.square().mean() * 0.1


def own_loss():
    module = nn.Sequential(nn.Linear(7, 9), nn.Tanh(), nn.Linear(9, 2))
    return module, torch.randn(BATCH, 7), torch.randn(BATCH, 2), Mean()


def classes_loss(found, target):
    """The classes are last."""
    return nn.functional.cross_entropy(found.flatten(0, -2), target.flatten())


def trained_by_torch(module, x, target, loss):
    module.train()
    optimizer = torch.optim.SGD(module.parameters(), lr=RATE, momentum=MOMENTUM)
    losses = []
    for _ in range(STEPS):
        optimizer.zero_grad()
        value = (loss or classes_loss)(module(x), target)
        value.backward()
        optimizer.step()
        losses.append(value.item())
    return losses


def run(package, make, arguments):
    folder = fresh_folder(os.path.join(arguments.work, make.__name__))
    torch.manual_seed(3)
    module, x, target, loss = make()
    wide = copy.deepcopy(module).double()
    model = os.path.join(folder, "model.onnx")
    name = {"convolutions": "input", "language": "ids", "own_loss": "input"}[make.__name__]
    # All forms of an example.
    example = {"convolutions": x, "language": {name: x}, "own_loss": (x, target)}[make.__name__]
    package.export(module, example, model, loss)
    if not module.training or any(parameter.grad is not None for parameter in module.parameters()):
        raise Failure("expected the module as it was, found it changed")
    program, checkpoint = os.path.join(folder, "train"), os.path.join(folder, "run")
    compile_program(arguments.ffc, model, "cpu:2", program,
                    ["--batch-size", str(BATCH), f"--optimizer=sgd:momentum={MOMENTUM}",
                     *(["--loss=none"] if loss else [])])
    inputs = os.path.join(folder, "inputs")
    write_inputs(inputs, {name: x.numpy(), "target": target.numpy()})
    dump = os.path.join(folder, "dump")
    run_program(program, 2, ["--steps", str(STEPS), "--lr", str(RATE), "--inputs", inputs, "--dump",
                             dump, "--checkpoint", checkpoint])
    losses = np.load(os.path.join(dump, "loss.npy"))
    expected = trained_by_torch(wide, x.double() if x.is_floating_point() else x,
                                target.double() if target.is_floating_point() else target, loss)
    worst = np.abs(losses / expected - 1).max()
    if not worst <= LOSSES:
        raise Failure(f"{make.__name__}: expected losses {expected}, found {list(losses)}")
    loaded = package.load(module, checkpoint)
    with torch.no_grad():
        found = module.eval()(x).double()
        right = wide.eval()(x.double() if x.is_floating_point() else x)
    off = ((found - right).abs().max() / right.abs().max()).item()
    if not off <= OUTPUTS:
        raise Failure(f"{make.__name__}: expected outputs within {OUTPUTS:g}, found {off:.1e}")
    print(f"{make.__name__}: losses within {worst:.1e}, {len(loaded)} values, outputs within "
          f"{off:.1e}")


def errors(package, work):
    """What is said where a module and a checkpoint, or an example, do not fit."""
    cases = [(nn.Linear(9, 2), "expected values of the module, found 0.bias"),
             (nn.Sequential(nn.Linear(7, 8), nn.Tanh(), nn.Linear(8, 2)),
              "0.bias: expected shape [8], found [9]")]
    checkpoint = os.path.join(work, "own_loss", "run")
    for module, text in cases:
        before = {name: value.clone() for name, value in module.state_dict().items()}
        try:
            package.load(module, checkpoint)
            raise Failure(f"expected '{text}', found no error")
        except ValueError as error:
            if text not in str(error):
                raise Failure(f"expected '{text}', found '{error}'") from error
        if any(not torch.equal(before[name], value) for name, value in module.state_dict().items()):
            raise Failure("expected a module that stays as it is, found it changed")
    for example, text in (({"wrong": torch.randn(4, 7)},
                           "expected the first inputs of forward, input, found wrong"),
                          ((torch.randn(4, 7), torch.randn(4, 7)),
                           "expected at most 1 inputs of forward (input), found 2")):
        try:
            package.export(nn.Linear(7, 2), example, os.path.join(work, "no.onnx"))
            raise Failure(f"expected '{text}', found no error")
        except ValueError as error:
            if text not in str(error):
                raise Failure(f"expected '{text}', found '{error}'") from error
    for path, text in ((work, "expected a checkpoint, or a folder of them"),
                       (__file__, "expected a safetensors file")):
        try:
            package.load(nn.Linear(1, 1), path)
            raise Failure(f"expected '{text}', found no error")
        except ValueError as error:
            if text not in str(error):
                raise Failure(f"expected '{text}', found '{error}'") from error


def shell(package_folder, arguments):
    script = os.path.join(arguments.work, "model.py")
    with open(script, "w", encoding="utf-8") as file:
        file.write("import torch\n\ndef make():\n"
                   "    return torch.nn.Linear(7, 3), torch.randn(4, 7)\n")
    output = os.path.join(arguments.work, "shell.onnx")

    def call(what):
        return subprocess.run([sys.executable, "-m", "ffc", what, "-o", output],
                              env={**os.environ, "PYTHONPATH": package_folder}, text=True,
                              capture_output=True, check=False)
    done = call(script + ":make")
    if done.returncode or not os.path.exists(output):
        raise Failure(f"expected a model, found {done.stderr}")
    for what, text in ((script, "expected FILE.py:NAME"), (script + ":no", "expected 'no'"),
                       (script + "x:make", "expected a file")):
        done = call(what)
        if not done.returncode or text not in done.stderr:
            raise Failure(f"{what}: expected '{text}', found '{done.stderr}'")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--package", required=True, help="the folder with it")
    parser.add_argument("--work", required=True)
    arguments = parser.parse_args()
    sys.path.insert(0, arguments.package)
    warnings.simplefilter("ignore")
    import ffc as package
    try:
        fresh_folder(arguments.work)
        for make in convolutions, language, own_loss:
            run(package, make, arguments)
        errors(package, arguments.work)
        shell(arguments.package, arguments)
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
