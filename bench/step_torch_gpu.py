#!/usr/bin/env python3
"""PyTorch's side of scripts/gpu-check: trains one model as often as asked.

usage: step_torch_gpu.py MODEL BATCH LENGTH f32|tf32|bf16|fp16 FOLDER

Writes a random batch to FOLDER, a .npy file for every input and target.npy, and says so in a line.
LENGTH is that of sequences, 0 where the model has none. Then, for every line on standard input:

    prepare MODE...   answers with a line of JSON, what became of every mode: "ready" or why not
    MODE N            answers with the mean milliseconds of N steps

A mode is eager, compile, or compile:NAME with a mode of torch.compile, which compiles the model and
its loss. A step is what ffc's program does: forward, loss, backward, SGD. bf16 and fp16 are those of
autocast; fp16 scales its loss. Runs on a GPU if there is one.
"""

import fcntl
import json
import os
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
                         device=self.device, length=length, fused=self.device.type == "cuda")
        self.lock = os.path.join(os.path.dirname(os.path.abspath(folder)), "torch.lock")
        self.type = {"bf16": torch.bfloat16, "fp16": torch.float16}.get(precision)
        scales = precision == "fp16" and self.device.type == "cuda"
        make = getattr(torch.amp, "GradScaler", None) or torch.cuda.amp.GradScaler
        self.scaler = make(enabled=scales)
        self.losses = {}

    def loss_of_model(self):
        return self.loss(self.model(*self.inputs), self.target)

    def one(self, loss_of):
        # Tells graphs of CUDA that what the last step has made is not needed.
        torch.compiler.cudagraph_mark_step_begin()
        self.optimizer.zero_grad(set_to_none=True)
        with torch.autocast(self.device.type, dtype=self.type or torch.bfloat16,
                            enabled=self.type is not None):
            loss = loss_of()
        self.scaler.scale(loss).backward()
        self.scaler.step(self.optimizer)
        self.scaler.update()

    def finish(self):
        if self.device.type == "cuda":
            torch.cuda.synchronize()

    def prepare(self, mode):
        try:
            if mode == "eager":
                self.losses[mode] = self.loss_of_model
                # cuDNN measures its algorithms: not while another process does.
                with open(self.lock, "w", encoding="utf-8") as lock:
                    fcntl.flock(lock, fcntl.LOCK_EX)
                    self.repeat(mode, 3)
            else:
                self.losses[mode] = torch.compile(self.loss_of_model,
                                                  mode=mode.partition(":")[2] or None)
                self.repeat(mode, 3)
            return "ready"
        except Exception as problem:  # whatever the compiler says
            self.losses.pop(mode, None)
            return f"failed: {type(problem).__name__}: {str(problem)[:200]}"

    def repeat(self, mode, steps):
        for _ in range(steps):
            self.one(self.losses[mode])
        self.finish()

    def mean(self, mode, steps):
        self.finish()
        start = time.perf_counter()
        self.repeat(mode, steps)
        return (time.perf_counter() - start) * 1e3 / steps


def main():
    if len(sys.argv) != 6 or sys.argv[4] not in ("f32", "tf32", "bf16", "fp16"):
        sys.exit(__doc__)
    name, batch, length, precision, folder = sys.argv[1:]
    # What libraries print is not an answer.
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    training = GpuTraining(name, int(batch), int(length), precision, folder)
    print(json.dumps({"torch": torch.__version__}), file=answers, flush=True)
    for line in sys.stdin:
        words = line.split()
        answer = ({mode: training.prepare(mode) for mode in words[1:]} if words[0] == "prepare"
                  else training.mean(words[0], int(words[1])))
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
