"""Kills a run at random moments, resumes it until it is through, and compares what it ends with
with the run that nobody disturbed: every bit of the last checkpoint.

  killed_runs.py --ffc FFC --model MODEL --topology FILE --ranks 4 --work DIR --kills 1000 -- FLAGS

One rank or all are killed (SIGKILL), or a signal asks to save and end: at any moment from the first
line on that the program prints (before, ranks are Open MPI's, which does not always end when one
dies then), or while a checkpoint is being written (a share of --writing of the kills). After every
round what lies in the folder of checkpoints must be whole or known to be unfinished, and in the end
nothing else is left.
"""

import argparse
import filecmp
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from programs import (MPI_MEMORY, Failure, compile_program, environment, expect_success,
                      fresh_folder, ranks_of)

COMPLETE = re.compile(r"^step-\d{8}$")
UNFINISHED = re.compile(r"^step-\d{8}\.(partial|removed)$|^seen-by-all-ranks\.partial(\.tmp)?$")
FILES = ("model.safetensors", "optimizer.safetensors", "ema.safetensors", "loss.npy")


def send(process, number):
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass


class Killer:
    def __init__(self, arguments):
        self.arguments = arguments
        self.random = random.Random(arguments.seed)
        self.program = os.path.realpath(os.path.join(arguments.work, "train"))
        self.folder = os.path.join(arguments.work, "killed")
        self.log = os.path.join(arguments.work, "log")
        self.steps = ["--steps", str(arguments.steps), "--checkpoint-every", str(arguments.every),
                      "--keep", "2", "--print-freq", "1000000", "--lr", "0.001"]

    def out(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()[-4000:]

    def command(self, sessions, flags):
        start = [self.program, *self.steps, *flags]
        if self.arguments.ranks == 1:
            return start
        if self.random.random() < 0.5:
            return [*start, "--local-ranks", str(self.arguments.ranks)]
        return ["mpirun", "-n", str(self.arguments.ranks), "--oversubscribe", "--bind-to", "none",
                "--mca", "orte_tmpdir_base", sessions, *start]

    def undisturbed(self):
        """The seconds of a whole run, and its last checkpoint."""
        folder = fresh_folder(os.path.join(self.arguments.work, "undisturbed"))
        start = time.monotonic()
        flags = [] if self.arguments.ranks == 1 else ["--local-ranks", str(self.arguments.ranks)]
        expect_success([self.program, *self.steps, "--checkpoint", folder, *flags], 600)
        return time.monotonic() - start, self.last(folder)

    def last(self, folder):
        return os.path.join(folder, f"step-{self.arguments.steps:08d}")

    def wait_for_moment(self, process, seconds):
        """Returns at a random moment, or while a checkpoint is being written."""
        while process.poll() is None and os.path.getsize(self.log) == 0:
            time.sleep(0.001)
        writing = self.random.random() < self.arguments.writing
        end = time.monotonic() + (30 if writing else self.random.uniform(0, seconds))
        seen = self.random.randrange(1, 4)  # which checkpoint from now on
        before = None
        while time.monotonic() < end and process.poll() is None:
            if writing:
                partial = next((name for name in os.listdir(self.folder)
                                if name.endswith(".partial") and name.startswith("step")), None)
                if partial and partial != before:
                    seen -= 1
                    before = partial
                if seen == 0:
                    time.sleep(self.random.uniform(0, 0.01))
                    return
            time.sleep(0.0005 if writing else 0.002)

    def disturb(self, process):
        """Kills one rank, all of them, or asks one to save and end."""
        # With --local-ranks what starts them is the same program.
        ranks = [rank for rank in ranks_of(self.program)
                 if rank != process.pid or self.arguments.ranks == 1]
        if not ranks:
            process.kill()
            return
        kind = self.random.choice(["one", "one", "all", "all", "end"])
        if kind == "end":
            send(self.random.choice(ranks), self.random.choice([signal.SIGTERM, signal.SIGINT]))
            return
        for rank in ranks if kind == "all" else [self.random.choice(ranks)]:
            send(rank, signal.SIGKILL)

    def round(self, seconds, disturbed):
        """Goes on with the run; true when it has come to its end."""
        with tempfile.TemporaryDirectory(prefix="ffc-mpi-") as sessions, \
                open(self.log, "w", encoding="utf-8") as log:
            process = subprocess.Popen(
                self.command(sessions, ["--checkpoint", self.folder, "--resume"]),
                stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT,
                env=environment(), start_new_session=True)
            if disturbed:
                self.wait_for_moment(process, seconds)
                self.disturb(process)
            try:
                process.wait(timeout=120)
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                raise Failure(f"expected an end within 120 s of a signal, found none\n{self.out()}")
        # What mpirun has killed may outlive it by a moment on a machine that is busy.
        end = time.monotonic() + 10
        while ranks_of(self.program):
            if time.monotonic() > end:
                raise Failure("expected all ranks to end together, found some that go on")
            time.sleep(0.05)
        if not disturbed and process.returncode != 0:
            raise Failure(f"status {process.returncode}\n{self.out()}")
        return process.returncode == 0

    def check_folder(self, through):
        for name in os.listdir(self.folder):
            if COMPLETE.match(name):
                expect_whole(os.path.join(self.folder, name))
            elif through or not UNFINISHED.match(name):
                raise Failure(f"'{name}' is left in the folder of checkpoints")

    def run(self):
        seconds, expected = self.undisturbed()
        shared = set(os.listdir("/dev/shm"))
        kills = runs = 0
        while kills < self.arguments.kills:
            fresh_folder(self.folder)
            through = False
            while not through:
                disturbed = kills < self.arguments.kills
                kills += disturbed
                through = self.round(seconds, disturbed)
                self.check_folder(False)
            self.round(seconds, False)  # nothing is left to do, and what is left over is removed
            self.check_folder(True)
            self.compare(expected)
            runs += 1
        left = {name for name in set(os.listdir("/dev/shm")) - shared
                if not MPI_MEMORY.match(name)}
        if left:
            raise Failure(f"expected no shared memory to be left, found {', '.join(sorted(left))}")
        print(f"{runs} runs of {seconds:.1f} s, killed {kills} times in all, end with the same bits")

    def compare(self, expected):
        found = self.last(self.folder)
        for name in FILES:
            paths = os.path.join(expected, name), os.path.join(found, name)
            if not any(map(os.path.exists, paths)) and name.startswith(("optimizer", "ema")):
                continue  # plain SGD has no state
            if not filecmp.cmp(*paths, shallow=False):
                raise Failure(f"'{paths[1]}' differs from '{paths[0]}'")


def expect_whole(checkpoint):
    for name in ("checkpoint.json", "model.safetensors", "loss.npy"):
        if not os.path.exists(os.path.join(checkpoint, name)):
            raise Failure(f"'{checkpoint}' has a name of its own, but no {name}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--ffc", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--topology", required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--work", required=True)
    parser.add_argument("--kills", type=int, default=5)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--every", type=int, default=20)
    parser.add_argument("--writing", type=float, default=0.4)
    parser.add_argument("compile_arguments", nargs="*", help="further flags of ffc")
    arguments = parser.parse_args()
    try:
        fresh_folder(arguments.work)
        killer = Killer(arguments)
        compile_program(arguments.ffc, arguments.model, arguments.topology, killer.program,
                        arguments.compile_arguments)
        killer.run()
        shutil.rmtree(arguments.work)
    except Failure as failure:
        sys.exit(f"error: {failure}")


if __name__ == "__main__":
    main()
