"""Times of steps: programs of ffc against PyTorch, by turns. While one trains, the others are
stopped."""

import json
import math
import os
import re
import select
import signal
import statistics
import subprocess
import sys
import time
from typing import NamedTuple

from . import machine
from .runner import Check, Failed, tail

ROUNDS = 5
LEAST_MS = 300  # of a round
MOST_STEPS = 1000
PLANS_SECONDS = 120  # a program may take to choose its plans
COMPILE_SECONDS = 150  # PyTorch may take, for all precisions
ROUNDS_SECONDS = 20  # of one precision
# Precisions that are looked at before others.
EARLY = ("f32", "bf16")


class Peer:
    """A process that trains, with its lines of output."""

    def __init__(self, processes, command, log, variables=None):
        self.log = log
        self.received = b""
        self.processes = processes
        with open(log, "wb") as errors:
            self.process = processes.start(
                command, variables, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors,
                bufsize=0)

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
        self.processes.end(self.process)
        self.process.stdin.close()
        self.process.stdout.close()


class Program(Peer):
    """A program of ffc's, which prints the mean of `steps` steps. It never waits: what it does in
    the steps in which it is stopped does not count."""

    def __init__(self, processes, command, log, steps):
        super().__init__(processes, [*command, "--print-freq", str(steps)], log,
                         machine.library_path())
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
            match = re.match(r"step .* loss (\S+) +(\S+) ms/step", self.line(end))
            if match:
                if not math.isfinite(float(match.group(1))):
                    raise Failed(f"expected finite losses, found {match.group(1)}")
                return float(match.group(2))


class Torch(Peer):
    """`folder` gets the batch on which both train."""

    def __init__(self, processes, command, log, folder):
        super().__init__(processes, [*command, folder], log,
                         {"TORCHINDUCTOR_COMPILE_THREADS": "4"})
        self.folder = folder
        self.modes = {}  # what became of each: "ready", or why not

    def tell(self, *words):
        self.process.stdin.write((" ".join(map(str, words)) + "\n").encode())

    def ask(self, *words, end):
        self.tell(*words)
        return json.loads(self.line(end))

    def write_batch(self, modes, end):
        """Returns when that is done."""
        self.modes = dict.fromkeys(modes, "not ready")
        self.attempt(lambda: self.line(end))

    def prepare(self):
        """Goes on beside this process."""
        self.attempt(lambda: self.tell("prepare", *self.modes))

    def wait_until_ready(self, end):
        def wait():
            self.modes = json.loads(self.line(end))
            self.stop()

        self.attempt(wait)

    def attempt(self, what):
        if not self.is_there:
            return
        try:
            what()
        except (Failed, OSError, ValueError) as problem:
            self.modes = dict.fromkeys(self.modes, str(problem))
            self.processes.end(self.process)

    @property
    def is_there(self):
        return self.process.poll() is None

    def round(self, mode, end):
        """Milliseconds of a step."""
        self.go_on()
        guess = self.ask(mode, 3, end=end)
        ms = self.ask(mode, min(MOST_STEPS, max(3, int(LEAST_MS / max(guess, 1e-3)))), end=end)
        self.stop()
        return ms


class Pair(NamedTuple):
    """What trains in one precision. `problem` is why a program does not; no `torch`: no mode."""
    precision: str
    program: Program
    torch: Torch
    problem: str


class Speed:
    """`modes` are those of PyTorch. So many precisions of a model are in memory at once."""

    def __init__(self, facts, pack, work, programs, modes, together=2):
        self.facts, self.pack, self.work = facts, pack, work
        self.programs, self.modes, self.together = programs, modes, together
        self.processes = programs.processes

    def checks(self):
        """First of the EARLY precisions."""
        for name, about in self.facts["timed"].items():
            precisions = sorted(about["precisions"], key=lambda p: p not in EARLY)
            for at in range(0, len(precisions), self.together):
                some = precisions[at:at + self.together]
                yield Check(f"speed/{name}/{'-'.join(some)}",
                            lambda n=name, a=about, s=some: self.measure(n, a, s),
                            COMPILE_SECONDS + 20
                            + (PLANS_SECONDS + ROUNDS_SECONDS) * len(some), alone=True, least=60)

    def measure(self, name, about, precisions):
        """Programs choose their plans one after the other, while nothing else runs; then PyTorch
        compiles for all precisions at once, then all train by turns."""
        end = time.monotonic() + self.processes.left() - 5
        torches, pairs = {}, []

        def within(seconds):
            """The time until then, but there must be time for rounds."""
            return min(end - ROUNDS_SECONDS * len(precisions), time.monotonic() + seconds)

        try:
            for precision in precisions if self.modes else []:
                torches[precision] = self.torch(name, about, precision)
            for torch in torches.values():
                torch.write_batch(self.modes, within(COMPILE_SECONDS))
            for precision in precisions:
                pairs.append(self.pair(name, about, precision, torches.get(precision),
                                       within(PLANS_SECONDS)))
            ready = within(COMPILE_SECONDS)
            for torch in torches.values():
                torch.prepare()
            for torch in torches.values():
                torch.wait_until_ready(ready)
            rows = [self.row(name, about, pair, end) for pair in pairs]
        finally:
            for peer in [*torches.values(), *(pair.program for pair in pairs if pair.program)]:
                peer.end()
        everyone = ["ffc", *self.modes]
        problems = [f"{row['precision']}: " + ("" if who == "ffc" else f"PyTorch {who}: ")
                    + row[who]["problem"]
                    for row in rows for who in everyone if "problem" in row[who]]
        if problems:
            raise Failed("; ".join(problems), rows)
        return "; ".join(f"{row['precision']}: " + ", ".join(
            f"{who} {row[who]['ms']:.3f} ms" for who in everyone) for row in rows), rows

    def torch(self, name, about, precision):
        path = os.path.join(self.work, f"{name}-{precision}")
        os.makedirs(path + "-batch", exist_ok=True)
        return Torch(self.processes,
                     [sys.executable, "-B", os.path.join(self.pack, "step_torch_gpu.py"), name,
                      str(about["batch"]), str(about["length"]), precision],
                     path + "-torch.log", path + "-batch")

    def pair(self, name, about, precision, torch, ready):
        """With the batch of PyTorch if that is there. The program is stopped."""
        command = [self.programs.path(f"timed-{name}-{precision}"), "--steps", "1000000000",
                   "--lr", "0.001"]
        if torch and torch.is_there:
            command += ["--inputs", torch.folder]
        program, problem = None, ""
        try:
            program = Program(self.processes, command,
                              os.path.join(self.work, f"{name}-{precision}.log"), about["line"])
            program.one(ready)
            program.stop()
        except (Failed, OSError) as reason:
            problem = str(reason)
        return Pair(precision, program, torch, problem)

    def row(self, name, about, pair, end):
        """By turns."""
        ours, theirs = [], {mode: [] for mode in self.modes}
        problem = pair.problem
        problems = {mode: pair.torch.modes[mode] for mode in theirs}
        try:
            while not problem and len(ours) < ROUNDS:
                ours.append(pair.program.round(LEAST_MS, end))
                for mode, times in theirs.items():
                    if problems[mode] == "ready":
                        self.add_round(pair.torch, mode, times, problems, end)
        except (Failed, OSError) as failure:
            problem = str(failure)
        row = {"model": name, "precision": pair.precision, "batch": about["batch"],
               "length": about["length"], "ffc": told(ours, problem)}
        for mode, times in theirs.items():
            row[mode] = told(times, "" if problems[mode] == "ready" else problems[mode])
        return row

    @staticmethod
    def add_round(torch, mode, times, problems, end):
        """What PyTorch cannot do does not end the program's rounds."""
        try:
            times.append(torch.round(mode, end))
        except (Failed, OSError, ValueError) as failure:
            for each, state in problems.items():
                if state == "ready":
                    problems[each] = str(failure)


def told(rounds, problem):
    """Fewer rounds than all have a reason, if only that there was no time."""
    found = {}
    if rounds:
        found = {"ms": statistics.median(rounds), "least": min(rounds), "most": max(rounds)}
    if problem or len(rounds) < ROUNDS:
        found["problem"] = (problem or f"{len(rounds)} of {ROUNDS} rounds")[:300]
    return found
