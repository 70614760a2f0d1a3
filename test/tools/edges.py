"""Who may include whom (docs/architecture.md): checks the includes of every library.

  edges.py SOURCE_DIR

A library is a folder of lib/ and include/ffc/, or runtime. Private headers are
included by their own library only.
"""

import os
import re
import sys

# library -> (other libraries of ffc, MLIR and LLVM, single headers beyond these)
ALLOWED = {
    "Plan": ({"Plan"}, False, set()),
    "IR": ({"IR", "Plan"}, True, set()),
    "Import": ({"Import", "IR", "Plan"}, True, set()),
    "Passes": ({"Passes", "IR", "Plan"}, True, set()),
    "Search": ({"Search", "Plan"}, False, set()),
    # Of the dialects the last level only; of the plan the words for tensor types.
    "Codegen": ({"Codegen"}, True, {"ffc/IR/Rank.h", "ffc/Plan/Rules.h"}),
    "runtime": (set(), False, set()),
}
INCLUDE = re.compile(r'^\s*#\s*include\s+[<"]([^>"]+)[>"]', re.MULTILINE)


def sources(top, library):
    if library == "runtime":
        folders = ["runtime"]
    else:
        folders = [os.path.join("lib", library), os.path.join("include", "ffc", library)]
    for folder in folders:
        for parent, _, names in os.walk(os.path.join(top, folder)):
            for name in sorted(names):
                if name.endswith((".h", ".cpp")):
                    yield os.path.join(parent, name)


def violation(library, header):
    ours, mlir, extra = ALLOWED[library]
    if header in extra:
        return None
    if header.startswith("ffc/"):
        other = header.split("/")[1]
        return None if other in ours else f"{other}"
    if header.startswith(("mlir/", "llvm/", "llvm-c/", "mlir-c/")):
        return None if mlir else "MLIR"
    if header.startswith("ffrt/"):
        return None if library == "runtime" else "runtime"
    if header.startswith(("onnx/", "google/protobuf/")):
        return None if library == "Import" else "ONNX"
    if header.startswith("yaml-cpp/"):
        return None if library == "Plan" else "yaml-cpp"
    return None


def main():
    top = sys.argv[1]
    found, files = [], 0
    for library in ALLOWED:
        for path in sources(top, library):
            files += 1
            with open(path, encoding="utf-8") as source:
                for header in INCLUDE.findall(source.read()):
                    other = violation(library, header)
                    if other:
                        found.append(f"{os.path.relpath(path, top)}: {library} may not "
                                     f"include {other} ({header})")
    print(f"{files} files, {len(found)} includes across forbidden edges")
    if not files:
        sys.exit("error: no sources found")
    if found:
        sys.exit("\n".join(found))


if __name__ == "__main__":
    main()
