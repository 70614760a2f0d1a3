"""What the machine has."""

import glob
import importlib.metadata
import os
import shutil
import subprocess
import sys


def said(*command, line=-1):
    """A line that a command prints, the last; nothing if there is no such command."""
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=20)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    lines = [line for line in result.stdout.splitlines() if line.strip()]
    return lines[line].strip() if result.returncode == 0 and lines else ""


def find_tool(name):
    """A program of the CUDA toolkit: its path, or None."""
    roots = [os.environ.get("CUDA_PATH", ""), "/usr/local/cuda"]
    path = os.pathsep.join([os.environ.get("PATH", "")] + [f"{root}/bin" for root in roots if root])
    return shutil.which(name, path=path)


def find_library(header, library):
    """The library and the folder of its header in Python packages of NVIDIA, where toolkits do not
    have it; None if neither has."""
    for folder in sys.path:
        for found in sorted(glob.glob(f"{folder}/nvidia/*/include/{header}")):
            include = os.path.dirname(found)
            files = sorted(glob.glob(f"{os.path.dirname(include)}/lib/lib{library}.so*"), key=len)
            if files:
                return files[0], include
    return None


def cmake_settings():
    """Where CMake finds the libraries that the toolkit itself does not have."""
    settings = []
    nvcc = find_tool("nvcc")
    if nvcc:
        settings.append(f"-DCMAKE_CUDA_COMPILER={nvcc}")
    root = os.path.dirname(os.path.dirname(os.path.realpath(nvcc))) if nvcc else "/usr"
    for header, library in ("cublasLt.h", "cublasLt"), ("cudnn.h", "cudnn"), ("nccl.h", "nccl"):
        places = [f"{root}/lib64", f"{root}/lib", f"{root}/targets/x86_64-linux/lib",
                  "/usr/lib/x86_64-linux-gnu"]
        if any(os.path.exists(f"{place}/lib{library}.so") for place in places):
            continue
        found = find_library(header, library)
        if found:
            name = library.upper()
            settings += [f"-DFFRT_{name}_LIBRARY={found[0]}", f"-DFFRT_{name}_INCLUDE={found[1]}"]
    return settings


def library_path():
    """The environment in which programs find what libraries load when they run."""
    nvcc = find_tool("nvcc")
    folders = [path for path in os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep) if path]
    if nvcc:
        folders.append(os.path.join(os.path.dirname(os.path.dirname(nvcc)), "lib64"))
    for folder in sys.path:
        folders += sorted(glob.glob(f"{folder}/nvidia/*/lib"))
    return {"LD_LIBRARY_PATH": os.pathsep.join(folders)}


def version_of(package):
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return ""


def describe():
    return {
        "gpu": said("nvidia-smi", "--query-gpu=name,driver_version,memory.total",
                    "--format=csv,noheader"),
        "nvcc": said(find_tool("nvcc") or "nvcc", "--version"),
        "cores": len(os.sched_getaffinity(0)),
        "mpi": said("mpirun", "--version", line=0),
        "pytorch": version_of("torch"),
        "python": sys.version.split()[0],
    }
