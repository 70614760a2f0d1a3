"""What ends a run in the midst of its steps."""

import os
import signal

import numpy as np

from programs import ranks_of
from .place import case, small_files, await_line


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
