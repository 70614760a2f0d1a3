"""Runs the plans that the search finds for the examples, on several ranks, against one rank: the
default command, then ten steps whose losses, outputs, gradients and parameters are compared.

  test/tools/searched_plans.py build/bin/ffc --work FOLDER [--ranks 4 8] [--models lenet nmt]

Takes about half an hour on two cores for all of them, so it is no part of the tests.
"""

import argparse
import os
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
# What a model is compiled and run with. Deep convolutional ones have kinks (run_equality.py) and
# amplify rounding unless initial values are small.
CONVOLUTIONAL = ["--fixed-batch", "--seeds", "10,8,7,9", "--kinks", "4", "--", "--batch-size", "8"]
MODELS = {
    "mlp": ["--", "--batch-size", "8"],
    "lenet": ["--", "--batch-size", "8"],
    "ncf": ["--", "--batch-size", "64", "--loss=bce", "--momentum", "0"],
    "moe": ["--", "--batch-size", "16"],
    "moe_encoder": ["--", "--batch-size", "8"],
    "nmt": ["--", "--batch-size", "8"],
    "mobilenet_v2": CONVOLUTIONAL,
    "resnet50": CONVOLUTIONAL,
    "densenet121": CONVOLUTIONAL,
    "inception_v3": CONVOLUTIONAL,
    "alexnet": [*CONVOLUTIONAL, "--dropout=0.5", "--init=normal:0.01"],
    "vgg16": [*CONVOLUTIONAL, "--dropout=0.5", "--init=normal:0.01"],
}


def run_equality(work, flags, rest):
    split = rest.index("--")
    command = [sys.executable, "-B", os.path.join(ROOT, "test/tools/run_equality.py"), *flags,
               "--work", work, *rest[:split], *rest[split:]]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ffc")
    parser.add_argument("--work", required=True, help="folder for programs and dumps")
    parser.add_argument("--ranks", nargs="+", type=int, default=[4, 8])
    parser.add_argument("--models", nargs="+", choices=MODELS, default=list(MODELS))
    arguments = parser.parse_args()
    failed = []
    for model in arguments.models:
        work = os.path.join(arguments.work, model)
        common = ["--ffc", arguments.ffc, "--model",
                  os.path.join(ROOT, f"examples/{model}/{model}.onnxtxt")]
        runs = [("reference", ["--reference", "--topology", "cpu:1"])]
        runs += [(f"{ranks} ranks", ["--topology", f"cpu:{ranks}", "--ranks", str(ranks), "--strategy",
                                     "search", "--case", "search"]) for ranks in arguments.ranks]
        for name, flags in runs:
            start = time.monotonic()
            result = run_equality(work, [*common, *flags], MODELS[model])
            said = (result.stderr or result.stdout).strip().splitlines()
            print(f"{model}, {name}: {'ok' if result.returncode == 0 else 'FAILED'} in "
                  f"{time.monotonic() - start:.0f} s: {said[-1] if said else ''}", flush=True)
            if result.returncode != 0:
                failed.append(f"{model}, {name}")
        run_equality(work, ["--remove"], MODELS[model])
    if failed:
        sys.exit(f"error: {'; '.join(failed)}")


if __name__ == "__main__":
    main()
