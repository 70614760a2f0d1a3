"""What a program says before its first step."""

import os
import shutil

from .place import case, model, flip, cut


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
