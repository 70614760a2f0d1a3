"""Draws small training graphs at random.

Values branch, are used several times or never, parameters are shared and transposed, extents are 1
or odd: what meets in graphs that nobody wrote by hand.
"""

import math
import random

from graph_operators import OPERATORS
from onnx_graph import Graph, Node, Value, size

MOST = 600  # elements of a value


class Drawing:
    """One graph while it is drawn."""

    def __init__(self, seed, nodes):
        self.random = random.Random(seed)
        shape = (self.pick([2, 3, 4, 6]),) + tuple(
            self.extent() for _ in range(self.pick([1, 1, 2, 2, 3])))
        self.graph = Graph([Value("x", shape)])
        self.pool = [self.graph.inputs[0]]
        self.used = set()
        self.add(self.dense, self.graph.inputs[0])
        while len(self.graph.nodes) < nodes:
            self.add(self.pick(OPERATORS), self.value())
        self.finish()

    # What is drawn

    def pick(self, choices):
        return self.random.choice(choices)

    def chance(self, share):
        return self.random.random() < share

    def extent(self):
        return self.pick([1, 2, 3, 3, 4, 5, 6, 7, 8])

    def value(self, accepts=lambda shape: True):
        """A value that was made, rather a recent one, or None."""
        fit = [value for value in self.pool if accepts(value.shape)]
        if not fit:
            return None
        return self.pick(fit[-3:] if self.chance(0.6) else fit)

    def parameter(self, shape):
        """A parameter, maybe one that others read too."""
        fit = [value for value, _ in self.graph.initializers.values()
               if value.shape == shape and value.name[0] == "w"]
        if fit and self.chance(0.4):
            return self.pick(fit)
        scale = 1 / math.sqrt(max(1, size(shape[:-1]))) if len(shape) > 1 else 1
        return self.given(shape, "float", [round(self.random.gauss(0, scale), 3)
                                           for _ in range(size(shape))], name="w")

    def given(self, shape, kind, numbers, name="c"):
        value = Value(f"{name}{len(self.graph.initializers)}", shape, kind)
        self.graph.initializers[value.name] = (value, numbers)
        return value

    def ints(self, *numbers):
        return self.given((len(numbers),), "int", numbers)

    def number(self, number):
        return self.given((), "float", [number])

    def node(self, operator, operands, shape, attributes="", kind="float"):
        """Appends a node and returns its result, or results if `shape` is a list of shapes."""
        shapes = shape if isinstance(shape, list) else [shape]
        first = sum(len(node.results) for node in self.graph.nodes)
        results = [Value(f"v{first + i}", tuple(s), kind) for i, s in enumerate(shapes)]
        self.used.update(value.name for value in operands if value)
        self.graph.nodes.append(Node(operator, attributes,
                                     [value and value.name for value in operands], results))
        return results if isinstance(shape, list) else results[0]

    def add(self, operator, value):
        """Lets `operator` make a value of another; not all can of all shapes."""
        before = len(self.graph.nodes), dict(self.graph.initializers), set(self.used)
        made = operator(self, value) if operator in OPERATORS else operator(value)
        made = made if isinstance(made, list) else [made]
        if None in made or any(size(v.shape) > MOST or len(v.shape) > 5 for v in made):
            del self.graph.nodes[before[0]:]
            self.graph.initializers, self.used = before[1:]
            return
        self.pool += made

    def dense(self, x):
        out = self.extent()
        return self.node("MatMul", [x, self.parameter((x.shape[-1], out))], x.shape[:-1] + (out,))

    def finish(self):
        """All that nobody used becomes part of the first output, which is the loss's."""
        total = self.pool[1]
        for value in self.pool[2:]:
            if value.name in self.used or value == total:
                continue
            axes = list(range(len(value.shape)))
            mean = self.node("ReduceMean", [value, self.ints(*axes)] if axes else [value], (),
                             "keepdims = 0")
            total = self.node("Add", [total, mean], total.shape)
        # Others may cancel out, or only choose; and a factor of one element is a constant.
        if total.shape[-1:] == (1,):
            total = self.node("MatMul", [total, self.parameter((1, 2))], total.shape[:-1] + (2,))
        else:
            total = self.node("Mul", [total, self.parameter(total.shape[-1:] or (2,))],
                              total.shape or (2,))
        y = self.node("Tanh", [total], total.shape)
        self.graph.outputs = [y.name]
        if self.chance(0.4):
            z = self.value()
            self.graph.outputs.append(self.node("Identity", [z], z.shape).name)
        self.graph = self.graph.without_dead()


def draw(seed, nodes=14):
    return Drawing(seed, nodes).graph
