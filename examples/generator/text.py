"""ONNX text of graphs that are not chains of layers on samples."""

import math
import textwrap

WIDTH = 100


def text_of(value):
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)


def wrap(text, indent):
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent="      ",
                         break_long_words=False, break_on_hyphens=False)


class TextGraph:
    """A graph under construction; a node is called as its first result."""

    def __init__(self, name, title, opset=15):
        self.name, self.title, self.opset = name, title, opset
        self.inputs, self.constants, self.nodes = [], {}, []
        self.parameters = 0
        self.output = None

    def comment(self, text):
        """A line before the next nodes."""
        self.nodes.append(f"\n  # {text}")

    def input(self, name, shape, kind="float"):
        self.inputs.append(f"{kind}{text_of(shape)} {name}")
        return name

    def parameter(self, name, *shape):
        self.parameters += math.prod(shape)
        return self.input(name, shape)

    def constant(self, name, kind, values):
        """A number, or a tuple of them."""
        shape = f"[{len(values)}]" if isinstance(values, tuple) else ""
        numbers = ", ".join(map(str, values)) if isinstance(values, tuple) else values
        self.constants[f"{kind}{shape} {name}"] = numbers
        return name

    def node(self, names, kind, operands, **attributes):
        """Adds a node; `names` of its results, one or a list ("" for none)."""
        results = [names] if isinstance(names, str) else names
        given = ", ".join(f"{key} = {text_of(value)}" for key, value in attributes.items())
        call = kind + (f" <{given}>" if given else "")
        line = f"{', '.join(results)} = {call} ({', '.join(operands)})"
        if len(line) + 2 <= WIDTH:
            self.nodes.append(f"  {line}")
        else:
            self.nodes += wrap(line, "  ")
        return names

    def answer(self, name, shape):
        self.output = f"float{text_of(shape)} {name}"

    def text(self):
        inputs = self.inputs + [f"{key} = {{{value}}}" for key, value in self.constants.items()]
        return ("".join(f"# {line}".rstrip() + "\n" for line in self.title) +
                "# Parameters are inputs without values: ffc draws them.\n"
                "# Written by examples/generate.\n"
                f'<ir_version: 8, opset_import: ["" : {self.opset}], '
                'producer_name: "ffc examples">\n'
                f"{self.name} (\n  " + ",\n  ".join(inputs) +
                f"\n) => ({self.output}) {{\n" + "\n".join(self.nodes).lstrip("\n") + "\n}\n")
