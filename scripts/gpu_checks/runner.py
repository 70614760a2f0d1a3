"""Runs checks: several at a time, each within its time, until the budget is spent."""

import collections
import concurrent.futures
import dataclasses
import hashlib
import json
import os
import signal
import subprocess
import tempfile
import threading
import time
from typing import Any, Callable

PASSED, FAILED, NOT_RUN = "passed", "failed", "not run"
# So many checks of a kind that do not end speak for the others.
HANGS = 3
# What ends so shortly before its time was cut off.
LAST_SECONDS = 10


class Failed(Exception):
    """What a check found wrong, and data for the report all the same. `output` is what a command
    said before it failed."""

    def __init__(self, note, data=None, output=""):
        super().__init__(note)
        self.data, self.output = data, output


class TimedOut(Failed):
    """What did not end."""


class NotRun(Exception):
    """Why a check says nothing here."""


@dataclasses.dataclass
class Check:
    """`body` gives a note, or a note and data for the report."""
    name: str  # KIND/WHAT...
    body: Callable[[], Any]
    seconds: float  # that it may take
    alone: bool = False  # measures time: nothing else runs then
    least: float = 5  # seconds without which it is not begun

    @property
    def kind(self):
        return self.name.split("/")[0]


class Processes:
    """Commands in process groups of their own, so that nothing stays behind."""

    def __init__(self):
        self.limit = threading.local()  # .end: when the check of this thread must be done
        self.groups = set()
        self.ended = False

    def start(self, command, variables=None, **files):
        """To be given to end(). Raises Failed."""
        if self.ended:
            raise Failed("stopped")
        try:
            process = subprocess.Popen(command, env=dict(os.environ, **(variables or {})),
                                       start_new_session=True, **files)
        except OSError as problem:
            raise Failed(f"cannot start {command[0]}: {problem.strerror}") from None
        self.groups.add(process.pid)
        return process

    def end(self, process):
        """Of what hangs in the driver nothing is waited for."""
        kill(process.pid)
        try:
            process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            pass
        self.groups.discard(process.pid)

    def end_all(self):
        """From now on none is started."""
        self.ended = True
        for group in list(self.groups):
            kill(group)

    def left(self):
        return max(0.1, getattr(self.limit, "end", time.monotonic() + 600) - time.monotonic())

    def run(self, command, variables=None, folder=None):
        """Its output; raises Failed."""
        with tempfile.TemporaryFile() as file:
            process = self.start(command, variables, stdin=subprocess.DEVNULL, stdout=file,
                                 stderr=subprocess.STDOUT, cwd=folder)
            hangs = False
            try:
                process.wait(timeout=self.left())
            except subprocess.TimeoutExpired:
                hangs = True
            self.end(process)
            file.seek(0)
            output = file.read().decode(errors="replace")
        if hangs:
            raise TimedOut(f"no end in the time that it may take; {tail(output)}", output=output)
        if process.returncode != 0:
            raise Failed(f"status {process.returncode}: {tail(output)}", output=output)
        return output


def kill(group):
    try:
        os.killpg(group, signal.SIGKILL)
    except ProcessLookupError:
        pass


def tail(text, size=600):
    return text.strip()[-size:]


class Runner:
    """Until the time `end`. `kept` are the results of an earlier run, by name: what passed is not
    run again, and what failed not before what was not reached."""

    def __init__(self, end, jobs, kept, save):
        self.end = end
        self.jobs, self.results, self.save = jobs, dict(kept), save
        self.processes = Processes()
        self.hangs = collections.Counter()  # by kind
        self.lock = threading.Lock()

    def run_all(self, checks):
        """Checks come in the order of their importance; those next to each other that do not
        measure time run side by side."""
        for name in [check.name for check in checks]:
            self.results.setdefault(name, not_reached("not reached"))
        waiting = [check for check in checks if self.results[check.name]["status"] != PASSED]
        waiting.sort(key=lambda check: check.kind != "build"
                     and self.results[check.name]["status"] == FAILED)
        while waiting:
            count = 1
            while (count < len(waiting) and not waiting[0].alone and not waiting[count].alone):
                count += 1
            group, waiting = waiting[:count], waiting[count:]
            with concurrent.futures.ThreadPoolExecutor(
                    1 if group[0].alone else self.jobs) as pool:
                list(pool.map(self.run_one, group))

    def stop(self):
        """What runs is cut off, and nothing else begins."""
        self.end = 0
        self.processes.end_all()

    def run_one(self, check):
        start = time.monotonic()
        left = self.end - start
        if left <= check.least:
            result = not_reached("no time left")
        elif self.hangs[check.kind] >= HANGS:
            result = not_reached(f"{HANGS} others did not end")
        else:
            limit = min(check.seconds, left)
            self.processes.limit.end = start + limit
            result = outcome(check.body)
            took = time.monotonic() - start
            result["seconds"] = round(took, 1)
            # What the budget has cut off says nothing about the programs.
            cut = (self.end < start + check.seconds
                   and took > limit - min(LAST_SECONDS, limit / 2))
            if result["status"] == FAILED and (cut or self.end == 0):
                result.update(not_reached(f"cut off: {result['note']}"))
            elif result.pop("hangs", False):
                self.hangs[check.kind] += 1
        with self.lock:
            self.results[check.name] = result
            print(f"{result['status']:8} {check.name}"
                  + (f": {result['note'][:300]}" if result["note"] else ""), flush=True)
            self.save(self.results)


def not_reached(note):
    return {"status": NOT_RUN, "note": note, "reached": False}


def outcome(body):
    try:
        found = body()
    except NotRun as reason:
        return {"status": NOT_RUN, "note": str(reason)}
    except Failed as problem:
        result = {"status": FAILED, "note": str(problem)}
        if isinstance(problem, TimedOut):
            result["hangs"] = True
        if problem.data is not None:
            result["data"] = problem.data
        return result
    except Exception as problem:  # one check must not end the others
        return {"status": FAILED, "note": f"{type(problem).__name__}: {problem}"}
    note, data = found if isinstance(found, tuple) else (found, None)
    result = {"status": PASSED, "note": note or ""}
    if data is not None:
        result["data"] = data
    return result


def load(path, about):
    """The results of an earlier run of the same programs on such a machine; none if there was
    none."""
    try:
        with open(path, encoding="utf-8") as file:
            text = json.load(file)
        return text["checks"] if all(text[key] == value for key, value in about.items()) else {}
    except (OSError, ValueError, KeyError):
        return {}


def hash_of(folder):
    """Of the names and contents of its files."""
    all_of = hashlib.sha256()
    for path, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            file = os.path.join(path, name)
            all_of.update(os.path.relpath(file, folder).encode() + b"\0")
            with open(file, "rb") as data:
                all_of.update(hashlib.sha256(data.read()).digest())
    return all_of.hexdigest()[:16]
