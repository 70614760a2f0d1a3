#!/usr/bin/python3
"""PyTorch's side of bench/step: trains one model for as many steps as asked.

usage: step_torch.py MODEL BATCH THREADS contiguous|channels-last FOLDER

Writes a random batch to FOLDER, a .npy file for every input and target.npy, and
prints a line of JSON about the model; then, for every number N on standard
input, a line with the milliseconds of N further steps. A step is what ffc's
program does: forward, loss, backward, SGD, in f32. The models are torchvision's
and those of step_models.py.
"""

import json
import os
import sys
import time

import numpy
import torch

import step_models


def make_model(name):
    if name == "mlp":
        return torch.nn.Sequential(
            torch.nn.Flatten(), torch.nn.Linear(784, 2048), torch.nn.ReLU(),
            torch.nn.Linear(2048, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 10))
    import torchvision  # only where a model is one of its own
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
    return {"image": torch.randn(shape)}, torch.randint(classes, (batch,))


def count_flops(model, inputs):
    """Multiplications and additions of convolutions, dense and recurrent layers and
    attention in a step. Each has two gradients as costly as itself, but nobody asks
    for that of images and other numbers that the first layer gets."""
    forward = []

    def count(layer, _inputs, output):
        if isinstance(layer, torch.nn.LSTM):
            steps = output[0].shape[0] * output[0].shape[1]
            forward.append(sum(2 * steps * weight.numel() for weight in layer.parameters()
                               if weight.dim() == 2))
        elif isinstance(layer, step_models.Attention):
            forward.append(layer.product_flops(output))
        else:
            forward.append(2 * output.numel() * layer.weight[0].numel())

    kinds = (torch.nn.Conv2d, torch.nn.Linear, torch.nn.LSTM, step_models.Attention)
    handles = [layer.register_forward_hook(count) for layer in model.modules()
               if isinstance(layer, kinds)]
    with torch.no_grad():
        model(*inputs)
    for handle in handles:
        handle.remove()
    return 3 * sum(forward) - (forward[0] if inputs[0].is_floating_point() else 0)


def blas():
    """The files of the BLAS libraries that PyTorch has loaded."""
    with open("/proc/self/maps", encoding="utf-8") as maps:
        return sorted({line.split()[-1] for line in maps if "blas" in line})


class Training:
    """`length` is that of sequences, where it is not the model's own."""

    def __init__(self, name, batch, layout, folder, device="cpu", length=0, fused=False):
        torch.manual_seed(0)
        make, batch_of, loss, momentum = step_models.MODELS.get(
            name, (lambda: make_model(name), lambda batch: make_batch(name, batch),
                   torch.nn.CrossEntropyLoss, 0.9))
        self.model = make().train().to(device)
        inputs, self.target = batch_of(batch, length) if length else batch_of(batch)
        for key, value in {**inputs, "target": self.target}.items():
            numpy.save(os.path.join(folder, f"{key}.npy"), value.numpy())
        self.inputs = [value.to(device) for value in inputs.values()]
        self.target = self.target.to(device)
        if layout == "channels-last":
            self.model = self.model.to(memory_format=torch.channels_last)
            self.inputs = [x.contiguous(memory_format=torch.channels_last) if x.dim() == 4 else x
                           for x in self.inputs]
        self.loss = loss()
        # One kernel updates all, but no gradients of rows.
        fused = fused and not any(getattr(layer, "sparse", False) for layer in self.model.modules())
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=1e-3, momentum=momentum,
                                         **({"fused": True} if fused else {}))

    def step(self):
        """Returns its milliseconds."""
        start = time.perf_counter()
        self.optimizer.zero_grad(set_to_none=True)
        self.loss(self.model(*self.inputs), self.target).backward()
        self.optimizer.step()
        return (time.perf_counter() - start) * 1e3


def main():
    if len(sys.argv) != 6 or sys.argv[4] not in ("contiguous", "channels-last"):
        sys.exit(__doc__)
    name, batch, threads, layout, folder = sys.argv[1:]
    torch.set_num_threads(int(threads))
    training = Training(name, int(batch), layout, folder)
    print(json.dumps({"torch": torch.__version__, "blas": blas(),
                      "flops": count_flops(training.model, training.inputs)}), flush=True)
    for line in sys.stdin:
        print(json.dumps([training.step() for _ in range(int(line))]), flush=True)


if __name__ == "__main__":
    main()
