#!/usr/bin/python3
"""PyTorch's side of bench/step: trains one model for as many steps as asked.

usage: step_torch.py MODEL BATCH THREADS contiguous|channels-last FOLDER

Writes a random batch to FOLDER as image.npy and target.npy and prints a line of
JSON about the model; then, for every number N on standard input, a line with
the milliseconds of N further steps. A step is what ffc's program does: forward,
cross-entropy, backward, SGD with momentum 0.9, in f32. The models are
torchvision's.
"""

import json
import os
import sys
import time

import numpy
import torch
import torchvision


def make_model(name):
    if name == "mlp":
        return torch.nn.Sequential(
            torch.nn.Flatten(), torch.nn.Linear(784, 2048), torch.nn.ReLU(),
            torch.nn.Linear(2048, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 10))
    if name == "inception_v3":
        return torchvision.models.inception_v3(
            weights=None, aux_logits=False, init_weights=False)
    return getattr(torchvision.models, name)(weights=None)


def make_batch(name, batch):
    shape, classes = (batch, 3, 224, 224), 1000
    if name == "mlp":
        shape, classes = (batch, 1, 28, 28), 10
    elif name == "inception_v3":
        shape = (batch, 3, 299, 299)
    return torch.randn(shape), torch.randint(classes, (batch,))


def count_flops(model, images):
    """Multiplications and additions of convolutions and dense layers in a step.
    Each has two gradients as costly as itself, but nobody asks for that of the
    images."""
    forward = []

    def count(layer, _inputs, output):
        forward.append(2 * output.numel() * layer.weight[0].numel())

    handles = [layer.register_forward_hook(count) for layer in model.modules()
               if isinstance(layer, (torch.nn.Conv2d, torch.nn.Linear))]
    with torch.no_grad():
        model(images)
    for handle in handles:
        handle.remove()
    return 3 * sum(forward) - forward[0]


def blas():
    """The files of the BLAS libraries that PyTorch has loaded."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return sorted({line.split()[-1] for line in maps if "blas" in line})


class Training:
    def __init__(self, name, batch, layout, folder):
        torch.manual_seed(0)
        self.model = make_model(name).train()
        self.images, self.target = make_batch(name, batch)
        numpy.save(os.path.join(folder, "image.npy"), self.images.numpy())
        numpy.save(os.path.join(folder, "target.npy"), self.target.numpy())
        if layout == "channels-last":
            self.model = self.model.to(memory_format=torch.channels_last)
            self.images = self.images.contiguous(memory_format=torch.channels_last)
        self.loss = torch.nn.CrossEntropyLoss()
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=0.9)

    def step(self):
        """Returns its milliseconds."""
        start = time.perf_counter()
        self.optimizer.zero_grad(set_to_none=True)
        self.loss(self.model(self.images), self.target).backward()
        self.optimizer.step()
        return (time.perf_counter() - start) * 1e3


def main():
    if len(sys.argv) != 6 or sys.argv[4] not in ("contiguous", "channels-last"):
        sys.exit(__doc__)
    name, batch, threads, layout, folder = sys.argv[1:]
    torch.set_num_threads(int(threads))
    training = Training(name, int(batch), layout, folder)
    print(json.dumps({"torch": torch.__version__, "blas": blas(),
                      "flops": count_flops(training.model, training.images)}), flush=True)
    for line in sys.stdin:
        print(json.dumps([training.step() for _ in range(int(line))]), flush=True)


if __name__ == "__main__":
    main()
