"""What the Python tests share: running ffc and the programs it makes."""

import os
import re
import shutil
import signal
import subprocess
import tempfile
import threading

import numpy as np


# What Open MPI leaves in /dev/shm when its processes are killed.
MPI_MEMORY = re.compile(r"^vader_segment\.|^sem\.|^ompi|^pmix")


class Failure(Exception):
    """A check that did not hold; the text says which."""


def environment():
    """Lets Open MPI start as root and with more ranks than cores."""
    return dict(
        os.environ,
        OMPI_ALLOW_RUN_AS_ROOT="1",
        OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
        OMPI_MCA_rmaps_base_oversubscribe="1",
        # Other tests use the same cores: ranks that wait must not spin.
        OMPI_MCA_mpi_yield_when_idle="1",
        OMP_WAIT_POLICY="passive",
    )


def run(command, timeout, cwd=None):
    """Runs a command to its end or to `timeout` seconds. Returns status, stdout
    and stderr; the status is None after a timeout. Nothing stays behind: the
    command's whole process group ends."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        cwd=cwd,
        env=environment(),
        start_new_session=True,
    )
    try:
        out, err = process.communicate(timeout=timeout)
        return process.returncode, out, err
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
        return None, out, err


def expect_success(command, timeout):
    """Runs a command that must end with status 0; returns its stdout."""
    status, out, err = run(command, timeout)
    if status != 0:
        ending = "no end" if status is None else f"status {status}"
        raise Failure(
            f"{' '.join(command)}\n{ending} after up to {timeout} s\n"
            f"{out[-4000:]}{err[-4000:]}"
        )
    return out


def compile_program(ffc, model, devices, output, arguments=(), timeout=300):
    """Compiles `model` to the program `output`."""
    os.makedirs(os.path.dirname(output), exist_ok=True)
    command = [ffc, model, "--devices", devices, "-o", output, *arguments]
    return expect_success(command, timeout)


def run_program(program, ranks, arguments=(), timeout=600):
    """Runs an emitted program on `ranks` ranks."""
    command = [program, *arguments]
    if ranks == 1:
        return expect_success(command, timeout)
    # Open MPI removes its folder of sessions when the last program on the machine
    # ends, and fails if another one starts just then: each gets its own.
    with tempfile.TemporaryDirectory(prefix="ffc-mpi-") as sessions:
        return expect_success(
            ["mpirun", "-n", str(ranks), "--oversubscribe", "--bind-to", "none",
             "--mca", "orte_tmpdir_base", sessions, *command], timeout)


class Lines:
    """What a program says, read beside it."""

    def __init__(self, stream):
        self.lines = []
        self.thread = threading.Thread(target=self.read, args=(stream,), daemon=True)
        self.thread.start()

    def read(self, stream):
        for line in stream:
            self.lines.append(line)

    def matches(self, pattern):
        """Of the lines that begin like `pattern`."""
        found = (re.match(pattern, line) for line in list(self.lines))
        return [match for match in found if match]

    def text(self):
        return "".join(list(self.lines))


def ranks_of(program):
    """The processes that run a program, without what starts them."""
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/exe") == program:
                found.append(int(entry))
        except OSError:  # it has ended, or is another user's
            pass
    return sorted(found)


def file_name(name):
    """The file of a value in dumps and inputs, as runtime/src/common/data/names.cpp
    has it."""
    if not name:
        return "_"
    first = re.sub(r"[^A-Za-z0-9_-]", "_", name[0])
    return first + re.sub(r"[^A-Za-z0-9_.-]", "_", name[1:])


def write_inputs(folder, arrays):
    """One .npy file per input, as --inputs reads them."""
    os.makedirs(folder, exist_ok=True)
    for name, array in arrays.items():
        np.save(os.path.join(folder, file_name(name) + ".npy"),
                np.require(array, requirements="C"))


def fresh_folder(path):
    """An empty folder at `path`."""
    shutil.rmtree(path, ignore_errors=True)
    os.makedirs(path)
    return path
