"""Plants faults in the sources of a program, one at a time, and checks that `ffc verify` finds
each of them, says on which rank, and names the task or the layer.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile


def replace(text, pattern, by, flags=re.MULTILINE):
    changed, count = re.subn(pattern, by, text, count=1, flags=flags)
    if count == 0 or changed == text:
        sys.exit(f"error: expected '{pattern}' in the program, found none")
    return changed


def exchange_ranks(text):
    """The first two ranks of different places."""
    head, places = text.split("/*places=*/{\n")
    lines = places.split("\n")
    other = next(i for i, line in enumerate(lines) if line != lines[0])
    lines[0], lines[other] = lines[other], lines[0]
    return head + "/*places=*/{\n" + "\n".join(lines)


# Of each: the file, what is done, and what the message must say beside the rank.
FAULTS = {
    "exchange deleted": ("train.cpp", lambda t: replace(t, r"^ +\w+_exchange\(\);\n", ""), "exchange"),
    "exchange doubled": ("train.cpp", lambda t: replace(t, r"^( +\w+_exchange\(\);\n)", r"\1\1"), "exchange"),
    "exchange's peer changed": (
        "ranks.inc", lambda t: replace(t, r"(exchange, \d+, \d+, \d+, \d+, \d+, 1, )(\d)",
                                       lambda m: m[1] + ("0" if m[2] != "0" else "1")), "exchange"),
    "wait deleted": ("ranks.inc", lambda t: replace(t, r"^ +wait, 0,\n", ""), "rows of '"),
    "copy deleted": ("ranks.inc", lambda t: replace(t, r"^ +copies, .*\n", ""), "rows of '"),
    "copy's place changed": (
        "ranks.inc", lambda t: replace(t, r"(copies, .*, )(\d+),$",
                                       lambda m: m[1] + str(int(m[2]) + 1) + ","), "replace"),
    "collective deleted": ("ranks.inc", lambda t: replace(t, r"^ +collective, .*\n", ""), "rows of '"),
    "collective doubled": (
        "train.cpp", lambda t: replace(t, r"^( +\w+_(sum|gather|broadcast)\(\);\n)", r"\1\1"), "#"),
    "kernel deleted": ("train.cpp", lambda t: replace(t, r"^ +conv_forward\(\);\n", ""), "ConvForward"),
    "kernel doubled": (
        "train.cpp", lambda t: replace(t, r"^( +conv_forward\(\);\n)", r"\1\1"), "ConvForward"),
    "operands exchanged": (
        "train.cpp", lambda t: replace(t, r"\{output_grad, (\w+)\}", r"{\1, output_grad}"), "#"),
    "offset changed": (
        "ranks.inc", lambda t: replace(t, r"arena, (\d+),", lambda m: f"arena, {int(m[1]) + 64},"), "buffer"),
    "attribute changed": (
        "train.cpp", lambda t: replace(t, r"/\*strides=\*/Ints\{1, 1\}", "/*strides=*/Ints{2, 2}"), "ConvForward"),
    "order changed": (
        "train.cpp", lambda t: replace(t, r"^( +\w+\.backward\(\);\n)( +\w+\.\w+\(\);\n)", r"\2\1"), "#"),
    "group changed": (
        "ranks.inc", lambda t: replace(t, r"(/\*groups=\*/\{\n +\{)\d", lambda m: m[1] + "7"), "group"),
    "ranks exchanged": ("ranks.inc", exchange_ranks, "buffer"),
}


def verify(ffc, folder):
    return subprocess.run([ffc, "verify", folder], capture_output=True, text=True, check=False)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ffc")
    parser.add_argument("folder", help="as --emit=source writes it")
    arguments = parser.parse_args()
    result = verify(arguments.ffc, arguments.folder)
    if result.returncode != 0:
        sys.exit(f"error: without a fault: {result.stderr}")
    for name, (file, plant, word) in FAULTS.items():
        with tempfile.TemporaryDirectory() as work:
            for each in ("train.cpp", "ranks.inc", "plan.rank"):
                shutil.copy(os.path.join(arguments.folder, each), work)
            path = os.path.join(work, file)
            with open(path, encoding="utf-8") as source:
                text = plant(source.read())
            with open(path, "w", encoding="utf-8") as source:
                source.write(text)
            result = verify(arguments.ffc, work)
        if result.returncode != 1 or not re.search(r"rank \d+", result.stderr) \
                or word not in result.stderr:
            sys.exit(f"error: {name}: expected a message with a rank and '{word}', found status "
                     f"{result.returncode}: {result.stdout}{result.stderr}")
        print(f"{name}: {result.stderr.strip()}")


if __name__ == "__main__":
    main()
