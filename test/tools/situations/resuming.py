"""What is said of checkpoints that a run goes on with."""

import os
import signal

from .place import case, model, await_line, flip, cut


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
