"""Compares --simulator=flexflow with the program that it is a model of.

  test/tools/flexflow_simulator.py SIMULATOR.CC build/bin/ffc [--strategies 20] [--seed 1]

SIMULATOR.CC is scripts/simulator.cc of FlexFlow's repository before 2022-08-13. It is compiled
for each cluster with kernel times as those of the preset flexflow-sim, and with a main that times
given strategies: random ones of AlexNet, and what short searches of ffc find for its NMT. Both
must say the same, up to the three digits that ffc prints. Needs a file that is not ours, so it is
no part of the tests; takes a minute.
"""

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
CLUSTERS = [(1, 2), (1, 4), (2, 4), (4, 4)]
ALEXNET = ["Conv2D", "Pool2D", "Conv2D", "Pool2D", "Conv2D", "Conv2D", "Conv2D", "Pool2D", "Flat",
           "Dense", "Dense", "Dense"]

# In place of the header that measures kernels: a roofline of 4 TFLOP/s and 500 GB/s, 20 us a kernel.
KERNELS = r"""
#include <algorithm>
#include <cstring>
#include <string>
static float kernels(int number, double flops, double elements) {
  return number * (0.02 + std::max(flops / 4e9, 4 * elements / 500e6));
}
static void init_cudnn() {}
static float measure_conv2d_time(double n, double ci, double hi, double wi, double co, double ho,
                                 double wo, double kh, double kw, int, int, int, int) {
  double x = n * ci * hi * wi, y = n * co * ho * wo, w = co * ci * kh * kw;
  return kernels(3, 2 * y * ci * kh * kw, x + y + w);
}
static float measure_pool2d_time(double n, double c, double hi, double wi, double ho, double wo,
                                 int, int, int, int, int, int) {
  return kernels(2, 0, n * c * (hi * wi + ho * wo));
}
static float measure_linear_time(double n, double i, double o, bool) {
  return kernels(3, 2 * n * i * o, n * i + n * o + i * o);
}
static float measure_lstm_time(int, int steps, double n, double i, double h) {
  return kernels(3 * steps, 8 * n * (i + h) * h, n * (i + h) + 4 * n * h + 4 * h * (i + h));
}
"""
MAIN = r"""
int main() {
  %s();
  int strategies, degrees;
  for (std::cin >> strategies; strategies > 0; --strategies) {
    std::map<Op *, OpConfig> configs;
    for (int i = 0; i < op_global_guid; i++) {
      OpConfig config;
      std::cin >> config.nDims;
      config.nParts = 1;
      for (int d = 0; d < config.nDims; d++) {
        std::cin >> config.dim[d];
        config.nParts *= config.dim[d];
      }
      for (int part = 0; part < config.nParts; part++)
        std::cin >> config.map[part];
      configs[guidToOp[i]] = config;
    }
    fprintf(stderr, "%%.6f\n", simulate_time(configs));
  }
}
"""


def build(source, folder, builder, nodes, per_node):
    """The program for a cluster."""
    with open(source, encoding="utf-8") as file:
        text = file.read()
    text = text[:text.index("int main(")] + MAIN % builder
    for name, value in (("NUM_NODES", nodes), ("WORKERS_PER_NODE", per_node)):
        text = re.sub(rf"const int {name} = \d+;", f"const int {name} = {value};", text)
    path = os.path.join(folder, "program")
    for name, content in (("cnn.h", KERNELS), ("program.cc", text)):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)
    subprocess.run(["c++", "-O2", "-w", "-I", folder, "-o", path, path + ".cc"], check=True)
    return path


def times(program, strategies):
    """What the program says of strategies, lists of (degrees, devices) by operator."""
    numbers = [len(strategies)]
    for strategy in strategies:
        for degrees, devices in strategy:
            numbers += [len(degrees), *degrees, *devices]
    run = subprocess.run([program], input=" ".join(map(str, numbers)), text=True, check=True,
                         capture_output=True)
    return [float(line) for line in run.stderr.split()]


def ffc_time(ffc, model, devices, samples, *flags):
    command = [ffc, model, "--devices", devices, "--batch-size", str(samples), "--emit=plan", "-o",
               os.devnull, "--memory-limit", "1TB", "--simulator=flexflow", *flags]
    run = subprocess.run(command, text=True, capture_output=True)
    found = re.search(r"FlexFlow's simulator: ([0-9.]+) ms", run.stderr)
    if not found:
        sys.exit(f"{' '.join(command)}:\n{run.stderr}")
    return float(found[1])


def random_strategy(devices):
    """Of AlexNet: any degrees, parts anywhere or on a few devices."""
    result = []
    for kind in ALEXNET:
        samples = 1 << random.randrange(devices.bit_length())
        degrees = [samples, devices // samples] if kind == "Dense" else [samples]
        parts = devices if kind == "Dense" else samples
        places = random.choices(range(devices), k=random.randint(1, devices))
        result.append((degrees, random.choices(places, k=parts)))
    return result


def text_of(strategy):
    """FlexFlow's text form: the innermost dimension first."""
    lines = [len(strategy)]
    for number, (kind, (degrees, devices)) in enumerate(zip(ALEXNET, strategy)):
        dims = degrees[::-1]
        if kind in ("Conv2D", "Pool2D"):
            dims = [1, 1, 1] + dims
        elif kind == "Flat":
            dims = [1] + dims
        lines += [f"{kind}_{100 + number}", 0, len(dims), *dims, len(devices), *devices]
    return "\n".join(map(str, lines)) + "\n"


def nmt_strategy(text):
    """Of what ffc has written: embeddings, LSTMs, and the products that are none of theirs."""
    words = iter(text.split())
    by_kind = {"Embedding": [], "LSTM": [], "Dense": []}
    for _ in range(int(next(words))):
        kind = next(words).split("_")[0]
        next(words)
        dims = [int(next(words)) for _ in range(int(next(words)))]
        devices = [int(next(words)) for _ in range(int(next(words)))]
        if kind in by_kind:
            degrees = {"Embedding": dims[2:], "LSTM": dims[1:2], "Dense": [dims[2], dims[0]]}
            by_kind[kind].append((degrees[kind], devices))
    return by_kind["Embedding"] + by_kind["LSTM"] + by_kind["Dense"][-5:]


def compare(what, program, strategies, ours):
    worst = max(abs(a - b) for a, b in zip(times(program, strategies), ours))
    print(f"{what}: {len(ours)} strategies of {min(ours):.3f} to {max(ours):.3f} ms, "
          f"at most {worst:.4f} ms apart")
    return worst < 0.001


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("source", help="scripts/simulator.cc of FlexFlow")
    parser.add_argument("ffc")
    parser.add_argument("--strategies", type=int, default=20, help="of each model and cluster (20)")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    random.seed(args.seed)
    agrees = True
    with tempfile.TemporaryDirectory() as folder:
        path, nmt = os.path.join(folder, "s"), os.path.join(folder, "nmt.onnxtxt")
        with open(nmt, "w", encoding="utf-8") as file:
            subprocess.run([os.path.join(ROOT, "examples/generate"), "flexflow_nmt"], stdout=file,
                           check=True)
        for nodes, per_node in CLUSTERS:
            count = nodes * per_node
            cluster = f"flexflow-sim:{nodes}x{per_node}"
            strategies, ours = [random_strategy(count) for _ in range(args.strategies)], []
            for strategy in strategies:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(text_of(strategy))
                ours.append(ffc_time(args.ffc, os.path.join(ROOT, "examples/alexnet/alexnet.onnxtxt"),
                                     cluster, 64 * count, "--strategy", path))
            program = build(args.source, folder, "build_alexnet_model", nodes, per_node)
            agrees &= compare(f"AlexNet on {cluster}", program, strategies, ours)
            strategies, ours = [], []
            for seed in range(args.strategies):
                ours.append(ffc_time(args.ffc, nmt, cluster, 64 * count, "--seed", str(seed),
                                     "--search-budget", str(random.choice([50, 500, 2000])),
                                     "--export-strategy", path))
                with open(path, encoding="utf-8") as file:
                    strategies.append(nmt_strategy(file.read()))
            program = build(args.source, folder, "build_nmt_model", nodes, per_node)
            agrees &= compare(f"NMT on {cluster}", program, strategies, ours)
    sys.exit(0 if agrees else "expected the same times, found others")


if __name__ == "__main__":
    main()
