"""Runs checks: several at a time, each within its time, until the budget is spent."""

import concurrent.futures
import dataclasses
import json
import os
import signal
import subprocess
import threading
import time
from typing import Any, Callable

PASSED, FAILED, NOT_RUN = "passed", "failed", "not run"


class Failed(Exception):
    """What a check found wrong, and data for the report all the same."""

    def __init__(self, note, data=None):
        super().__init__(note)
        self.data = data


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

    def left(self):
        return max(0.1, getattr(self.limit, "end", time.monotonic() + 600) - time.monotonic())

    def run(self, command, variables=None, folder=None):
        """Its output; raises Failed."""
        try:
            process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT, text=True, errors="replace", cwd=folder,
                env=dict(os.environ, **(variables or {})), start_new_session=True)
        except OSError as problem:
            raise Failed(f"cannot start {command[0]}: {problem.strerror}") from None
        try:
            output, _ = process.communicate(timeout=self.left())
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            raise Failed(f"no end in the time that it may take; {tail(output)}") from None
        if process.returncode != 0:
            raise Failed(f"status {process.returncode}: {tail(output)}")
        return output


def tail(text, size=600):
    return text.strip()[-size:]


class Runner:
    """`kept` are the results of an earlier run, by name: what passed is not run again."""

    def __init__(self, budget, jobs, kept, save):
        self.end = time.monotonic() + budget
        self.jobs, self.results, self.save = jobs, dict(kept), save
        self.processes = Processes()
        self.lock = threading.Lock()

    def run_all(self, checks):
        """Checks come in the order of their importance; those next to each other that do not
        measure time run side by side."""
        for name in [check.name for check in checks]:
            self.results.setdefault(name, {"status": NOT_RUN, "note": "not reached"})
        waiting = [check for check in checks if self.results[check.name]["status"] != PASSED]
        while waiting:
            count = 1
            while (count < len(waiting) and not waiting[0].alone and not waiting[count].alone):
                count += 1
            group, waiting = waiting[:count], waiting[count:]
            with concurrent.futures.ThreadPoolExecutor(
                    1 if group[0].alone else self.jobs) as pool:
                list(pool.map(self.run_one, group))

    def run_one(self, check):
        start = time.monotonic()
        left = self.end - start
        result = {"status": NOT_RUN, "note": "no time left"}
        if left > check.least:
            self.processes.limit.end = start + min(check.seconds, left)
            result = outcome(check.body)
            result["seconds"] = round(time.monotonic() - start, 1)
            # What the budget has cut off says nothing about the programs.
            if result["status"] == FAILED and time.monotonic() > self.end - 1:
                result["status"] = NOT_RUN
                result["note"] = f"cut off: {result['note']}"
        with self.lock:
            self.results[check.name] = result
            print(f"{result['status']:8} {check.name}"
                  + (f": {result['note'][:300]}" if result["note"] else ""), flush=True)
            self.save(self.results)


def outcome(body):
    try:
        found = body()
    except NotRun as reason:
        return {"status": NOT_RUN, "note": str(reason)}
    except Failed as problem:
        result = {"status": FAILED, "note": str(problem)}
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


def load(path, commit):
    """The results of an earlier run with the same pack; none if there was none."""
    try:
        with open(path, encoding="utf-8") as file:
            text = json.load(file)
        return text["checks"] if text["commit"] == commit else {}
    except (OSError, ValueError, KeyError):
        return {}
