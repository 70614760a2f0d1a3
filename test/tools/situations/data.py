"""What is said of data sets."""

import gzip
import os

from .place import case, model, await_line, flip, cut


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
