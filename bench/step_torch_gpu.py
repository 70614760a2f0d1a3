#!/usr/bin/env python3
"""PyTorch's side of scripts/gpu-check: trains one model as often as asked.

usage: step_torch_gpu.py MODEL BATCH LENGTH f32|tf32|bf16|fp16 FOLDER

Writes a random batch to FOLDER, a .npy file for every input and target.npy, and says so in a line.
LENGTH is that of sequences, 0 where the model has none. Then, for every line on standard input:

    prepare MODE...   answers with a line of JSON, what became of every mode: "ready" or why not
    MODE N            answers with the mean milliseconds of N steps

A mode is eager, compile, or compile:NAME with a mode of torch.compile. A step is what ffc's program
does: forward, loss, backward, SGD. bf16 and fp16 are those of autocast; fp16 scales its loss. Runs
on a GPU if there is one.
"""

import json
import sys
import time

import torch

import step_torch


class GpuTraining(step_torch.Training):
    def __init__(self, name, batch, length, precision, folder):
        self.device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        torch.backends.cuda.matmul.allow_tf32 = precision == "tf32"
        torch.backends.cudnn.allow_tf32 = precision == "tf32"
        torch.backends.cudnn.benchmark = True
        convolves = name in ("alexnet", "resnet50")
        super().__init__(name, batch, "channels-last" if convolves else "contiguous", folder,
                         device=self.device, length=length)
        self.type = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision)
        scales = precision == "fp16" and self.device.type == "cuda"
        make = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
        self.scaler = make(enabled=scales)
        self.models = {}

    def loss_of(self, model):
        with torch.autocast(self.device.type, dtype=self.type or torch.bfloat16,
                            enabled=self.type is not None):
            return self.loss(model(*self.inputs), self.target)

    def one(self, model):
        self.optimizer.zero_grad(set_to_none=True)
        self.scaler.scale(self.loss_of(model)).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def finish(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def prepare(self, mode):
        try:
            if mode == "eager":
                self.models[mode] = self.model
            else:
                self.models[mode] = torch.compile(self.model, mode=mode.partition(":")[2] or None)
            for _ in range(3):
                self.one(self.models[mode])
            self.finish()
            return "ready"
        except Exception as problem:  # whatever the compiler says
            self.models.pop(mode, None)
            return f"failed: {type(problem).__name__}: {str(problem)[:200]}"

    def mean(self, mode, steps):
        self.finish()
        start = time.perf_counter()
        for _ in range(steps):
            self.one(self.models[mode])
        self.finish()
        return (time.perf_counter() - start) * 1e3 / steps


def main():
    if len(sys.argv) != 6 or sys.argv[4] not in ("f32", "tf32", "bf16", "fp16"):
        sys.exit(__doc__)
    name, batch, length, precision, folder = sys.argv[1:]
    training = GpuTraining(name, int(batch), int(length), precision, folder)
    print(json.dumps({"torch": torch.__version__}), flush=True)
    for line in sys.stdin:
        words = line.split()
        answer = ({mode: training.prepare(mode) for mode in words[1:]} if words[0] == "prepare"
                  else training.mean(words[0], int(words[1])))
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
