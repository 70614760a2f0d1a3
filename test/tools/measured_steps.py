"""Predicted steps on one H100 against those that were measured there
(bench/results/gpu-2026-11-26.md): measured_steps.py FFC. Prints a row for each, and ends with 1
where the mean error is above the bound.
"""

import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))
from timed_models import TIMED  # noqa: E402

# Milliseconds in bf16. GPT-2's program had kernels for GELU and its gradient (0.862 + 0.561 in the
# table there), which products compute since.
MEASURED = {"gpt2": 22.02 - 1.423, "resnet50": 14.13, "bert_base": 13.85, "dlrm": 0.333, "lstm_lm": 1.68,
            "alexnet": 3.59, "mlp": 0.154}
MOST = 0.2


def predicted(ffc, timed, folder):
    devices = os.path.join(folder, "h100.yaml")
    with open(devices, "w", encoding="utf-8") as file:
        file.write("devices: 1 x h100\n")
    done = subprocess.run(
        [ffc, timed.model(folder), "--devices", devices, "--precision", "bf16", "--batch-size",
         str(timed.batch), *timed.flags, "--strategy", "data-parallel", "--emit=plan", "-o",
         os.path.join(folder, "plan")], check=True, capture_output=True, text=True)
    step, unit = re.search(r"predicted step ([0-9.]+) (ms|us)", done.stderr).groups()
    return float(step) * (1 if unit == "ms" else 1e-3)


def main():
    errors = []
    with tempfile.TemporaryDirectory() as folder:
        for name, measured in MEASURED.items():
            step = predicted(sys.argv[1], TIMED[name], folder)
            errors.append(step / measured - 1)
            print(f"{name:10} measured {measured:7.3f} ms, predicted {step:7.3f} ms,"
                  f" {100 * errors[-1]:+.0f} %")
    mean = sum(map(abs, errors)) / len(errors)
    print(f"mean error {100 * mean:.0f} %")
    sys.exit(mean > MOST)


if __name__ == "__main__":
    main()
