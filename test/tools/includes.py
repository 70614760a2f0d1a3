"""Checks who includes whom (docs/architecture.md): includes.py ROOT."""

import os
import re
import sys

# What the files of a folder may include, by the start of the include's path;
# besides these, their own folder's files and the standard library.
PLAN = ["ffc/Plan/"]
IR = PLAN + ["ffc/IR/", "mlir/", "llvm/"]
ALLOWED = {
    "Plan": PLAN + ["yaml-cpp/"],
    "IR": IR,
    "Import": IR + ["ffc/Import/", "onnx/", "google/protobuf/"],
    "Passes": IR + ["ffc/Passes/"],
    "Search": PLAN + ["ffc/Search/"],
    "Codegen": IR + ["ffc/Codegen/"],
    "runtime/include": ["ffrt/", "cuda_runtime.h"],
    "runtime/src/common": ["ffrt/", "common/", "comm/launch.h", "omp.h", "zlib.h"],
    "runtime/src/comm": ["ffrt/", "common/", "comm/", "mpi.h", "omp.h"],
    "runtime/src/cpu": ["ffrt/", "common/", "cpu/", "dnnl", "omp.h"],
    "runtime/src/cuda": ["ffrt/", "common/", "comm/", "cuda/", "cuda_runtime.h", "cublasLt.h",
                         "cudnn.h", "nccl.h"],
}
# The parts of libraries that only they include.
PRIVATE = ["yaml-cpp/", "onnx/", "google/protobuf/"]
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


def main():
    root = sys.argv[1]
    count, wrong = 0, []
    for part, allowed in ALLOWED.items():
        folders = [part] if part.startswith("runtime/") else [f"include/ffc/{part}", f"lib/{part}"]
        for folder in folders:
            public = folder.startswith("include/") or "/include/" in folder
            for path in files(root, folder):
                count += 1
                for number, bracket, target in includes(path):
                    listed = any(target.startswith(a) for a in allowed)
                    if public and any(target.startswith(p) for p in PRIVATE):
                        listed = False
                    beside = bracket == '"' and "/" not in target
                    if not listed and not beside and not SYSTEM.fullmatch(target):
                        wrong.append(f"{os.path.relpath(path, root)}:{number}: "
                                     f"{part} may not include '{target}'")
    print("\n".join(wrong + [f"{count} files"]))
    sys.exit(bool(wrong) or not count)


if __name__ == "__main__":
    main()
