"""The programs of a pack: building and starting them."""

import os
import shutil
import tarfile
import tempfile

from . import machine
from .runner import Failed

# How the names of programs begin.
KINDS = ("compared-", "ranks-", "timed-", "profile-", "probe-")
# Programs whose numbers are looked at, not their times.
COMPARED = ("compared-", "ranks-")


class Programs:
    """`folder` has them already, or the pack, compiled, or they are built in `work`."""

    def __init__(self, pack, work, folder, processes, mpi=False, variables=None):
        self.pack, self.work = pack, work
        self.packed = os.path.join(pack, "programs.tar.xz")
        self.is_packed = folder is None and os.path.exists(self.packed)
        self.is_given = folder is not None or self.is_packed
        self.folder = folder or os.path.join(work, "build")
        self.processes = processes
        self.mpi = mpi
        self.variables = variables or {}  # of programs that are compared

    def build(self, names, *targets):
        """Programs, and other targets."""
        settings = machine.cmake_settings()
        if shutil.which("ninja"):
            settings += ["-G", "Ninja"]
        self.processes.run(["cmake", "-S", self.pack, "-B", self.folder,
                            f"-DFFRT_MPI={'ON' if self.mpi else 'OFF'}", *settings])
        # One program that cannot be built must not end the others.
        keep = ["--", "-k", "0"] if "Ninja" in settings else ["--", "-k"]
        command = ["cmake", "--build", self.folder, "-j", str(os.cpu_count()),
                   "--target", *targets, *names, *keep]
        try:
            self.processes.run(command)
        except Failed as problem:
            log = os.path.join(os.path.dirname(self.work), "gpu-check.build.log")
            with open(log, "w", encoding="utf-8") as file:
                file.write(problem.output)
            missing = [name for name in names if not os.path.exists(self.path(name))]
            errors = [line for line in problem.output.splitlines() if "error" in line.lower()]
            raise type(problem)(f"{'; '.join(errors[:3])}; see {os.path.basename(log)}; without "
                                f"{len(missing)}: {', '.join(missing)}") from None
        return f"{len(names)} programs, {'with' if self.mpi else 'without'} MPI"

    def unpack(self):
        """Those that the pack has compiled."""
        if not self.is_packed:
            return
        about = os.stat(self.packed)
        stamp = os.path.join(self.folder, f".{about.st_size}-{about.st_mtime_ns}")
        if os.path.exists(stamp):
            return
        # All of them or none, whenever it is cut off.
        fresh = self.folder + ".new"
        for folder in fresh, self.folder:
            shutil.rmtree(folder, ignore_errors=True)
        with tarfile.open(self.packed) as archive:
            # Python has filters since 3.11.4 only.
            archive.extraction_filter = getattr(tarfile, "data_filter",
                                                lambda member, path: member)
            archive.extractall(fresh)
        with open(os.path.join(fresh, os.path.basename(stamp)), "w", encoding="utf-8"):
            pass
        os.rename(fresh, self.folder)

    def all(self):
        """The programs of the pack, KIND-NAME."""
        found = []
        for kind in sorted(os.listdir(self.pack)):
            folder = os.path.join(self.pack, kind)
            if os.path.isdir(folder):
                found += [f"{kind}-{name}" for name in sorted(os.listdir(folder))
                          if os.path.exists(os.path.join(folder, name, "train.cpp"))]
        return found

    def built(self):
        """Those that are there."""
        return [name for name in sorted(os.listdir(self.folder)) if name.startswith(KINDS)]

    def path(self, name):
        for folder in self.folder, os.path.join(self.folder, "gpu"):
            path = os.path.join(folder, name)
            if os.path.exists(path):
                return path
        return os.path.join(self.folder, name)

    def run(self, name, *flags, variables=None, wrapper=()):
        path = self.path(name)
        if not os.path.exists(path):
            raise Failed(f"expected the program {name}, found none: it was not built")
        # Programs run side by side, unless their times are looked at.
        threads = 2 if name.startswith(COMPARED) else os.cpu_count()
        # Open MPI removes its folder of sessions when the last program on the machine ends, and
        # fails if another one starts just then: each gets its own.
        with tempfile.TemporaryDirectory(prefix="ffc-mpi-") as sessions:
            return self.processes.run(
                [*wrapper, path, *flags],
                {**machine.library_path(), "OMP_NUM_THREADS": str(threads),
                 "OMP_WAIT_POLICY": "passive", "OMPI_MCA_orte_tmpdir_base": sessions,
                 **(self.variables if name.startswith(COMPARED) else {}), **(variables or {})})
