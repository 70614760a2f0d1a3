"""What ffc says of models, devices, flags and files."""

import os
import signal
import time

from .place import case, model, small_files, cut


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
