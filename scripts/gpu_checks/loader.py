"""What the loader finds of the libraries that programs were linked with."""

import re

from . import machine
from .runner import Check, Failed

LIBRARY = re.compile(r"^\s*(lib(?:cudart|cublasLt|cudnn|nccl)\S*) => (\S+)", re.MULTILINE)


class Loader:
    def __init__(self, programs):
        self.programs = programs

    def checks(self):
        yield Check("loader/libraries", self.look, 30)

    def look(self):
        """Of one program, since all are linked with the same."""
        names = self.programs.built()
        if not names:
            raise Failed("expected programs, found none")
        said = self.programs.processes.run(["ldd", self.programs.path(names[0])],
                                           machine.library_path())
        missing = [line.strip() for line in said.splitlines() if "not found" in line]
        if missing:
            raise Failed("; ".join(missing))
        return ", ".join(f"{name} in {path}" for name, path in LIBRARY.findall(said))
