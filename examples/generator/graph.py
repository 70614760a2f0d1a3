"""ONNX graphs as text."""

import contextlib
import math
import textwrap

WIDTH = 100


def pair(value):
    return value if isinstance(value, tuple) else (value, value)


def text_of(value):
    if isinstance(value, tuple):
        return f"[{', '.join(map(str, value))}]"
    return f'"{value}"' if isinstance(value, str) else str(value)


def wrap(text, indent):
    return textwrap.wrap(text, WIDTH, initial_indent=indent, subsequent_indent="      ",
                         break_long_words=False, break_on_hyphens=False)


class Graph:
    """A graph under construction. A layer's result is called as the layer;
    `shapes` has the shape of every value, without the batch."""

    opset = 15
    digits = 2  # of GFLOP in tables
    # What the title says about inputs and outputs.
    notes = ["Parameters are inputs without values: ffc draws them. Logits are the output.",
             "Written by examples/generate."]

    def __init__(self, name, title):
        self.name, self.title = name, title
        self.shapes = {}
        self.inputs = []
        self.constants = {}
        self.nodes = []
        self.last = None
        self.parameters = 0
        self.rows = 1  # of activations, a sample
        self.data = set()
        self.flops = []  # forward, of every convolution and product, a sample
        self.leaf_flops = 0  # of those that read an input

    def input(self, name, shape, kind="float"):
        """An input that is given every step; the batch comes first."""
        self.inputs.append(f"{kind}{text_of(shape)} {name}")
        self.shapes[name] = shape[1:]
        self.data.add(name)
        self.last = name
        return name

    def count(self, x, flops):
        """Notes the flops of an operator on `x`."""
        self.flops.append(flops)
        self.leaf_flops += flops if x in self.data else 0

    def parameter(self, name, *shape):
        self.parameters += math.prod(shape)
        self._add_inputs({name: shape})
        return name

    def number(self, name, value):
        """A known float, which as an initializer would be a parameter."""
        if name not in self.shapes:
            self.node(name, "Constant", [], (), value_float=float(value))
        return name

    def constant(self, kind, name, value):
        """A known integer or list of integers."""
        dims = f"[{len(value)}]" if isinstance(value, tuple) else ""
        self.constants[f"{kind}{dims} {name}"] = (
            ", ".join(map(str, value)) if isinstance(value, tuple) else value)
        return name

    @contextlib.contextmanager
    def section(self, name, x):
        """A blank line and a comment with the shapes before a group of nodes."""
        at = len(self.nodes)
        yield
        shapes = [" x ".join(map(str, self.shapes[value])) or "1" for value in (x, self.last)]
        self.nodes.insert(at, f"\n  # {name}: {shapes[0]} -> {shapes[1]}")

    def linear(self, name, x, features, bias=True):
        inputs = self.shapes[x][-1]
        shapes = {"weight": (features, inputs), **({"bias": (features,)} if bias else {})}
        operands = self._parameters(name, **shapes)
        self.count(x, 2 * self.rows * features * inputs)
        return self.node(name, "Gemm", [x] + operands, (features,), transB=1)

    def relu(self, name, x):
        return self.node(name, "Relu", [x], self.shapes[x])

    def dropout(self, name, x, ratio=0.5):
        self.constants["float ratio"], self.constants["bool training"] = ratio, 1
        return self.node(name, "Dropout", [x, "ratio", "training"], self.shapes[x])

    def flatten(self, name, x):
        return self.node(name, "Flatten", [x], (math.prod(self.shapes[x]),))

    def add(self, name, x, y):
        return self.node(name, "Add", [x, y], self.shapes[x])

    def multiply(self, name, x, y):
        return self.node(name, "Mul", [x, y], self.shapes[x])

    def concat(self, name, values):
        channels = sum(self.shapes[value][0] for value in values)
        return self.node(name, "Concat", values, (channels,) + self.shapes[values[0]][1:], axis=1)

    def embedding(self, name, table, indices):
        """Rows of a table, which is a parameter with its width in `shapes`."""
        return self.node(name, "Gather", [table, indices],
                         self.shapes[indices] + self.shapes[table])

    def table(self, name, rows, width):
        self.shapes[name] = (width,)
        return self.parameter(name, rows, width)

    def node(self, name, kind, operands, shape, more_results=(), **attributes):
        defaults = {"strides": (1, 1), "pads": (0,) * 4, "group": 1, "count_include_pad": 0,
                    "epsilon": 1e-5}
        given = ", ".join(f"{key} = {text_of(value)}" for key, value in attributes.items()
                          if value != defaults.get(key))
        call = kind + (f" <{given}>" if given else "")
        tail = f"({', '.join(operands)})"
        if more_results:
            results = ", ".join([name, *more_results])
            self.nodes += wrap(f"{results} =", "  ") + [f"      {call}"] + wrap(tail, "      ")
        elif len(f"  {name} = {call} {tail}") <= WIDTH:
            self.nodes.append(f"  {name} = {call} {tail}")
        else:
            self.nodes += wrap(f"{name} = {call}", "  ") + wrap(tail, "      ")
        self.shapes[name] = shape
        self.last = name
        return name

    def text(self):
        inputs = self.inputs + ["\n".join(wrap(f"{key} = {{{value}}}", "  ")).lstrip()
                                for key, value in self.constants.items()]
        return ("".join(f"# {line}\n" for line in self.title + self.notes) +
                f'<ir_version: 8, opset_import: ["" : {self.opset}], '
                'producer_name: "ffc examples">\n'
                f"{self.name} (\n  " + ",\n  ".join(inputs) + "\n) => (float" +
                f"{text_of(self.answer())} {self.last}) {{\n" +
                "\n".join(self.nodes).lstrip("\n") + "\n}\n")

    def answer(self):
        """The shape of the output."""
        return ("N",) + self.shapes[self.last]

    def _parameters(self, layer, **shapes):
        named = {f"{layer}_{role}": shape for role, shape in shapes.items()}
        self.parameters += sum(map(math.prod, named.values()))
        self._add_inputs(named)
        return list(named)

    def _add_inputs(self, named):
        self.inputs.append(", ".join(f"float{text_of(shape)} {name}"
                                     for name, shape in named.items()))
