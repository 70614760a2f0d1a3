"""Builds programs that ffc has written as sources, many of them as one executable.

g++ reads the runtime's headers once for all of them, and instantiates once what all of them use:
alone, a small program takes it many times as long. Each program is in a namespace of its own,
and the first argument of the executable names the program that it is to be.
"""

import os
from typing import NamedTuple

from programs import Failure, expect_success

HEADERS = ("ffrt/kernels.h", "ffrt/reshard.h")
KERNEL_HEADERS = ("ffrt/functors.h", "ffrt/fused_kernel.h")


class Toolchain(NamedTuple):
    """Folders of headers, flags of fused kernels and what is linked."""
    include: list
    kernel_flags: list
    link: list


def functors_of(folder):
    return os.path.exists(os.path.join(folder, "functors.h"))


def included(headers):
    return "".join(f'#include "{header}"\n' for header in headers)


def with_own_functors(name, text):
    """Fused kernels are in the namespace `functors`, outside that of the program."""
    return f"#undef FUNCTORS_H\n#define functors functors_{name}\n{text}#undef functors\n"


def write_text(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def write_programs(path, sources):
    text = included(HEADERS + KERNEL_HEADERS[:1]) + "#include <cstring>\n"
    for name, folder in sources.items():
        # Headers are read before, outside the namespace.
        functors = included([f"{folder}/functors.h"]) if functors_of(folder) else ""
        text += with_own_functors(
            name, f"{functors}namespace {name} {{\n" + included([f"{folder}/train.cpp"]) + "}\n")
    text += "int main(int argc, char **argv) {\n  if (argc < 2)\n    return 2;\n"
    for name in sources:
        text += (f'  if (!std::strcmp(argv[1], "{name}"))\n'
                 f"    return {name}::main(argc - 1, argv + 1);\n")
    write_text(path, text + "  return 2;\n}\n")


def write_kernels(path, sources):
    text = included(KERNEL_HEADERS)
    for name, folder in sources.items():
        text += with_own_functors(name, included([f"{folder}/functors.cpp"]))
    write_text(path, text)


def build_executable(sources, path, tools):
    headers = [f"-I{folder}" for folder in tools.include]
    objects = []

    def compile_source(kind, write, chosen, flags):
        source = f"{path}.{kind}.cpp"
        write(source, chosen)
        objects.append(source + ".o")
        expect_success(["g++", "-std=c++17", *flags, *headers, "-c", source, "-o", objects[-1]],
                       600)

    compile_source("programs", write_programs, sources, ["-O0"])
    fused = {name: folder for name, folder in sources.items() if functors_of(folder)}
    if fused:
        compile_source("kernels", write_kernels, fused, tools.kernel_flags)
    expect_success(["g++", *objects, *tools.link, "-o", path], 120)


def build_programs(sources, path, tools):
    """The executable of each program, or a Failure, by its name. `sources`: folders that ffc
    --emit=source has written, by names that are identifiers. `path` is that of the executable; if
    a program does not compile, there are several, so that the others do."""
    try:
        build_executable(sources, path, tools)
        return dict.fromkeys(sources, path)
    except Failure as failure:
        if len(sources) == 1:
            return dict.fromkeys(sources, failure)
    names = list(sources)
    middle = len(names) // 2
    built = {}
    for half, chosen in ("-1", names[:middle]), ("-2", names[middle:]):
        built.update(build_programs({name: sources[name] for name in chosen}, path + half, tools))
    return built
