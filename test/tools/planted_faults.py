"""Plants faults in the sources of a program, one at a time, and checks that `ffc verify` finds
each of them, says on which rank, and names the task or the layer. Then the same in its plan, at
several places each.
"""

import argparse
import os
import random
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


def line_of(operator, change):
    """Changes a line of the operator, drawn from those that `change` can change."""
    def plant(text, draw):
        lines = text.split("\n")
        changed = []
        for i, line in enumerate(lines):
            if f"rank.{operator} " in line and (new := change(line)) != line:
                changed.append((i, new))
        if not changed:
            sys.exit(f"error: expected a rank.{operator} to change, found none")
        i, new = draw.choice(changed)
        lines[i:i + 1] = [] if new is None else new.split("\n")
        return "\n".join(lines)
    return plant


def onto_another(text, draw):
    """A buffer lies where another one is that the same kernel reads."""
    lines = text.split("\n")
    changed, arena = [], {}
    for line_number, line in enumerate(lines):
        if "rank.func " in line:
            arena = {}
        buffer = re.match(r' *(%\S+) = rank.buffer .*"arena" at <\[(\d+)\]', line)
        if buffer:
            arena[buffer[1]] = (line_number, buffer[2])
        kernel = re.match(r" *rank.kernel [^(]*\(([^)]*)\)", line)
        if not kernel:
            continue
        read = [arena[name] for name in kernel[1].split(", ") if name in arena]
        changed += [(moved, at, to) for _, to in read for moved, at in read if at != to]
    if not changed:
        sys.exit("error: expected a kernel that reads two buffers of the arena, found none")
    moved, at, to = draw.choice(changed)
    lines[moved] = lines[moved].replace(f'"arena" at <[{at}]', f'"arena" at <[{to}]')
    return "\n".join(lines)


AGAIN = re.compile(r"task <\[[^\]]*, -4\]")


def without_output(text):
    """All copies of an output may be offered."""
    name = re.search(r'rank.probe ("[^"]+")', text)[1]
    return "\n".join(line for line in text.split("\n") if f"rank.probe {name}" not in line)


def by(pattern, to):
    return lambda line: re.sub(pattern, to, line, count=1)


def one_more(match):
    return f"{match[1]}{int(match[2]) + 1}"


def doubled(line):
    return line + "\n" + line if "= rank." not in line else line


# Of each: what is done to the text of the plan.
PLAN_FAULTS = {
    "wait deleted": line_of("wait", lambda line: None),
    "copy deleted": line_of("copy", lambda line: None),
    "copy's source moved": line_of("copy", by(r"(from %\S+ at <\[)(\d+)", one_more)),
    "copy's target moved": line_of("copy", by(r"(\S+ at <\[)(\d+)", one_more)),
    "copy is a sum": line_of("copy", by('"none"', '"sum"')),
    "sum is a copy": line_of("copy", by('"sum"', '"none"')),
    "sum doubled": line_of("copy", lambda line: doubled(line) if '"sum"' in line else line),
    "kernel deleted": line_of("kernel", lambda line: None),
    "kernel of another name": line_of("kernel", by(r'(rank.kernel "\w+)"', r'\1_2"')),
    "attribute changed": line_of("kernel", by(r"momentum = 9", "momentum = 8")),
    "operands exchanged": line_of("kernel", by(r"\((%[^\s,()]+), (%[^\s,()]+)", r"(\2, \1")),
    "tile moved": line_of("kernel", by(r"(tile <\[)(\d+)", one_more)),
    "another grid point": line_of("kernel", by(r"(task <\[\d+, \d+, )(\d+)", one_more)),
    "another operator": line_of("kernel", by(r"(task <\[)(\d+)", one_more)),
    "another tag": line_of("exchange", by(r"( tag )(\d+)", one_more)),
    "receives exchanged": line_of("exchange", by(r"receive\((%[^\s,()]+), (%[^\s,()]+)", r"receive(\2, \1")),
    "another peer": line_of("exchange", by(r"( to <\[)(\d)", lambda m: m[1] + str((int(m[2]) + 1) % 3))),
    "another group": line_of("collective", by(r"(group <\[)(\d+)", one_more)),
    "buffer moved": onto_another,
    "buffer of another part": line_of("buffer", by(r"(region <\[1, \d+, )(\d+)", one_more)),
    "input's name": line_of("input", by(r'"(\w+)"', r'"\1_2"')),
    "state's name": line_of("state", by(r'"(\w+)" "parameter"', r'"\1_2" "parameter"')),
    "state's first contents": line_of("state", by(r'"uniform"', '"normal"')),
    "output deleted": lambda text, draw: without_output(text),
}


# Of what is computed again.
AGAIN_FAULTS = {
    "kernel again deleted": line_of("kernel", lambda line: None if AGAIN.search(line) else line),
    "kernel not again": line_of("kernel", by(r"(task <\[.*, )-4\]", r"\g<1>0]")),
    "kernel again, which is kept": lambda text, draw: text.replace("], again>", "]>"),
    "tile again moved": line_of(
        "kernel", lambda line: by(r"(tile <\[)(\d+)", one_more)(line) if AGAIN.search(line) else line),
    "another grid point again": line_of("kernel", by(r"(task <\[\d+, \d+, )(\d+)(?=, -4)", one_more)),
}


# Of a pipeline, whose kernels add up gradients.
PIPELINE_FAULTS = {
    "pass deleted": ("train.cpp", lambda t: replace(t, r"run<Train>\(\{&Train::\w+,\s+", "run<Train>({"), "number of a pass"),
    "passes exchanged": (
        "ranks.inc", lambda t: replace(t, r"(/\* passes \*/ .*) (\d+), (?!\2,)(\d+),", r"\1 \3, \2,"), "#"),
    "pass too many": (
        "ranks.inc", lambda t: replace(t, r"/\* passes \*/ (\d+), (\d+),",
                                       lambda m: f"/* passes */ {int(m[1]) + 1}, {m[2]}, {m[2]},"), "action"),
    "turn deleted": ("train.cpp", lambda t: replace(t, r"^ +\w+\.next\(\);\n", ""), "action"),
    "turn doubled": ("train.cpp", lambda t: replace(t, r"^( +\w+\.next\(\);\n)", r"\1\1"), "action"),
    "call deleted from a pass": (
        "train.cpp", lambda t: replace(t, r"(void forward\(\) \{\n(?: +\w+\.exchange\w*\(\);\n)*) +\w+\.forward\w*\(\);\n",
                                       r"\1"), "#"),
}
PIPELINE_PLAN_FAULTS = {
    "sum overwritten": line_of("kernel", by(r"adds_to \[0\] ", "")),
    "first of a sum adds": line_of(
        "kernel", lambda line: by(r"statement", "adds_to [0] statement")(line)
        if "adds_to" not in line and '"mat_mul' in line else line),
    "adds to another result": line_of("kernel", by(r"adds_to \[0\]", "adds_to [1]")),
}


def verify(ffc, folder):
    return subprocess.run([ffc, "verify", folder], capture_output=True, text=True, check=False)


def check_text(ffc, folder, faults):
    result = verify(ffc, folder)
    if result.returncode != 0:
        sys.exit(f"error: without a fault: {result.stderr}")
    for name, (file, plant, word) in faults.items():
        with tempfile.TemporaryDirectory() as work:
            for each in ("train.cpp", "ranks.inc", "plan.rank"):
                shutil.copy(os.path.join(folder, each), work)
            path = os.path.join(work, file)
            with open(path, encoding="utf-8") as source:
                text = plant(source.read())
            with open(path, "w", encoding="utf-8") as source:
                source.write(text)
            result = verify(ffc, work)
        if result.returncode != 1 or not re.search(r"rank \d+", result.stderr) \
                or word not in result.stderr:
            sys.exit(f"error: {name}: expected a message with a rank and '{word}', found status "
                     f"{result.returncode}: {result.stdout}{result.stderr}")
        print(f"{name}: {result.stderr.strip()}")


# The rank or device, or what has none: a line of text, an operator of all, an output.
WHERE = r"\b(rank|device|line) \d+|'rank\.\w+' op |output '"


def check_plan(ffc, path, faults, seeds):
    with open(path, encoding="utf-8") as source:
        text = source.read()
    for name, plant in faults.items():
        for seed in range(seeds):
            with tempfile.TemporaryDirectory() as work:
                planted = os.path.join(work, "plan.rank")
                with open(planted, "w", encoding="utf-8") as target:
                    target.write(plant(text, random.Random(seed)))
                result = verify(ffc, planted)
            if result.returncode != 1 or not re.search(WHERE, result.stderr):
                sys.exit(f"error: plan: {name}, seed {seed}: expected a message with a rank or a place, "
                         f"found status {result.returncode}: {result.stdout}{result.stderr}")
        print(f"plan: {name}: {result.stderr.strip()[:300]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ffc")
    parser.add_argument("folder", help="as --emit=source writes it")
    parser.add_argument("again", help="plan that computes something again, of --emit=rank")
    parser.add_argument("pipeline", help="folder of a pipeline")
    arguments = parser.parse_args()
    check_text(arguments.ffc, arguments.folder, FAULTS)
    check_plan(arguments.ffc, os.path.join(arguments.folder, "plan.rank"), PLAN_FAULTS, seeds=4)
    check_plan(arguments.ffc, arguments.again, AGAIN_FAULTS, seeds=4)
    check_text(arguments.ffc, arguments.pipeline, PIPELINE_FAULTS)
    check_plan(arguments.ffc, os.path.join(arguments.pipeline, "plan.rank"), PIPELINE_PLAN_FAULTS, seeds=4)


if __name__ == "__main__":
    main()
