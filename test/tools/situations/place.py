"""Where bad situations are brought about, and what that takes."""

import os
import re
import resource
import shutil
import signal
import subprocess
import sys

import numpy as np

from programs import environment, fresh_folder

SECONDS = 60
UNFINISHED = re.compile(r"\.tmp(-\d+)?$|\.partial$|\.removed$")

CASES = {}


def case(situation, status=None, unfinished=False):
    """Registers what brings a situation about. It returns what is said: standard output and
    error. `status`: how the command must end, if that is not just badly. `unfinished`: something
    may stay until the next run."""
    def register(function):
        assert situation not in CASES, situation
        CASES[situation] = (function, status, unfinished)
        return function
    return register


def model(hidden=16, op="Relu", values=False, width=8):
    """A perceptron with two layers as text; with `values` its first weights have some."""
    text = ", ".join(str((i * 37 % 19 - 9) / 20) for i in range(hidden * width))
    first = f"float[{hidden},{width}] fc1_weight" + (f" = {{{text}}}" if values else "")
    return f"""<ir_version: 8, opset_import: ["" : 13]>
mlp (float[N, {width}] x, {first}, float[{hidden}] fc1_bias,
     float[4, {hidden}] fc2_weight, float[4] fc2_bias) => (float[N, 4] y)
{{
  fc1 = Gemm <transB = 1> (x, fc1_weight, fc1_bias)
  act = {op} (fc1)
  y = Gemm <transB = 1> (act, fc2_weight, fc2_bias)
}}
"""


class Place:
    """A folder with the programs that cases share, and one for the case that runs."""

    def __init__(self, arguments):
        self.arguments = arguments
        self.root = fresh_folder(os.path.abspath(arguments.work))
        self.temporary = os.path.join(self.root, "tmp")
        self.sessions = os.path.join(self.root, "mpi")
        self.status = None
        self.at = ""
        for name, ranks, text, flags in (
                ("one", 1, model(values=True), ()), ("two", 2, model(), ()),
                ("wide", 1, model(hidden=32), ()),
                ("adam", 1, model(values=True), ("--optimizer", "adam")),
                ("infer", 1, model(), ("--mode", "infer"))):
            self.write(f"{name}.onnxtxt", text, shared=True)
            self.begin()
            strategy = "data-parallel" if ranks > 1 else "search"
            said = self.ffc(self.shared(f"{name}.onnxtxt"), *flags, "--devices",
                            self.devices(ranks), "--strategy", strategy, "--batch-size", "8", "-o",
                            self.shared(name))
            if self.status != 0:
                sys.exit(f"error: cannot compile {name}: {said}")
        # A run with two checkpoints.
        self.begin()
        self.data(folder=self.shared("data"))
        said = self.program("one", "--steps", "20", "--checkpoint", self.shared("run"),
                            "--checkpoint-every", "10", "-d", self.shared("data"))
        if self.status != 0:
            sys.exit(f"error: cannot train: {said}")

    def begin(self):
        self.at = fresh_folder(os.path.join(self.root, "case"))
        for folder in (self.temporary, self.sessions):
            fresh_folder(folder)

    def shared(self, name):
        return os.path.join(self.root, name)

    def path(self, name):
        return os.path.join(self.at, name)

    def write(self, name, text, shared=False):
        path = self.shared(name) if shared else self.path(name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "wb") as file:
            file.write(text if isinstance(text, bytes) else text.encode())
        return path

    def devices(self, ranks):
        folder = self.arguments.topologies
        return os.path.join(folder, f"cpu-{ranks}.yaml")

    def data(self, samples=160, folder=None, change=None):
        """A data set, after `change` has had its arrays."""
        random = np.random.default_rng(0)
        arrays = {"x": random.normal(size=(samples, 8)).astype("f4"),
                  "target": random.integers(0, 4, samples).astype("i4")}
        if change:
            change(arrays)
        folder = folder or self.path("data")
        os.makedirs(folder, exist_ok=True)
        for name, array in arrays.items():
            np.save(os.path.join(folder, name + ".npy"), array)
        return folder

    def copy_of(self, name):
        return shutil.copytree(self.shared(name), self.path(name))

    def environment(self, **more):
        return dict(environment(), TMPDIR=self.temporary,
                    OMPI_MCA_orte_tmpdir_base=self.sessions, **more)

    def start(self, command, **more):
        return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True, errors="replace",
                                cwd=self.at, start_new_session=True,
                                env=self.environment(**more.pop("variables", {})), **more)

    def end(self, process):
        try:
            out, _ = process.communicate(timeout=SECONDS)
            self.status = process.returncode
            return out
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            self.status = None
            return process.communicate()[0] + f"\n(no end within {SECONDS} s)"

    def run(self, *command, **more):
        return self.end(self.start(command, **more))

    def ffc(self, *flags, **more):
        return self.run(self.arguments.ffc, *flags, **more)

    def compile(self, text, *flags, ranks=1, name="model.onnxtxt", **more):
        path = self.write(name, text)
        return self.ffc(path, "--devices", self.devices(ranks), "--batch-size", "8", "--quiet",
                        "-o", self.path("out/train") if os.path.isdir(self.path("out"))
                        else self.path("train"), *flags, **more)

    def program(self, name, *flags, **more):
        return self.run(self.shared(name), *flags, **more)

    def train(self, *flags, **more):
        """A run of 20 steps on a data set."""
        return self.program("one", "--steps", "20", "-d", self.shared("data"), *flags, **more)

    def both(self, *flags, **more):
        """The same with two ranks."""
        return self.program("two", "--local-ranks", "2", "-d", self.shared("data"), *flags, **more)

    def leftovers(self, unfinished):
        found = [os.path.join(folder, name) for top in (self.temporary, self.sessions)
                 for folder, _, names in os.walk(top) for name in names]
        if not unfinished:
            found += [os.path.join(folder, name)
                      for folder, folders, names in os.walk(self.at)
                      for name in names + folders if UNFINISHED.search(name)]
        return found


def small_files(kilobytes):
    """As a full disk: writing more into a file fails."""
    def limit():
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (kilobytes << 10, kilobytes << 10))
    return limit


def await_line(process, text):
    """What a process has said up to a line with a text."""
    said = ""
    while text not in said:
        line = process.stdout.readline()
        if not line:
            break
        said += line
    return said


def flip(path, at):
    with open(path, "r+b") as file:
        file.seek(at, os.SEEK_END if at < 0 else os.SEEK_SET)
        byte = file.read(1)
        file.seek(-1, os.SEEK_CUR)
        file.write(bytes([byte[0] ^ 0x40]))


def cut(path, size):
    os.truncate(path, size)
