"""Functions of elements, and of elements of operands that broadcast."""

from onnx_graph import FLOATS, INTEGERS, SIGNED, TYPES, UNSIGNED, size

from .registry import ANY_RANK, draws

ALL = tuple(TYPES)


def positive(g, x):
    """A value above 0, for functions that want one."""
    soft = g.node("Softplus", [x], x.shape)
    return g.node("Add", [soft, g.number(0.3)], x.shape)


def axis_of(g, x):
    """A dimension of x, counted from either end where the opset lets it, and its place."""
    d = g.random.randrange(len(x.shape))
    return d, d if g.chance(0.5) or not g.since(11) else d - len(x.shape)


# Functions of one value, with attributes of which any may be left out.
FUNCTIONS = [
    ("Relu", {}), ("Tanh", {}), ("Sigmoid", {}), ("Abs", {}), ("Neg", {}), ("Floor", {}),
    ("Ceil", {}), ("Round", {}), ("Sign", {}), ("Softplus", {}), ("Softsign", {}), ("Erf", {}),
    ("Elu", {"alpha": 0.7}), ("LeakyRelu", {"alpha": 0.2}), ("Selu", {"alpha": 1.5, "gamma": 1.1}),
    ("Celu", {"alpha": 1.5}), ("HardSigmoid", {"alpha": 0.3, "beta": 0.4}), ("HardSwish", {}),
    ("Mish", {}), ("Gelu", {"approximate": "tanh"}), ("Gelu", {"approximate": "none"}), ("Sin", {}),
    ("Cos", {}), ("ThresholdedRelu", {"alpha": 0.3}), ("Identity", {}), ("Atan", {}),
    ("Asinh", {}), ("Swish", {"alpha": 0.7}), ("Shrink", {"lambd": 0.3, "bias": 0.1}),
]


@draws(ranks=ANY_RANK, weight=10)
def function(g, x):
    name, attributes = g.pick(FUNCTIONS)
    given = {key: value for key, value in attributes.items() if g.chance(0.7)}
    return g.node(name, [x], x.shape, **given)


@draws(types=FLOATS + SIGNED, ranks=ANY_RANK)
def sign_function(g, x):
    return g.node(g.pick(["Abs", "Neg", "Sign", "Relu", "Identity"]), [x], x.shape)


@draws(ranks=ANY_RANK, weight=2)
def function_of_range(g, x):
    """Functions that want values of some range, or grow fast."""
    name = g.pick(["Exp", "Sinh", "Cosh", "Tan", "Acos", "Asin", "Atanh", "Acosh"])
    if name == "Acosh":
        x = g.node("Add", [positive(g, x), g.number(1.0)], x.shape)
    else:
        x = g.node("Tanh", [x], x.shape)
        if name[0] == "A":
            x = g.node("Mul", [x, g.number(0.75)], x.shape)
    return g.node(name, [x], x.shape)


@draws(ranks=ANY_RANK, weight=2)
def positive_function(g, x):
    if g.chance(0.4):
        power = g.number(g.pick([0.5, 1.5, 2.0, 3.0, -1.0, 0.0]))
        if g.since(12) and g.chance(0.4):
            power = g.given((), g.pick(["int32", "int64", "float", "double"]), [g.pick([1, 2, 3])])
        base = x if power.type[:3] == "int" else positive(g, x)
        return g.node("Pow", [base, power], x.shape)
    return g.node(g.pick(["Sqrt", "Log", "Reciprocal"]), [positive(g, x)], x.shape)


@draws(types=FLOATS + INTEGERS, ranks=ANY_RANK)
def clip(g, x):
    low, high = (-0.6, 0.8) if x.type in FLOATS else (1, 4)
    if not g.since(11):
        given = g.pick([{"min": -0.6, "max": 0.8}, {"min": -0.6}, {"max": 0.8}, {}])
        return g.node("Clip", [x], x.shape, **given)
    bounds = g.pick([[low, high], [low], [None, high], []])
    return g.node("Clip", [x] + [None if b is None else g.number(b) for b in bounds], x.shape)


@draws(types=FLOATS)
def prelu(g, x):
    if not x.shape:
        return None
    return g.node("PRelu", [x, g.parameter(g.pick([(x.shape[-1],), (1,), smaller(g, x.shape)]))],
                  x.shape)


def smaller(g, shape):
    """A shape that broadcasts to another."""
    kept = g.random.randrange(len(shape) + 1)
    return tuple(1 if g.chance(0.4) else n for n in shape[kept:])


def broadcast(a, b):
    rank = max(len(a), len(b))
    a, b = (1,) * (rank - len(a)) + a, (1,) * (rank - len(b)) + b
    if any(m != n and 1 not in (m, n) for m, n in zip(a, b)):
        return None
    return tuple(n if m == 1 else m for m, n in zip(a, b))


def partner(g, x):
    """What stands beside x at an operator of two values."""
    other = g.value(lambda value: broadcast(x.shape, value.shape) is not None)
    return g.parameter(smaller(g, x.shape)) if g.chance(0.4) or not other else other


def bounded(g, x):
    """Integers that stay small."""
    if x.type in FLOATS or not g.since(10):
        return x
    return g.node("Mod", [x, g.number(11)], x.shape)


@draws(types=FLOATS + INTEGERS, ranks=ANY_RANK, weight=5)
def arithmetic(g, x):
    operator = g.pick(["Add", "Sub", "Mul", "Max", "Min"] +
                      (["Mean", "Sum"] if x.type in FLOATS else []))
    if x.type in ("uint32", "uint64") and operator == "Sub":
        return None
    others = [partner(g, x)]
    if operator not in ("Add", "Sub", "Mul"):
        if g.chance(0.2):
            others = []
        elif g.chance(0.3):
            others.append(partner(g, x))
    shape = x.shape
    for other in others:
        shape = broadcast(shape, other.shape) if shape is not None else None
    if shape is None:
        return None
    operands = [x, *others]
    if operator in ("Max", "Min", "Mean", "Sum") and not g.since(8) and any(
            other.shape != x.shape for other in others):
        return None
    if g.chance(0.3):
        operands.reverse()
    made = g.node(operator, operands, shape)
    return bounded(g, made) if operator == "Mul" else made


@draws(types=FLOATS + INTEGERS, ranks=ANY_RANK, weight=2)
def quotient(g, x):
    if x.type not in FLOATS:
        shape = smaller(g, x.shape)
        by = g.given(shape, x.type, [g.pick([1, 2, 3, 5]) for _ in range(size(shape))])
        return g.node("Div", [x, by], broadcast(x.shape, by.shape))
    other = positive(g, partner(g, x))
    return g.node("Div", [x, other], broadcast(x.shape, other.shape))


@draws(types=FLOATS + INTEGERS, ranks=ANY_RANK, weight=2)
def modulo(g, x):
    shape = smaller(g, x.shape)
    signs = [1, -1] if x.type not in UNSIGNED else [1]
    kinds = [2, 3, 5] if x.type not in FLOATS else [0.7, 1.3, 2.0]
    by = g.given(shape, x.type, [g.pick(kinds) * g.pick(signs) for _ in range(size(shape))])
    fmod = {"fmod": 1} if x.type in FLOATS or g.chance(0.4) else g.pick([{}, {"fmod": 0}])
    return g.node("Mod", [x, by], x.shape, **fmod)


@draws(types=ALL, ranks=ANY_RANK, weight=2)
def comparison(g, x):
    other = partner(g, x)
    shape = broadcast(x.shape, other.shape)
    names = ["Equal"] if x.type == "bool" else ["Equal", "Greater", "Less", "GreaterOrEqual",
                                                "LessOrEqual"]
    return g.node(g.pick(names), [x, other], shape, "bool")


@draws(types=ALL, ranks=ANY_RANK, weight=2)
def where(g, x):
    if x.type == "bfloat16" and not g.since(16):
        return None
    other = partner(g, x)
    shape = broadcast(x.shape, other.shape)
    condition = g.value(lambda v: broadcast(v.shape, shape) is not None, "bool")
    if not condition or g.chance(0.3):
        condition = g.constants(smaller(g, shape), "bool")
    shape = broadcast(shape, condition.shape)
    return g.node("Where", [condition, x, other], shape, x.type)


@draws(ranks=ANY_RANK)
def mask(g, x):
    other = partner(g, x)
    shape = broadcast(x.shape, other.shape)
    above = g.node(g.pick(["Greater", "Less"]), [x, other], shape, "bool")
    return g.node("Mul", [g.cast(above, x.type), x], shape)


@draws(types=("bool",), ranks=ANY_RANK, weight=3)
def logic(g, x):
    if g.chance(0.3):
        return g.node("Not", [x], x.shape)
    other = partner(g, x)
    return g.node(g.pick(["And", "Or", "Xor"]), [x, other], broadcast(x.shape, other.shape))


@draws(ranks=ANY_RANK)
def is_special(g, x):
    if g.chance(0.4):
        return g.node("IsNaN", [x], x.shape, "bool")
    zero = g.node("Sub", [x, x], x.shape)
    rest = g.node("Div", [x, zero] if g.chance(0.5) else [x, g.number(2.0)], x.shape)
    given = g.pick([{}, {"detect_negative": 0}, {"detect_positive": 0},
                    {"detect_negative": 1, "detect_positive": 1}])
    return g.node("IsInf", [rest], x.shape, "bool", **given)


def ranged(g, x, type):
    """Floats that integers of a type can hold."""
    x = g.node("Mul", [x, g.number(3.0)], x.shape)
    low, high = 0.25 if type in UNSIGNED else -9.5, 9.5  # not where rounding makes another one
    if not g.since(11):
        return g.node("Clip", [x], x.shape, min=low, max=high)
    return g.node("Clip", [x, g.number(low), g.number(high)], x.shape)


def cast_attributes(g, type):
    given = {}
    if g.since(19) and g.chance(0.2):
        given["saturate"] = g.pick([0, 1])
    if g.since(24) and g.chance(0.05):
        given["round_mode"] = g.pick(["up", "down", "nearest"])
    return given


@draws(types=ALL, ranks=ANY_RANK, weight=6)
def cast(g, x):
    """To any type."""
    return cast_to(g, x, g.pick(("float",) * 4 + ("double", "float16", "bfloat16", "bool", "int64",
                                                  "int32") + INTEGERS))


def cast_to_integers(g, x):
    return cast_to(g, x, g.pick(("bool", "int64", "int32") + INTEGERS))


def cast_to(g, x, type):
    if type == "bfloat16" and not g.since(13):
        return None
    if x.type in FLOATS and type in INTEGERS:
        x = ranged(g, x, type)
    elif type in UNSIGNED and x.type in SIGNED:
        x = g.node("Abs", [x], x.shape)
    if g.since(15) and g.chance(0.25):
        given = {name: value for name, value in cast_attributes(g, type).items()
                 if name != "round_mode" or g.opset < 28}
        return g.node("CastLike", [x, g.constants(g.pick([(), (1,), (2, 3)]), type)], x.shape,
                      type, **given)
    return g.node("Cast", [x], x.shape, type, to=TYPES[type], **cast_attributes(g, type))


@draws(types=("int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float",
              "double"), ranks=ANY_RANK, weight=0.3)
def bit_cast(g, x):
    to = {"float": ["int32"], "double": ["int64"]}.get(x.type) or [
        x.type[1:] if x.type[0] == "u" else "u" + x.type]
    type = g.pick(to)
    if g.chance(0.9):
        x = g.constants(x.shape)  # others are not supported
    made = g.node("BitCast", [x], x.shape, type, to=TYPES[type])
    if x.type in FLOATS:  # a large number says little
        return g.node("BitCast", [made], x.shape, x.type, to=TYPES[x.type])
    return made
