# The lit suite: IR, passes and messages. Needs lit.site.cfg.py of a build.
#
# Features (ask with REQUIRES):
#   shared-data   ../shared/data is there; %data is its path
#   dot           Graphviz is installed
import os
import shutil
import sys

import lit.formats

config.name = "ffc"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test", ".timing"]
config.excludes = ["Inputs", "unit"]
config.test_source_root = config.source_root
config.test_exec_root = config.binary_root

config.environment["PATH"] = os.pathsep.join(
    [config.tools_dir, config.llvm_tools_dir, os.environ.get("PATH", "")]
)

data = os.path.join(config.shared_dir, "data")
if os.path.isdir(data):
    config.available_features.add("shared-data")
config.substitutions.append(("%data", data))
interrupt = os.path.join(config.source_root, "tools", "interrupt.py")
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%core", str(min(os.sched_getaffinity(0)))))
terminal = os.path.join(config.source_root, "tools", "terminal.py")
config.substitutions.append(("%terminal", f"{sys.executable} -B {terminal}"))
config.substitutions.append(("%interrupt", f"{sys.executable} -B {interrupt}"))

scripts = os.path.join(config.source_root, "..", "scripts")
build = os.path.join(config.tools_dir, "..")
config.substitutions.append(
    ("%gpu-pack", f"{sys.executable} -B {scripts}/gpu-pack --build {build}"))
config.substitutions.append(("%gpu-check", f"{sys.executable} -B {scripts}/gpu-check"))
emulated = os.path.join(config.binary_root, "Integration", "emulated-ffc")
config.substitutions.append(("%emulated-ffc", emulated))
counter = os.path.join(config.binary_root, "allocations", "count_allocations.so")
config.substitutions.append(("%count-allocations", f"env LD_PRELOAD={counter}"))

if shutil.which("dot"):
    config.available_features.add("dot")

if os.path.exists(os.path.join(config.tools_dir, "..", "runtime", "libffrt_cuda.a")):
    config.available_features.add("cuda")
if not os.path.exists("/dev/nvidiactl"):
    config.available_features.add("no-gpu")
