"""Models at full size whose steps are compared with PyTorch's on GPUs: by scripts/gpu-check in time,
by bench/traffic in bytes. They are those of bench/step_torch.py: files of examples, or what
examples/generate writes.
"""

import os
import subprocess

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))


class Timed:
    """Batch size, length of sequences (0: none), arguments of examples/generate (None: a file),
    flags of ffc, and steps for which its program prints a mean time."""

    def __init__(self, name, batch, length=0, generated=None, flags=("--momentum=0.9",), line=4):
        self.name, self.batch, self.length, self.line = name, batch, length, line
        self.generated, self.flags = generated, list(flags)

    def model(self, folder):
        """The model's file; one that is generated is in `folder`."""
        if self.generated is None:
            return os.path.join(ROOT, "examples", self.name, f"{self.name}.onnxtxt")
        path = os.path.join(folder, f"{self.name}.onnxtxt")
        with open(path, "w", encoding="utf-8") as file:
            subprocess.run([os.path.join(ROOT, "examples", "generate"), self.name,
                            *self.generated], stdout=file, check=True)
        return path


TIMED = {timed.name: timed for timed in (
    Timed("gpt2", 8, 1024, ["--sequence", "1024"]),
    Timed("resnet50", 64),
    Timed("bert_base", 32, 128, ["--sequence", "128"]),
    Timed("dlrm", 2048, flags=["--momentum=0", "--loss=mse"], line=20),
    Timed("lstm_lm", 64, 64, [], line=20),
    Timed("alexnet", 128, generated=[]),
    Timed("mlp", 512, line=20),
)}
