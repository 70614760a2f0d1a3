#!/usr/bin/env python3
"""Changes models at random and gives them to ffc, which must answer each with a
plan or one error: never a crash, an internal error, a hang or all of the memory.

    mutate_models.py FFC MODEL... --seconds N --seed N --keep FOLDER

Of ONNX text, tokens are replaced by others of the file and by numbers, names
and words that are trouble; of other files bytes. What failed is kept, with a
line per file on stdout. The seed of every file is in its name.
"""

import argparse
import os
import random
import re
import resource
import subprocess
import sys
import time

TOKEN = re.compile(rb'"[^"\n]*"|[A-Za-z_][\w.]*|-?\d+(?:\.\d+)?(?:e-?\d+)?|\s+|.', re.S)
NUMBERS = [b"0", b"1", b"2", b"-1", b"3", b"7", b"8", b"9", b"64", b"65536", b"65537",
           b"1000000000", b"2147483647", b"2147483648", b"-2147483648", b"4294967296",
           b"1125899906842624", b"9223372036854775807", b"-9223372036854775808",
           b"0.5", b"1e38", b"-1e300", b"nan", b"1e-45"]
OPERATORS = (
    b"Abs Add And ArgMax AveragePool BatchNormalization Cast Ceil Clip Compress Concat "
    b"Constant ConstantOfShape Conv ConvTranspose CumSum DepthToSpace Div Dropout Einsum "
    b"Equal Exp Expand Flatten GRU Gather GatherElements GatherND Gemm GlobalAveragePool "
    b"Greater Hardmax Identity InstanceNormalization LRN LSTM LayerNormalization LeakyRelu "
    b"LogSoftmax LpNormalization MatMul Max MaxPool Mean Min Mod Mul Neg NonZero Not OneHot "
    b"PRelu Pad Pow RNN Range Reciprocal ReduceL2 ReduceLogSumExp ReduceMax ReduceMean "
    b"ReduceSum Relu Reshape Resize ReverseSequence ScatterElements ScatterND Shape Sigmoid "
    b"Sign Size Slice Softmax SoftmaxCrossEntropyLoss SpaceToDepth Split Squeeze Sub Sum "
    b"Tile TopK Transpose Trilu Unsqueeze Upsample Where Xor").split()
TYPES = [b"float", b"double", b"float16", b"bfloat16", b"int64", b"int32", b"uint8",
         b"bool", b"string"]
NAMES = [b"loss", b"target", b"x", b"y", b"", b"int", b"rank0", b"main"]

MEMORY = 4 << 30  # of address space
SECONDS = 20


def mutate_text(random_, data):
    tokens = TOKEN.findall(data)
    words = [i for i, token in enumerate(tokens) if token.strip()]
    for _ in range(random_.choice([1, 1, 1, 2, 3, 5])):
        i = random_.choice(words)
        token = tokens[i]
        kind = random_.random()
        if re.fullmatch(rb"-?\d.*", token):
            new = random_.choice(NUMBERS)
        elif token in OPERATORS and kind < 0.7:
            new = random_.choice(OPERATORS)
        elif token in TYPES:
            new = random_.choice(TYPES)
        elif kind < 0.6:
            new = tokens[random_.choice(words)]
        elif kind < 0.7:
            new = random_.choice(NAMES)
        elif kind < 0.85:
            new = b""
        else:
            new = token + b" " + token
        tokens[i] = new
    if random_.random() < 0.1:
        lines = b"".join(tokens).split(b"\n")
        random_.shuffle(lines)
        return b"\n".join(lines)
    return b"".join(tokens)


def mutate_bytes(random_, data):
    data = bytearray(data)
    for _ in range(random_.choice([1, 1, 2, 4, 8])):
        at = random_.randrange(len(data))
        kind = random_.randrange(5)
        if kind == 0:
            data[at] = random_.randrange(256)
        elif kind == 1:
            data[at] ^= 1 << random_.randrange(8)
        elif kind == 2:
            del data[at:at + random_.randrange(1, 9)]
        elif kind == 3:
            data[at:at] = data[at:at + random_.randrange(1, 33)]
        else:
            data[at:at] = b"\xff" * random_.randrange(1, 10) + b"\x01"
        if not data:
            data = bytearray(b"\0")
    return bytes(data)


def run(command):
    """Why the run is at fault, or None."""
    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True,
                              timeout=SECONDS, preexec_fn=limit, check=False)
    except subprocess.TimeoutExpired:
        return f"no end within {SECONDS} s"
    err = done.stderr.decode(errors="replace")
    errors = [line for line in err.splitlines() if line.startswith("ffc: error: ")]
    if done.returncode not in (0, 1, 2):
        return f"status {done.returncode}: {err[-300:]}"
    if "internal error" in err or "out of memory" in err:
        return (errors or [err])[0][:300]
    if done.returncode != 0 and len(errors) != 1:
        return f"expected one error, found {err[-300:]!r}"
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ffc")
    parser.add_argument("models", nargs="+")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", required=True, help="a folder")
    parser.add_argument("--flags", default="--devices cpu:2 --strategy data-parallel")
    arguments = parser.parse_args()

    os.makedirs(arguments.keep, exist_ok=True)
    seeds = []
    for path in arguments.models:
        with open(path, "rb") as file:
            seeds.append((path, file.read()))
    end = time.monotonic() + arguments.seconds
    count, failed, reasons = 0, 0, set()
    while time.monotonic() < end:
        seed = arguments.seed * 1_000_000 + count
        count += 1
        random_ = random.Random(seed)
        path, data = random_.choice(seeds)
        isText = path.endswith(".onnxtxt")
        data = (mutate_text if isText else mutate_bytes)(random_, data)
        ending = "onnxtxt" if isText else "onnx"
        base = os.path.basename(path).split(".")[0]
        model = os.path.join(arguments.keep, f"{base}-{seed}.{ending}")
        with open(model, "wb") as file:
            file.write(data)
        mode = random_.choice(["--mode=infer", "--loss=none", "--loss=mse",
                               "--loss=cross-entropy", "--mode=infer"])
        reason = run([arguments.ffc, model, *arguments.flags.split(), mode,
                      "--emit=rank", "-o", "/dev/null"])
        if reason is None:
            os.remove(model)
            continue
        failed += 1
        short = re.sub(r"'[^']*'|\d+", "", reason)
        if short in reasons:
            os.remove(model)
            continue
        reasons.add(short)
        print(f"{model} {mode}: {reason}", flush=True)
    print(f"{count} models, {failed} failed, {len(reasons)} in different ways")
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
