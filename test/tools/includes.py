"""Checks who includes whom (docs/architecture.md): includes.py ROOT."""

import itertools
import os
import re
import sys

# The rooms of lib/Plan, folders of it, and which others the files of each may
# include: only rooms that stand before it, so that there are no cycles. A public
# header belongs to the room that has the .cpp of its name. docs/architecture.md has
# the same table, with what each room is for.
ROOMS = {
    "Text": "",
    "Graph": "",
    "Topology": "Text Graph",
    "FlexFlow": "Text Graph Topology",
    "Order": "Graph",
    "Strategy": "Text Graph Order",
    "Stages": "Text Topology Order",
    "Program": "Graph",
    "Collectives": "Topology Program",
    "Cost": "Text Graph Topology Program Collectives",
    "Memory": "Program",
    "Step": "Graph Program Cost Memory Order",
    "Timing": "Text Program Cost Step",
    "Segments": "Graph Memory Order Step Timing",
    "Verify": "Graph Topology Program Memory",
    "Report": "Cost Timing",
    "FlexNet": "Text Graph Strategy Cost Step",
}
# What the files of a folder may include, by the start of the include's path;
# besides these, their own folder's files and the standard library.
PLAN = ["ffc/Plan/"]
IR = ["ffc/IR/", "mlir/", "llvm/"]
ALLOWED = {
    "Plan": PLAN + ["yaml-cpp/"] + [f"{room}/" for room in ROOMS],
    "IR": PLAN + IR,
    "Reference": IR + ["ffc/Reference/"],
    "Import": IR + ["ffc/Import/", "onnx/", "google/protobuf/"],
    "Passes": PLAN + IR + ["ffc/Passes/"],
    "Search": PLAN + ["ffc/Search/"],
    "Network": PLAN + ["ffc/Network/", "lemon/", "flatbuffers/"],
    "Export": PLAN + ["ffc/Export/", "chakra.pb.h", "google/protobuf/"],
    "Codegen": PLAN + ["ffc/IR/Rank.h", "ffc/IR/NameOf.h", "ffc/IR/ScalarProgram.h", "mlir/",
                       "llvm/", "ffc/Codegen/"],
    "runtime/include": ["ffrt/", "cuda_runtime.h"],
    "runtime/src/common": ["ffrt/", "common/", "comm/launch.h", "nlohmann/", "omp.h",
                           "zlib.h"],
    "runtime/src/comm": ["ffrt/", "common/", "comm/", "mpi.h", "omp.h"],
    "runtime/src/cpu": ["ffrt/", "common/", "cpu/", "dnnl", "omp.h"],
    "runtime/src/cuda": ["ffrt/", "common/", "comm/", "cuda/", "cuda_runtime.h", "cublasLt.h",
                         "cudnn.h", "nccl.h"],
}
# Folders of the runtime that hold operators, each of common, cpu and cuda. What they
# compute does not depend on who trains on what, and is measured from outside.
OPERATORS = ("attention|conv|copy|elementwise|indexing|kernels|loss|matmul|normalize|optimizer|"
             "recurrent|reduce")
OPERATOR = re.compile(f"runtime/src/(common|cpu|cuda)/({OPERATORS})")
AROUND = re.compile("(common|cpu|cuda)/(program|data|checkpoint|profiling)/")
# The parts of libraries that only they include.
PRIVATE = ["yaml-cpp/", "onnx/", "google/protobuf/", "lemon/", "flatbuffers/"] + [f"{room}/" for room in ROOMS]
SYSTEM = re.compile(r"[a-z0-9_]+|((sys|linux)/)?(?!(mpi|omp|zlib|nccl|cudnn|cuda_runtime)\.h)"
                    r"[a-z0-9_]+\.h")


def includes(path):
    with open(path, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            match = re.match(r'\s*#?\s*include\s*([<"])([^>"]+)[>"]', line)
            if match:
                yield number, match.group(1), match.group(2)


def files(root, folder):
    for path, _, names in os.walk(os.path.join(root, folder)):
        for name in sorted(names):
            if name.endswith((".h", ".cpp", ".cu", ".inc", ".td")):
                yield os.path.join(path, name)


def wrong_arrows():
    """Rooms that may include what does not stand before them, as lines."""
    before = set()
    for room, others in ROOMS.items():
        for other in others.split():
            if other not in before:
                yield f"room {room} may not include {other}, which does not stand before it"
        before.add(room)


def documented(root):
    """Where docs/architecture.md has another table of the rooms, as lines."""
    path = "docs/architecture.md"
    with open(os.path.join(root, path), encoding="utf-8") as file:
        section = file.read().partition("\n## The rooms of `lib/Plan`\n")[2].partition("\n## ")[0]
    found = re.findall(r"^\| `(\w+)` \|[^|]*\| *([^|]*?) *\|$", section, re.MULTILINE)
    expected = [(room, ", ".join(others.split())) for room, others in ROOMS.items()]
    for have, want in itertools.zip_longest(found, expected, fillvalue=("", "")):
        if have != want:
            yield (f"{path}: expected room '{want[0]}' that includes '{want[1]}', found "
                   f"'{have[0]}' that includes '{have[1]}'")
            return


def rooms(root):
    """What is wrong among the rooms of lib/Plan, as lines."""
    wrong = [*wrong_arrows(), *documented(root)]
    unused = {(room, other) for room, others in ROOMS.items() for other in others.split()}
    sources = {path: os.path.relpath(os.path.dirname(path), os.path.join(root, "lib/Plan"))
               for path in files(root, "lib/Plan")}
    room_of = {os.path.basename(path): room for path, room in sources.items()}

    def room_of_header(path):
        return room_of.get(os.path.basename(path).removesuffix(".h") + ".cpp")

    headers = {path: room_of_header(path) for path in files(root, "include/ffc/Plan")}
    for path, room in [*sources.items(), *headers.items()]:
        where = os.path.relpath(path, root)
        if room not in ROOMS:
            wrong.append(f"{where}: is in no room of lib/Plan")
            continue
        for number, _, target in includes(path):
            other = (room_of_header(target) if target.startswith("ffc/Plan/")
                     else os.path.dirname(target))
            if other not in ROOMS or other == room:
                continue
            unused.discard((room, other))
            if other not in ROOMS[room].split():
                wrong.append(f"{where}:{number}: {room} may not include '{target}' of {other}")
    return wrong + [f"room {room} does not include {other} any more"
                    for room, other in sorted(unused)]


def libraries(root):
    """How many files there are, and what is wrong with them, as lines."""
    count, wrong = 0, []
    for part, allowed in ALLOWED.items():
        folders = [part] if part.startswith("runtime/") else [f"include/ffc/{part}", f"lib/{part}"]
        for folder in folders:
            public = folder.startswith("include/") or "/include/" in folder
            for path in files(root, folder):
                count += 1
                operator = OPERATOR.fullmatch(os.path.dirname(os.path.relpath(path, root)))
                for number, bracket, target in includes(path):
                    listed = any(target.startswith(a) for a in allowed)
                    if public and any(target.startswith(p) for p in PRIVATE):
                        listed = False
                    if operator and AROUND.match(target):
                        listed = False
                    beside = bracket == '"' and "/" not in target
                    if not listed and not beside and not SYSTEM.fullmatch(target):
                        wrong.append(f"{os.path.relpath(path, root)}:{number}: "
                                     f"{operator[0] if operator else part} may not include "
                                     f"'{target}'")
    return count, wrong


def main():
    root = sys.argv[1]
    count, wrong = libraries(root)
    wrong += rooms(root)
    print("\n".join(wrong + [f"{count} files"]))
    sys.exit(bool(wrong) or not count)


if __name__ == "__main__":
    main()
