"""Prints what each rewrite gives, by the simulator: a table of predicted steps.

  bench/rewrites.py FFC [MODEL...]     the models of the table below, or some of them

For each model on each topology: what a search finds for the model's own graph, for the
graph rewritten by each rule alone that finds a place, and by those that --rewrites=auto
takes; and how long the choice of these takes beside the search. Pipelines and
recomputation are left out, which are tried when the graph has been chosen.
"""

import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RULES = ["move-transposes", "merge-narrow-products", "merge-wide-products", "join-sums",
         "batch-products"]
LARGE = ["--precision=bf16", "--optimizer=adamw"]
# Name, arguments of examples/generate or a file, topology, flags.
CASES = [
    ("llama3_70b, 4 layers", ["llama3_70b", "--layers", "4"], "h200x8:1",
     ["--batch-size=1"] + LARGE),
    ("llama3_70b, 4 layers", ["llama3_70b", "--layers", "4"], "h200x8:1",
     ["--batch-size=8"] + LARGE),
    ("llama3_70b, 4 layers", ["llama3_70b", "--layers", "4"], "h200x8:4",
     ["--batch-size=8"] + LARGE),
    ("t5_11b, 4 layers", ["t5_11b", "--layers", "4"], "h200x8:1",
     ["--batch-size=8"] + LARGE),
    ("gpt2, 4 layers", ["gpt2", "--layers", "4"], "p100-cluster:2", ["--batch-size=16"]),
    ("bert_large, 4 layers", ["bert_large", "--layers", "4"], "ethernet:8",
     ["--batch-size=64"]),
    ("nmt", "examples/nmt/nmt.onnxtxt", "h200x8:1", ["--batch-size=64"]),
    ("moe_encoder", "examples/moe_encoder/moe_encoder.onnxtxt", "h200x8:1",
     ["--batch-size=64"]),
    ("llama-small", "test/Models/llama-small.onnxtxt", "cpu:2", []),
    ("dlrm-small", "test/Models/dlrm-small.onnxtxt", "cpu:2", []),
]


def fail(message):
    sys.exit("bench/rewrites.py: " + message)


def model_file(source, folder):
    if isinstance(source, str):
        return os.path.join(ROOT, source)
    path = os.path.join(folder, "_".join(source).replace("-", "") + ".onnxtxt")
    if not os.path.exists(path):
        with open(path, "w", encoding="utf-8") as file:
            subprocess.run([os.path.join(ROOT, "examples", "generate")] + source,
                           stdout=file, check=True)
    return path


def compiled(ffc, model, topology, flags, rewrites, folder):
    """The report of a search."""
    run = subprocess.run(
        [ffc, model, "--devices", topology, "--emit=plan", "-o",
         os.path.join(folder, "plan"), "--search-schedules=none",
         "--search-recompute=none", "--rewrites=" + rewrites] + flags,
        stderr=subprocess.PIPE, encoding="utf-8", check=False)
    if run.returncode:
        fail(f"{model} on {topology}: {run.stderr}")
    return run.stderr


def step(report):
    """Of the strategy taken, in ms."""
    return float(re.search(r"predicted step ([0-9.]+) ms", report)[1])


def seconds(report, phase):
    found = re.search(rf"\b{phase} ([0-9.]+) s", report)
    return float(found[1]) if found else 0.0


def row(ffc, name, source, topology, flags, folder):
    model = model_file(source, folder)
    plain_report = compiled(ffc, model, topology, flags, "none", folder)
    plain = step(plain_report)
    cells = []
    for rule in RULES:
        report = compiled(ffc, model, topology, flags, rule, folder)
        found = re.search(rf"rewrites: {rule} in (\d+) place", report)
        cells.append("" if found[1] == "0" else f"{step(report) / plain:.3f}")
    auto = compiled(ffc, model, topology, flags, "auto", folder)
    taken = re.findall(r"^ffc:   (\S+) in .*, taken$", auto, re.MULTILINE)
    batch = next((f.split("=")[1] for f in flags if f.startswith("--batch-size")), "")
    return [name, batch, topology, f"{plain:.3f} ms"] + cells + [
        f"{step(auto) / plain:.3f}", ", ".join(taken) or "none",
        f"{seconds(auto, 'rewrite'):.1f} s", f"{seconds(plain_report, 'search'):.1f} s"]


def main():
    if len(sys.argv) < 2:
        fail("expected the path of ffc and names of models, found nothing")
    wanted = sys.argv[2:]
    head = ["model", "batch", "devices", "own graph"] + RULES + [
        "auto", "takes", "choice", "search"]
    print("| " + " | ".join(head) + " |")
    print("| --- | ---: | --- |" + " ---: |" * (len(RULES) + 2) + " --- | ---: | ---: |",
          flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for case in CASES:
            if not wanted or case[0] in wanted:
                print("| " + " | ".join(row(sys.argv[1], *case, folder)) + " |",
                      flush=True)


if __name__ == "__main__":
    main()
