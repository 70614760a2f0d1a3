"""What ffc export says."""

from .place import case


@case("there is nothing to export", 1)
def _(p):
    return p.ffc("export", p.shared("one.onnxtxt"), "--weights", p.path("none"), "-o",
                 p.path("trained.onnx"))


@case("values of another model are to be exported", 1)
def _(p):
    return p.ffc("export", p.shared("wide.onnxtxt"), "--weights", p.shared("run"), "-o",
                 p.path("trained.onnx"))


@case("the exported model can not be written", 1)
def _(p):
    return p.ffc("export", p.shared("one.onnxtxt"), "--weights", p.shared("run"), "-o",
                 p.path("none/trained.onnx"))
