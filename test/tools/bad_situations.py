"""Brings about every situation of docs/when-things-go-wrong.md, and compares what is said with
what the document says.

  bad_situations.py --ffc FFC --topologies DIR --document FILE --work DIR [--only TEXT] [--show]

A row of the document is | situation | `message` | what to do |, where "..." in a message stands
for anything. Document and cases are the same set. In every situation the command must fail, with
one message, and leave nothing in temporary folders and shared memory, and nothing unfinished
beside what it writes.
"""

import argparse
import gzip
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time

import numpy as np

from programs import environment, fresh_folder

SECONDS = 60
UNFINISHED = re.compile(r"\.tmp(-\d+)?$|\.partial$|\.removed$")
# What Open MPI leaves in /dev/shm when its processes are killed.
MPI_MEMORY = re.compile(r"^vader_segment\.|^sem\.|^ompi|^pmix")

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


def ranks_of(program):
    found = []
    for entry in os.listdir("/proc"):
        try:
            if entry.isdigit() and os.readlink(f"/proc/{entry}/exe") == program:
                found.append(int(entry))
        except OSError:  # it has ended, or is another user's
            pass
    return sorted(found)


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


# Compiling

@case("there is no model of that name", 1)
def _(p):
    return p.ffc("none.onnx", "--devices", "cpu:2", "-o", p.path("train"))


@case("the model is no ONNX file", 1)
def _(p):
    p.write("model.onnx", b"\x89PNG\r\n" * 50)
    return p.ffc(p.path("model.onnx"), "--devices", "cpu:2", "-o", p.path("train"))


@case("the model was cut off", 1)
def _(p):
    return p.compile(model()[:200])


@case("the model has an operator that ffc does not know", 1)
def _(p):
    return p.compile(model(op="Fold"))


@case("the shapes of the model do not fit", 1)
def _(p):
    return p.compile(model().replace("float[4, 16] fc2_weight", "float[4, 15] fc2_weight"))


@case("a flag of ffc is misspelled", 2)
def _(p):
    return p.compile(model(), "--stratgy", "search")


@case("a flag has a value that means nothing", 2)
def _(p):
    return p.compile(model(), "--accumulate", "0")


@case("flags contradict each other", 2)
def _(p):
    return p.compile(model(), "--mode", "infer", "--accumulate", "2")


@case("the topology is missing", 1)
def _(p):
    return p.ffc(p.write("m.onnxtxt", model()), "--batch-size", "8", "--devices", "none.yaml",
                 "-o", p.path("train"))


@case("the topology has a key that is not known", 1)
def _(p):
    with open(p.devices(2), encoding="utf-8") as file:
        text = file.read()
    return p.ffc(p.write("m.onnxtxt", model()), "--batch-size", "8", "--devices",
                 p.write("t.yaml", text + "colour: red\n"), "-o", p.path("train"))


@case("the topology is no YAML", 1)
def _(p):
    return p.ffc(p.write("m.onnxtxt", model()), "--batch-size", "8", "--devices",
                 p.write("t.yaml", "devices: [4 x\n"), "-o", p.path("train"))


@case("nothing fits into the memory of the devices", 1)
def _(p):
    return p.compile(model(), "--memory-limit", "1 KiB", ranks=2)


@case("the strategy is about another model", 1)
def _(p):
    return p.compile(model(), "--strategy",
                     p.write("s.txt", "ffc strategy 1\nconv9: n=2 on 0-1\n"), ranks=2)


@case("the strategy needs more devices than there are", 1)
def _(p):
    return p.compile(model(), "--strategy",
                     p.write("s.txt", "ffc strategy 1\nfc1: n=4 on 0-3\n"), ranks=2)


@case("there is nothing to train", 1)
def _(p):
    return p.compile(model().replace("float[N, 4] y)", "int64[N, 4] z)").replace(
        "}\n", "  z = Cast <to = 7> (y)\n}\n"))


@case("the folder of the program is missing", 1)
def _(p):
    return p.compile(model(), "-o", p.path("none/train"))


@case("a folder has the program's name", 1)
def _(p):
    os.makedirs(p.path("train/in"))
    return p.compile(model())


@case("the disk is full while ffc writes the program", 1)
def _(p):
    os.makedirs(p.path("out"))
    said = p.compile(model(hidden=4000, values=True), preexec_fn=small_files(64))
    return said + "".join(os.listdir(p.path("out")))


def interrupted(p, wait, number):
    """What a compilation says that gets a signal when wait() is true. It must leave the program
    of an earlier one."""
    p.write("out/train", "as it was")
    process = p.start([p.arguments.ffc, p.write("model.onnxtxt", model(values=True)), "--devices",
                       p.devices(1), "--batch-size", "8", "--quiet", "-o", p.path("out/train")])
    while process.poll() is None and not wait():
        time.sleep(0.005)
    os.kill(process.pid, number)
    said = p.end(process)
    with open(p.path("out/train"), encoding="utf-8") as file:
        assert file.read() == "as it was"
    assert os.listdir(p.path("out")) == ["train"], os.listdir(p.path("out"))
    return said


@case("ffc is interrupted", -signal.SIGINT)
def _(p):
    def compiles():
        return any(name.endswith(".s") for _, _, names in os.walk(p.temporary)
                   for name in names)
    return interrupted(p, compiles, signal.SIGINT)


@case("ffc is ended by a batch system", -signal.SIGTERM)
def _(p):
    def begins():
        return any(".weights" in name for name in os.listdir(p.path("out")))
    return interrupted(p, begins, signal.SIGTERM)


@case("the C++ compiler is missing", 1)
def _(p):
    return p.compile(model(), variables={"PATH": p.at})


@case("the text of a program was changed, and is verified", 1)
def _(p):
    said = p.compile(model(), "--emit", "source")
    path = p.path("train/train.cpp")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    lines = text.splitlines(keepends=True)
    calls = [i for i, line in enumerate(lines) if "fc1.forward();" in line]
    del lines[calls[0]]
    p.write("train/train.cpp", "".join(lines))
    return said + p.ffc("verify", p.path("train"))


# Starting

@case("another number of ranks is started than was compiled for", 2)
def _(p):
    return p.program("two", "--steps", "1")


@case("--local-ranks is another number", 2)
def _(p):
    return p.program("two", "--local-ranks", "3")


@case("a flag of the program is misspelled", 2)
def _(p):
    return p.train("--epoch", "3")


@case("a flag has no value", 2)
def _(p):
    return p.train("--lr")


@case("a flag's value is no number", 2)
def _(p):
    return p.train("--lr", "fast")


@case("the batch is not the compiled one", 2)
def _(p):
    return p.train("--batch-size", "16")


@case("steps and epochs are both given", 2)
def _(p):
    return p.train("--epochs", "2")


@case("there are two sources of data", 2)
def _(p):
    return p.train("--inputs", p.shared("data"))


@case("a program that evaluates is to save checkpoints", 2)
def _(p):
    return p.program("infer", "--checkpoint", p.path("run"))


@case("--on-nan=skip has nothing to go back to", 2)
def _(p):
    return p.train("--on-nan", "skip")


@case("--resume has no folder", 2)
def _(p):
    return p.train("--resume")


@case("--restarts without what starts again", 2)
def _(p):
    return p.train("--restarts", "3")


@case("mpirun is missing", 2)
def _(p):
    return p.both("--steps", "1", variables={"PATH": p.at})


@case("a way to communicate is not known", 2)
def _(p):
    return p.both("--steps", "1", variables={"FFRT_COMM": "smoke"})


@case("the folder of a dump can not be made", 1)
def _(p):
    return p.train("--dump", p.write("file", "") + "/out")


@case("the trace would replace a device", 1)
def _(p):
    return p.train("--trace", "/dev/null")


@case("the log is a folder", 1)
def _(p):
    os.makedirs(p.path("log"))
    return p.train("--log", p.path("log"))


@case("the folder of checkpoints can not be made", 1)
def _(p):
    return p.train("--checkpoint", p.write("file", ""))


def with_values(p, change):
    """A program beside a file of values that was changed."""
    shutil.copy(p.shared("one"), p.path("one"))
    path = p.path("one.weights")
    shutil.copy(p.shared("one.weights"), path)
    change(path)
    return p.run(p.path("one"), "--steps", "1")


@case("the file of values is not beside the program", 1)
def _(p):
    return with_values(p, os.remove)


@case("the file of values is that of another compilation", 1)
def _(p):
    said = p.compile(model(hidden=17, values=True))
    return said + with_values(p, lambda path: shutil.copy(p.path("train.weights"), path))


@case("the file of values is damaged", 1)
def _(p):
    return with_values(p, lambda path: flip(path, 20))


@case("the file of values was cut off", 1)
def _(p):
    return with_values(p, lambda path: cut(path, 100))


@case("--weights has no values", 1)
def _(p):
    os.makedirs(p.path("empty"))
    return p.train("--weights", p.path("empty"))


@case("--weights are those of another model", 1)
def _(p):
    return p.program("wide", "--steps", "1", "--weights", p.shared("run"))


@case("a safetensors file is damaged", 1)
def _(p):
    path = p.path("w.safetensors")
    shutil.copy(os.path.join(p.shared("run"), "step-00000020", "model.safetensors"), path)
    cut(path, 60)
    return p.train("--weights", path)


# Data

@case("there is no such folder of data", 1)
def _(p):
    return p.program("one", "-d", p.path("none"))


@case("an input has no file", 1)
def _(p):
    os.remove(os.path.join(p.data(), "x.npy"))
    return p.program("one", "-d", p.path("data"))


@case("a file of data is a folder", 1)
def _(p):
    os.remove(os.path.join(p.data(), "x.npy"))
    os.makedirs(p.path("data/x.npy"))
    return p.program("one", "-d", p.path("data"))


@case("an array has another shape", 1)
def _(p):
    return p.program("one", "-d", p.data(change=lambda a: a.update(x=a["x"][:, :7])))


@case("labels are no integers", 1)
def _(p):
    return p.program("one", "-d",
                     p.data(change=lambda a: a.update(target=a["target"].astype("f4"))))


@case("inputs have different numbers of samples", 1)
def _(p):
    return p.program("one", "-d", p.data(change=lambda a: a.update(target=a["target"][:100])))


@case("an array was cut off", 1)
def _(p):
    p.data()
    cut(p.path("data/x.npy"), 2000)
    return p.program("one", "-d", p.path("data"))


@case("an array is no .npy file", 1)
def _(p):
    p.data()
    p.write("data/x.npy", "1, 2, 3\n" * 100)
    return p.program("one", "-d", p.path("data"))


@case("a label is out of range", 1)
def _(p):
    return p.program("one", "-d", p.data(change=lambda a: a["target"].__setitem__(77, 4)))


@case("there are fewer samples than a batch", 1)
def _(p):
    return p.program("one", "-d", p.data(samples=7))


@case("a compressed file is damaged", 1)
def _(p):
    packed = gzip.compress(b"\0" * 5000)
    p.write("data/train-images-idx3-ubyte.gz", packed[:len(packed) // 2])
    return p.program("one", "-d", p.path("data"))


@case("records of CIFAR-10 are not whole", 1)
def _(p):
    compiled = p.compile(model(width=3072))
    p.write("data/train.bin", b"\0" * 5000)
    return compiled + p.run(p.path("train"), "-d", p.path("data"))


@case("images do not fit the model", 1)
def _(p):
    p.write("data/train-images-idx3-ubyte",
            bytes([0, 0, 8, 3, 0, 0, 0, 9, 0, 0, 0, 2, 0, 0, 0, 2]) + b"\1" * 36)
    p.write("data/train-labels-idx1-ubyte", bytes([0, 0, 8, 1, 0, 0, 0, 9]) + b"\1" * 9)
    return p.program("one", "-d", p.path("data"))


def while_training(p, change):
    """A file of data is changed while a run reads it."""
    path = os.path.join(p.data(samples=4000), "x.npy")
    process = p.start([p.shared("one"), "--steps", "100000000", "-p", "1000000", "-d",
                       p.path("data")])
    said = await_line(process, "step 1/")
    change(path)
    return said + p.end(process)


@case("somebody writes into data while a run reads them", 1)
def _(p):
    return while_training(p, lambda path: flip(path, 5000))


@case("data are cut off while a run reads them", 1)
def _(p):
    return while_training(p, lambda path: cut(path, 3000))


# Running

@case("the rate is too high: the loss is not finite", 1)
def _(p):
    return p.train("--lr", "1e38")


@case("a sample has a value that is no number", 1)
def _(p):
    return p.program("one", "--no-shuffle", "-d",
                     p.data(change=lambda a: a["x"].__setitem__((77, 3), np.nan)))


@case("a parameter becomes infinite on one of two ranks", 1)
def _(p):
    return p.program("two", "--local-ranks", "2", "--no-shuffle", "-d",
                     p.data(change=lambda a: a["x"].__setitem__((77, 3), np.inf)))


@case("every step is bad, and is left out", 1)
def _(p):
    return p.program("one", "-d", p.data(change=lambda a: a["x"].fill(np.nan)), "--checkpoint",
                     p.path("run"), "--on-nan", "skip")


@case("a rank is killed", unfinished=True)
def _(p):
    process = p.start([p.shared("two"), "--local-ranks", "2", "--steps", "100000000", "-p",
                       "1000000"])
    said = await_line(process, "step 1/")
    os.kill(ranks_of(p.shared("two"))[-1], signal.SIGKILL)
    return said + p.end(process)


@case("a rank is stopped, or stuck")
def _(p):
    process = p.start([p.shared("two"), "--local-ranks", "2", "--steps", "100000000", "-p",
                       "1000000", "--deadline", "1"])
    said = await_line(process, "step 1/")
    stuck = ranks_of(p.shared("two"))[-1]
    os.kill(stuck, signal.SIGSTOP)
    said += p.end(process)
    try:
        os.kill(stuck, signal.SIGKILL)
    except ProcessLookupError:
        pass
    return said


@case("the disk is full when a checkpoint is written", 1)
def _(p):
    os.makedirs(p.path("run"))
    return p.program("wide", "--steps", "20", "--checkpoint", p.path("run"),
                     preexec_fn=small_files(1))


@case("the disk is full when a dump is written", 1)
def _(p):
    return p.train("--dump", p.path("out"), preexec_fn=small_files(0))


@case("the disk is full when a trace is written", 1)
def _(p):
    return p.train("--trace", p.path("trace"), preexec_fn=small_files(0))


@case("the disk is full when the log is written", 1)
def _(p):
    return p.train("--log", p.path("log"), preexec_fn=small_files(0))


# Going on

@case("there is nothing to go on from", 1)
def _(p):
    return p.train("--resume", p.path("none"))


@case("the checkpoint is that of another model", 1)
def _(p):
    return p.program("wide", "--steps", "30", "-d", p.shared("data"), "--resume", p.shared("run"))


@case("the checkpoint is that of another optimizer", 1)
def _(p):
    return p.program("adam", "--steps", "30", "-d", p.shared("data"), "--resume", p.shared("run"))


@case("the values of a checkpoint are damaged", 1)
def _(p):
    p.copy_of("run")
    flip(p.path("run/step-00000020/model.safetensors"), -5)
    return p.train("--steps", "30", "--resume", p.path("run"))


@case("a file of a checkpoint is missing", 1)
def _(p):
    p.copy_of("run")
    os.remove(p.path("run/step-00000020/optimizer.safetensors"))
    return p.train("--steps", "30", "--resume", p.path("run"))


@case("the record of a checkpoint is damaged", 1)
def _(p):
    p.copy_of("run")
    cut(p.path("run/step-00000020/checkpoint.json"), 100)
    return p.train("--steps", "30", "--resume", p.path("run"))


@case("the run goes on with another seed", 1)
def _(p):
    return p.train("--steps", "30", "--resume", p.shared("run"), "--seed", "5")


@case("the run goes on with other data", 1)
def _(p):
    return p.program("one", "--steps", "30", "--resume", p.shared("run"), "-d",
                     p.data(samples=80))


@case("a new run is to save where there are checkpoints", 1)
def _(p):
    return p.train("--checkpoint", p.copy_of("run"))


@case("two runs save into one folder", 1)
def _(p):
    first = p.start([p.shared("one"), "--steps", "100000000", "-p", "1000000", "--checkpoint",
                     p.path("run")])
    await_line(first, "step 1/")
    said = p.train("--checkpoint", p.path("run"))
    status = p.status
    first.send_signal(signal.SIGTERM)
    p.end(first)
    p.status = status
    return said


@case("the run is through, and a dump is asked for", 1)
def _(p):
    return p.train("--resume", p.shared("run"), "--dump", p.path("out"))


@case("fewer steps are asked for than are done", 1)
def _(p):
    return p.train("--steps", "15", "--resume", p.shared("run"))


# Export

@case("there is nothing to export", 1)
def _(p):
    return p.ffc("export", p.shared("one.onnxtxt"), "--weights", p.path("none"), "-o",
                 p.path("trained.onnx"))


@case("values of another model are to be exported", 1)
def _(p):
    return p.ffc("export", p.shared("wide.onnxtxt"), "--weights", p.shared("run"), "-o",
                 p.path("trained.onnx"))


@case("the exported model can not be written", 1)
def _(p):
    return p.ffc("export", p.shared("one.onnxtxt"), "--weights", p.shared("run"), "-o",
                 p.path("none/trained.onnx"))


# The document

def rows(path):
    """Messages by situation."""
    found = {}
    with open(path, encoding="utf-8") as file:
        for line in file:
            cells = re.match(r"\| (.+?) \| `(.+)` \| .*\|$", line)
            if cells:
                assert cells[1] not in found, f"'{cells[1]}' is there twice"
                found[cells[1]] = cells[2]
    return found


def pattern_of(message):
    return re.compile(".*".join(re.escape(part) for part in message.split("...")))


def check(place, situation, message, show):
    """What is wrong; empty: nothing."""
    function, status, unfinished = CASES[situation]
    place.begin()
    began = time.monotonic()
    said = function(place)
    if show:
        print(f"--- {situation}: status {place.status}, {time.monotonic() - began:.1f} s\n{said}")
        return ""
    if place.status is None or place.status == 0 or (status and place.status != status):
        return f"expected status {status or 'over 0'}, found {place.status}\n{said}"
    if not pattern_of(message).search(said):
        return f"expected\n  {message}\nfound\n{said}"
    errors = [line for line in said.splitlines() if "error: " in line]
    if status and len(errors) != 1:
        return f"expected one error, found {len(errors)}\n{said}"
    left = place.leftovers(unfinished)
    return f"expected nothing to be left, found {', '.join(left)}" if left else ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("ffc", "topologies", "document", "work"):
        parser.add_argument(f"--{name}", required=True)
    parser.add_argument("--only", default="", help="situations with this text")
    parser.add_argument("--show", action="store_true", help="print what is said")
    arguments = parser.parse_args()
    arguments.ffc = os.path.abspath(arguments.ffc)
    arguments.topologies = os.path.abspath(arguments.topologies)
    messages = rows(arguments.document)
    if not arguments.show and set(messages) != set(CASES):
        sys.exit(f"error: expected a case for every row, found rows {set(messages) - set(CASES)} "
                 f"and cases {set(CASES) - set(messages)} alone")
    before = set(os.listdir("/dev/shm"))
    place = Place(arguments)
    failed = 0
    chosen = [situation for situation in CASES if arguments.only in situation]
    for situation in chosen:
        wrong = check(place, situation, messages.get(situation, ""), arguments.show)
        if wrong:
            failed += 1
            print(f"{situation}: {wrong}")
    left = [name for name in set(os.listdir("/dev/shm")) - before if not MPI_MEMORY.match(name)]
    if left:
        print(f"/dev/shm: expected nothing to be left, found {', '.join(left)}")
    shutil.rmtree(place.root, ignore_errors=True)
    print(f"{len(chosen)} situations, {failed} of them not as expected")
    sys.exit(1 if failed or left else 0)


if __name__ == "__main__":
    main()
