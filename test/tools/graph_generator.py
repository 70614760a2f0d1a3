"""Draws small graphs at random.

Values branch, are used several times or never, parameters are shared and transposed, extents are 1
or odd, element types and opsets differ: what meets in graphs that nobody wrote by hand.
"""

import dataclasses
import math
import random

from graph_operators import OPERATORS
from graph_operators.elementwise import cast_to, cast_to_integers
from graph_operators.movement import reshape_to
from onnx_graph import FLOATS, NARROW, TYPES, UNSIGNED, Graph, Node, Value, size
from onnx_schemas import read_schemas

MOST = 600  # elements of a value
OPSETS = [7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 18, 19, 20, 20, 21, 22, 22, 23, 24, 25, 26,
          27, 28, 28]
SCHEMAS = read_schemas()
BATCHES = [2, 3, 4, 6]


class Cannot(Exception):
    """An operator that does not fit what there is."""


def version_of(operator, opset):
    """(first opset, types of operand 0) of the version of an operator in an opset, or None."""
    known = [version for version in SCHEMAS.get(operator, []) if version[0] <= opset]
    return known[-1] if known and known[-1][1] else None


class Drawing:
    """One graph while it is drawn.

    Operators use what stands before `add`. `type` is the element type of the value that they are
    given: nodes and constants have it unless they say otherwise.
    """

    def __init__(self, seed, nodes, bare=False, operators=None):
        self.random = random.Random(seed)
        self.operators = operators or OPERATORS
        self.type = "float"
        self.is_bare = bare
        self.count = 0
        self.most = MOST
        opset = self.pick(OPSETS)
        if operators:  # those that are asked for are more important
            opset = self.pick([o for o in OPSETS if o >= 18])
        shape = (self.pick(BATCHES),) + tuple(
            self.extent() for _ in range(self.pick([1, 1, 2, 2, 3])))
        if bare and self.chance(0.15):
            shape = self.pick([(), (1,), (3,), (1, 1)])
        self.is_open = self.chance(0.1)
        self.draws_random = self.chance(0.08)
        self.names = self.pick(["none", "short", "path"])
        kinds = ["float"] * 7 + ["double", "float16"] + ["bfloat16"] * (opset >= 13)
        self.graph = Graph([Value("x", shape, self.pick(kinds))], opset=opset,
                           is_listed=self.chance(0.15), batch="N" if self.is_open and shape else "")
        self.pool = [self.graph.inputs[0]]
        self.used = set()
        if not bare:
            self.add(lambda g, x: g.dense(x), self.graph.inputs[0])
        for _ in range(self.pick([0, 0, 0, 0, 1, 2])):  # some graphs are of integers, too
            self.add(cast_to_integers, self.value(type=FLOATS))
        tries = 0
        while len(self.graph.nodes) < nodes and tries < 60 * nodes:
            tries += 1
            self.draw_one()
        if bare:
            self.finish_bare()
        else:
            self.finish()

    def draw_one(self):
        operator = self.random.choices(self.operators, [o.weight for o in self.operators])[0]
        if operator.is_random and not self.draws_random:
            return
        value = self.value(operator.accepts, type=None) or self.fitted(operator)
        if value:
            self.add(operator.function, value)

    def fitted(self, operator):
        """A value that `operator` accepts, made of one that it does not, or None."""
        value = self.value(type=None)
        if value.type not in operator.types:
            value = self.add(lambda g, x: cast_to(g, x, g.pick(operator.types)), value)
        if value and operator.ranks and len(value.shape) not in operator.ranks:
            value = self.add(lambda g, x: reshape_to(g, x, g.pick(operator.ranks)), value)
        return value if value and operator.accepts(value) else None

    # What is drawn

    @property
    def opset(self):
        return self.graph.opset

    def since(self, version):
        return self.opset >= version

    def pick(self, choices):
        return self.random.choice(choices)

    def chance(self, share):
        return self.random.random() < share

    def some(self, **attributes):
        """Those that are not None, or, often, some of them left out."""
        return {name: value for name, value in attributes.items() if value is not None}

    def extent(self):
        return self.pick([1, 2, 3, 3, 4, 5, 6, 7, 8])

    def value(self, accepts=lambda value: True, type="own"):
        """A value that was made, rather a recent one, or None. Of the type in use, any (None),
        one or several."""
        types = {"own": (self.type,), None: TYPES}.get(type, type)
        types = (types,) if isinstance(types, str) else types
        fit = [value for value in self.pool if value.type in types and accepts(value)]
        if not fit:
            return None
        return self.pick(fit[-3:] if self.chance(0.6) else fit)

    def parameter(self, shape, type=None):
        """A parameter, maybe one that others read too; a constant unless floats."""
        shape, type = tuple(shape), type or self.type
        if type not in FLOATS:
            return self.constants(shape, type)
        fit = [value for value, _ in self.graph.initializers.values()
               if value.shape == shape and value.name[0] == "w" and value.type == type]
        if fit and self.chance(0.4):
            return self.pick(fit)
        scale = 1 / math.sqrt(max(1, size(shape[:-1]))) if len(shape) > 1 else 1
        return self.given(shape, type, [round(self.random.gauss(0, scale), 5)
                                        for _ in range(size(shape))], name="w")

    def constants(self, shape, type=None):
        """Small numbers that are not trained."""
        type = type or self.type
        if type == "bool":
            numbers = [self.random.randrange(2) for _ in range(size(shape))]
        elif type in FLOATS:
            numbers = [round(self.random.gauss(0, 1), 2) for _ in range(size(shape))]
        else:
            least = 0 if type in UNSIGNED else -3
            numbers = [self.random.randrange(least, 6) for _ in range(size(shape))]
        return self.given(tuple(shape), type, numbers)

    def given(self, shape, type, numbers, name="c"):
        numbers = list(numbers)
        if type in NARROW:  # such that they have them exactly
            numbers = [round(n * 64) / 64 if abs(n) < 2 else float(round(n)) for n in numbers]
        elif type in FLOATS:
            numbers = [float(n) for n in numbers]
        if name == "w":  # not 0, where functions have kinks
            numbers = [n or 1 / 64 for n in numbers]
        value = Value(f"{name}{len(self.graph.initializers)}", tuple(shape), type)
        allowed = type in FLOATS and type != "bfloat16" or self.since(13)
        if name == "c" and allowed and self.chance(0.25):
            return self.constant_node(value, numbers)
        self.graph.initializers[value.name] = (value, numbers)
        return value

    def constant_node(self, value, numbers):
        """The same by a node, in one of its forms."""
        forms = [{"value": (dataclasses.replace(value, name=""), numbers)}]
        if self.since(12) and len(value.shape) < 2 and numbers:
            kinds = {"int64": ("value_int", "value_ints"), "float": ("value_float", "value_floats")}
            if value.type in kinds:
                name = kinds[value.type][len(value.shape)]
                forms.append({name: list(numbers) if value.shape else numbers[0]})
        return self.node("Constant", [], value.shape, value.type, **self.pick(forms))

    def ints(self, *numbers, type="int64"):
        return self.given((len(numbers),), type, numbers)

    def number(self, number, type=None):
        return self.given((), type or self.type, [number])

    def indices(self, shape, extent, type="int64", negative=True):
        """Places along a dimension."""
        least = -extent if negative and self.chance(0.3) else 0
        return self.given(shape, type, [self.random.randrange(least, extent)
                                        for _ in range(size(shape))])

    def node(self, operator, operands, shape, type=None, /, domain="", **attributes):
        """Appends a node and returns its result, or results if `shape` is a list of shapes, of
        which None is left out. `type`, or a list: of results; operand 0's if none is said."""
        first = operands[0] if operands else None
        if not domain:
            version = version_of(operator, self.opset)
            if not version or (first and not first.is_sequence and first.type not in version[1]
                               and not version[1] & {"none", "other"}):
                raise Cannot
        type = type or (first.type if first else self.type)
        shapes = shape if isinstance(shape, list) else [shape]
        types = type if isinstance(type, list) else [type] * len(shapes)
        results = []
        for shape_, type_ in zip(shapes, types):
            if shape_ is not None and (size(shape_) > self.most or len(shape_) > 5):
                raise Cannot
            results.append(None if shape_ is None else
                           Value(f"v{self.count}", tuple(shape_), type_))
            self.count += 1
        made = Node(operator, attributes, [value and value.name for value in operands], results,
                    domain, self.name_of(operator))
        self.used.update(made.reads())
        self.graph.nodes.append(made)
        return results if isinstance(shape, list) else results[0]

    def name_of(self, operator):
        if self.names == "none":
            return ""
        return f"n{self.count}" if self.names == "short" else f"/block.{self.count}/{operator}"

    def add(self, operator, value):
        """Lets `operator` make a value of another, or several, of which it returns the last; not
        all can of all shapes."""
        before = (len(self.graph.nodes), dict(self.graph.initializers), list(self.graph.inputs),
                  set(self.used))
        self.type = value.type
        try:
            made = operator(self, value)
        except Cannot:
            made = None
        made = made if isinstance(made, list) else [made]
        if None in made:
            del self.graph.nodes[before[0]:]
            self.graph.initializers, self.graph.inputs, self.used = before[1:]
            return None
        self.pool += made
        return made[-1]

    # Parts of operators

    def dense(self, x):
        out = self.extent()
        return self.node("MatMul", [x, self.parameter((x.shape[-1], out))], x.shape[:-1] + (out,))

    def cast(self, x, type):
        if x.type == type:
            return x
        return self.node("Cast", [x], x.shape, type, to=TYPES[type])

    def squeeze(self, x, axes):
        shape = tuple(n for d, n in enumerate(x.shape) if d not in axes)
        if self.since(13):
            return self.node("Squeeze", [x, self.ints(*axes)], shape)
        return self.node("Squeeze", [x], shape, axes=list(axes))

    def unsqueeze(self, x, d):
        shape = x.shape[:d] + (1,) + x.shape[d:]
        if self.since(13):
            return self.node("Unsqueeze", [x, self.ints(d)], shape)
        return self.node("Unsqueeze", [x], shape, axes=[d])

    def reshape(self, x, shape):
        return self.node("Reshape", [x, self.ints(*shape)], tuple(shape))

    def transpose(self, x, perm):
        return self.node("Transpose", [x], tuple(x.shape[d] for d in perm), perm=list(perm))

    def reduce(self, operator, x, axes=None, keepdims=1, **attributes):
        """Over all dimensions without axes."""
        gone = range(len(x.shape)) if axes is None else [d % len(x.shape) for d in axes]
        shape = tuple(1 if d in gone else n for d, n in enumerate(x.shape)
                      if keepdims or d not in gone)
        if not (keepdims == 1 and self.chance(0.3)):
            attributes["keepdims"] = keepdims
        operands = [x]
        if axes is not None:
            if self.since(13 if operator == "ReduceSum" else 18):
                operands.append(self.ints(*axes))
            else:
                attributes["axes"] = list(axes)
        return self.node(operator, operands, shape, **attributes)

    def mean(self, x):
        """Of all elements, as a float."""
        x = self.cast(x, "float")
        if not x.shape:
            return x
        axes = list(range(len(x.shape))) if self.chance(0.5) else None
        return self.reduce("ReduceMean", x, axes, 0)

    # The end

    def unread(self, values):
        return [value for value in values if value.name not in self.used]

    def finish(self):
        """All that nobody used becomes part of the first output, which is the loss's."""
        self.most = 4 * MOST
        start = next((v for v in self.pool[1:] if v.type == "float"), self.pool[-1])
        total = self.cast(start, "float")
        for value in self.unread(self.pool[1:]):
            if value in (start, total):
                continue
            total = self.node("Add", [total, self.mean(value)], total.shape)
        if not self.is_of_input(total):  # else there is nothing to train
            total = self.node("Add", [total, self.mean(self.pool[0])], total.shape)
        self.type = "float"
        # Others may cancel out, or only choose; a factor of one element is a constant, and so is
        # one of inputs as they are.
        if total.shape[-1:] == (1,) or total.shape and not self.reads_weights(total):
            total = self.node("MatMul", [total, self.parameter((total.shape[-1], 2))],
                              total.shape[:-1] + (2,))
        else:
            total = self.node("Mul", [total, self.parameter(total.shape[-1:] or (2,))],
                              total.shape or (2,))
        y = self.node("Tanh", [total], total.shape)
        outputs = [y.name]
        if self.chance(0.4):
            z = self.value(lambda value: value.name != "x" and value in self.made_values())
            if z:
                direct = self.chance(0.5)
                outputs.append((z if direct else self.node("Identity", [z], z.shape)).name)
        self.graph = self.graph.changed(outputs=outputs).without_dead()

    def is_of_input(self, value):
        """Does it depend on the input by numbers that are no integers?"""
        return self.graph.inputs[0].name in self.behind(value)

    def reads_weights(self, value):
        return any(name.startswith("w") for name in self.behind(value))

    def behind(self, value):
        """The names of what it depends on by numbers that are no integers."""
        makers = {made.name: (made, node) for node in self.graph.nodes for made in node.made()}
        left, seen = [value.name], set()
        while left:
            name = left.pop()
            made, node = makers.get(name, (None, None))
            if made and made.type in FLOATS and name not in seen:
                left += node.reads()
            seen.add(name)
        return seen

    def made_values(self):
        return [value for node in self.graph.nodes for value in node.made()]

    def finish_bare(self):
        """Outputs are what nobody used, of any type, and some that others read."""
        made = self.pool[1:]
        if not made:
            made = [self.node("Identity", [self.pool[0]], self.pool[0].shape)]
        outputs = self.unread(made) or made[-1:]
        outputs = outputs[-4:]
        if self.chance(0.3):
            outputs.append(self.pick(made))
        names = list(dict.fromkeys(value.name for value in outputs))
        self.graph = self.graph.changed(outputs=names).without_dead()


def draw(seed, nodes=14, bare=False, operators=None):
    return Drawing(seed, nodes, bare, operators).graph
