"""Models on clusters that bench/plans and bench/subspaces search, and what ffc says of a search."""

import os
import re
import subprocess

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
TABLES = ["--loss=mse", "--momentum", "0"]
# Model, samples a device, flags.
MODELS = [
    ("alexnet", 64, []), ("vgg16", 64, []), ("inception_v3", 32, ["--batch-norm=local"]),
    ("resnet50", 32, ["--batch-norm=local"]), ("densenet121", 32, ["--batch-norm=local"]),
    ("nmt", 64, []), ("dlrm", 256, TABLES),
    ("dlrm", 256, ["--loss=mse", "--table-gradients=dense"]),
    ("candle_uno", 64, ["--loss=mse"]), ("bert_large", 8, []), ("gpt2", 8, []), ("moe", 64, []),
]
# Preset by devices.
CLUSTERS = {
    "NVLink + InfiniBand": {4: "h200x8", 16: "h200x8:2", 64: "h200x8:8"},
    "P100": {4: "p100-cluster:1", 16: "p100-cluster:4", 64: "p100-cluster:16"},
    "K80": {4: "k80-cluster:1", 16: "k80-cluster:4", 64: "k80-cluster:16"},
    "Ethernet": {4: "ethernet:4", 16: "ethernet:16", 64: "ethernet:64"},
}
# Half a node of the first preset.
FOUR = "preset: h200x8\nnodes:\n  devices: 4 x h200\n  nic: {count: 4}\n"

NUMBER = r"([0-9.]+)( [num]?s)"
UNITS = {" s": 1e3, " ms": 1, " us": 1e-3, " ns": 1e-6}


def milliseconds(match, group):
    return float(match[group]) * UNITS[match[group + 1]]


def read(log):
    """The figures of a report, in milliseconds; None if there are none."""
    found = re.search(rf"found: {NUMBER}; no strategy takes less than {NUMBER} .*; "
                      rf"with communication {NUMBER}", log)
    if not found:
        return None
    result = {"found": milliseconds(found, 1), "device bound": milliseconds(found, 3),
              "bound": milliseconds(found, 5), "recipes": {}}
    for line in re.finditer(rf"ffc:   ([a-z].*?): {NUMBER}, [0-9.]+ times the strategy found(.*)",
                            log):
        if line[1] != "found" and "does not fit" not in line[4] and "beam" not in line[4]:
            result["recipes"].setdefault(line[1], milliseconds(line, 2))
    search = re.search(r"(\d+) proposals in ([0-9.]+) s", log)
    result["proposals"], result["seconds"] = (int(search[1]), float(search[2])) if search else (
        0, 0.0)
    return result


def model_file(model, folder):
    """Of an example, or one that examples/generate writes into the folder."""
    path = f"{ROOT}/examples/{model}/{model}.onnxtxt"
    if not os.path.exists(path):
        path = os.path.join(folder, f"{model}.onnxtxt")
        with open(path, "w", encoding="utf-8") as file:
            subprocess.run([f"{ROOT}/examples/generate", model], stdout=file, check=True)
    return path


def label(model, flags):
    return model + (" (dense tables)" if "--table-gradients=dense" in flags else "")


def cells(cluster, wanted, numbers, folder):
    """Pairs of a model's label and devices, with what ffc is called with, for one cluster."""
    four = os.path.join(folder, "four.yaml")
    with open(four, "w", encoding="utf-8") as file:
        file.write(FOUR)
    for model, batch, flags in MODELS:
        if wanted and model not in wanted:
            continue
        path = model_file(model, folder)
        for devices in numbers:
            preset = CLUSTERS[cluster][devices]
            yield label(model, flags), devices, [
                path, "--devices", four if preset == "h200x8" else preset,
                "--batch-size", str(batch * devices), *flags]
