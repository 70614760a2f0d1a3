"""Times of steps: programs of ffc against PyTorch, by turns. While one trains, the others are
stopped."""

import json
import os
import re
import select
import signal
import statistics
import subprocess
import sys
import time

from . import machine
from .runner import Check, Failed, tail

ROUNDS = 5
LEAST_MS = 300  # of a round
MOST_STEPS = 1000
PREPARE_SECONDS = 240  # PyTorch may take to compile


class Peer:
    """A process that trains, with its lines of output."""

    def __init__(self, command, log, variables=None):
        self.log = log
        self.received = b""
        with open(log, "wb") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, bufsize=0,
                env=dict(os.environ, **(variables or {})), start_new_session=True)

    def line(self, end):
        """The next line; raises Failed at the time `end`."""
        while b"\n" not in self.received:
            left = end - time.monotonic()
            if left <= 0 or not select.select([self.process.stdout], [], [], left)[0]:
                raise Failed("no line of its training in the time that it may take")
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            if not data:
                with open(self.log, encoding="utf-8", errors="replace") as file:
                    said = tail(file.read()).splitlines()
                raise Failed(f"ended with status {self.process.wait()}"
                             + (f": {said[-1]}" if said else ""))
            self.received += data
        line, self.received = self.received.split(b"\n", 1)
        return line.decode(errors="replace")

    def go_on(self):
        os.killpg(self.process.pid, signal.SIGCONT)

    def stop(self):
        os.killpg(self.process.pid, signal.SIGSTOP)
        os.waitid(os.P_PID, self.process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)

    def end(self):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.communicate()


class Program(Peer):
    """A program of ffc's, which prints the mean of `steps` steps. It never waits: what it does in
    the steps in which it is stopped does not count."""

    def __init__(self, command, log, steps):
        super().__init__([*command, "--print-freq", str(steps)], log, machine.library_path())
        self.steps = steps

    def round(self, ms, end):
        """The mean of the steps of `ms` milliseconds."""
        self.go_on()
        self.one(end)
        times = [self.one(end)]
        while sum(times) * self.steps < ms:
            times.append(self.one(end))
        self.stop()
        # The GPU does what it was given before the host was stopped.
        time.sleep(min(5, 2 * self.steps * times[-1] / 1e3))
        while select.select([self.process.stdout], [], [], 0)[0]:
            self.line(end)
        self.received = b""
        return statistics.mean(times)

    def one(self, end):
        while True:
            match = re.match(r"step .* (\S+) ms/step", self.line(end))
            if match:
                return float(match.group(1))


class Torch(Peer):
    """`folder` gets the batch on which both train."""

    def __init__(self, command, log, folder):
        super().__init__([*command, folder], log, {"TORCHINDUCTOR_COMPILE_THREADS": "2"})
        self.folder = folder
        self.modes = {}  # what became of each: "ready", or why not

    def tell(self, *words):
        self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())

    def ask(self, *words, end):
        self.tell(*words)
        return json.loads(self.line(end))

    def begin(self, modes, end):
        """Returns when the batch is written; what follows goes on."""
        self.modes = dict.fromkeys(modes, "not ready")
        try:
            self.line(end)
            self.tell("prepare", *modes)
        except (Failed, OSError) as problem:
            self.modes = dict.fromkeys(modes, str(problem))
            self.end()

    @property
    def is_there(self):
        return self.process.poll() is None

    def wait_until_ready(self, end):
        if not self.is_there:
            return
        try:
            self.modes = json.loads(self.line(end))
            self.stop()
        except (Failed, OSError, ValueError) as problem:
            self.modes = dict.fromkeys(self.modes, str(problem))
            self.end()

    def round(self, mode, before, end):
        """Milliseconds of a step; `before` are those of earlier rounds."""
        self.go_on()
        guess = before[-1] if before else self.ask(mode, 3, end=end)
        ms = self.ask(mode, min(MOST_STEPS, max(3, int(LEAST_MS / max(guess, 1e-3)))), end=end)
        self.stop()
        return ms


class Speed:
    """`modes` are those of PyTorch."""

    def __init__(self, facts, pack, work, programs, modes):
        self.facts, self.pack, self.work = facts, pack, work
        self.programs, self.modes = programs, modes

    def checks(self):
        for name, about in self.facts["timed"].items():
            yield Check(f"speed/{name}", lambda n=name, a=about: self.measure(n, a),
                        PREPARE_SECONDS + 60 * len(about["precisions"]), alone=True, least=90)

    def measure(self, name, about):
        """All precisions of a model: PyTorch compiles them side by side, while programs choose
        their plans one after the other; then all train by turns."""
        end = time.monotonic() + self.programs.processes.left() - 5
        ready = min(end, time.monotonic() + PREPARE_SECONDS)
        peers, programs, problems = {}, {}, {}
        try:
            for precision in about["precisions"] if self.modes else []:
                peers[precision] = self.torch(name, about, precision)
            for torch in peers.values():
                torch.begin(self.modes, ready)
            for precision in about["precisions"]:
                try:
                    programs[precision] = self.program(name, about, precision,
                                                       peers.get(precision))
                    programs[precision].one(ready)
                    programs[precision].stop()
                except (Failed, OSError) as problem:
                    problems[precision] = str(problem)
            for torch in peers.values():
                torch.wait_until_ready(ready)
            rows = [self.row(name, about, precision, programs.get(precision),
                             peers.get(precision), problems.get(precision, ""), end)
                    for precision in about["precisions"]]
        finally:
            for peer in [*peers.values(), *programs.values()]:
                peer.end()
        missing = [f"{row['precision']}: {row['ffc']['problem']}" for row in rows
                   if "ms" not in row["ffc"]]
        if missing:
            raise Failed("; ".join(missing), rows)
        return "; ".join(f"{row['precision']}: " + ", ".join(
            f"{who} {row[who]['ms']:.3f} ms" if "ms" in row[who] else f"{who} none"
            for who in ["ffc", *self.modes]) for row in rows), rows

    def torch(self, name, about, precision):
        path = os.path.join(self.work, f"{name}-{precision}")
        os.makedirs(path + "-batch", exist_ok=True)
        return Torch([sys.executable, "-B", os.path.join(self.pack, "step_torch_gpu.py"), name,
                      str(about["batch"]), str(about["length"]), precision],
                     path + "-torch.log", path + "-batch")

    def program(self, name, about, precision, torch):
        """With the batch of PyTorch if it is there."""
        command = [self.programs.path(f"timed-{name}-{precision}"), "--steps", "1000000000",
                   "--lr", "0.001"]
        if torch and torch.is_there:
            command += ["--inputs", torch.folder]
        return Program(command, os.path.join(self.work, f"{name}-{precision}.log"), about["line"])

    def row(self, name, about, precision, program, torch, problem, end):
        """By turns. `torch` is None where there is no mode."""
        ours, theirs = [], {mode: [] for mode in self.modes}
        try:
            if not problem:
                program.round(LEAST_MS, end)
            while not problem and len(ours) < ROUNDS:
                ours.append(program.round(LEAST_MS, end))
                for mode, times in theirs.items():
                    if torch.modes[mode] == "ready":
                        times.append(torch.round(mode, times, end))
        except (Failed, OSError) as failure:
            problem = str(failure)
        row = {"model": name, "precision": precision, "batch": about["batch"],
               "length": about["length"], "ffc": told(ours, problem)}
        for mode, times in theirs.items():
            row[mode] = told(times, torch.modes[mode])
        return row


def told(rounds, problem):
    if not rounds:
        return {"problem": problem[:300]}
    return {"ms": statistics.median(rounds), "least": min(rounds), "most": max(rounds)}
