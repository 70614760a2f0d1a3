"""If, Loop and Scan, whose conditions and counts are known."""

from onnx_graph import FLOATS, Graph, Node, Value

from .registry import draws


def body_nodes(g, x, result, count):
    """A chain of functions from x to `result`."""
    nodes, at = [], x
    for i in range(count):
        to = result if i == count - 1 else Value(f"{result.name}_{i}", x.shape, x.type)
        nodes.append(Node(g.pick(["Tanh", "Sigmoid", "Relu", "Softplus"]), {}, [at.name], [to]))
        at = to
    return nodes


def named(g, shape, type, prefix):
    g.count += 1
    return Value(f"{prefix}{g.count}", tuple(shape), type)


@draws(types=("float", "double"), weight=1.2)
def condition(g, x):
    """If, on a constant or on what follows from shapes."""
    branches = []
    for _ in range(2):
        result = named(g, x.shape, x.type, "b")
        branches.append(Graph([], {}, body_nodes(g, x, result, g.pick([1, 2])), [result.name],
                              opset=g.opset))
    if g.chance(0.5) or not g.since(13):
        known = g.given((), "bool", [g.pick([0, 1])])
    else:
        whole = g.node("Size", [x], (), "int64")
        known = g.node("Greater", [whole, g.number(g.pick([2, 30]), "int64")], (), "bool")
    return g.node("If", [known], x.shape, x.type, then_branch=branches[0], else_branch=branches[1])


@draws(types=("float", "double"), weight=1.2)
def loop(g, x):
    """A few turns, with a carried value and, maybe, one that is collected."""
    turns = g.pick([1, 2, 3])
    step, going = named(g, (), "int64", "i"), named(g, (), "bool", "k")
    carried, after = named(g, x.shape, x.type, "s"), named(g, x.shape, x.type, "t")
    still, seen = named(g, (), "bool", "k"), named(g, x.shape, x.type, "e")
    by = g.parameter(x.shape[-1:])
    scaled = named(g, x.shape, x.type, "p")
    nodes = [Node("Identity", {}, [going.name], [still]),
             Node("Mul", {}, [carried.name, by.name], [scaled]),
             *body_nodes(g, scaled, after, 1),
             Node("Neg", {}, [after.name], [seen])]
    if g.chance(0.4):  # the number of the turn matters
        number, more = named(g, (), x.type, "n"), named(g, x.shape, x.type, "a")
        nodes[-1:] = [Node("Cast", {"to": 1 if x.type == "float" else 11}, [step.name], [number]),
                      Node("Add", {}, [after.name, number.name], [more]),
                      Node("Neg", {}, [more.name], [seen])]
    collects = g.chance(0.5)
    body = Graph([step, going, carried], {}, nodes if collects else nodes[:3],
                 [still.name, after.name] + [seen.name] * collects, opset=g.opset)
    shapes = [x.shape] + [(turns,) + x.shape] * collects
    first = None if g.chance(0.4) else g.given((), "bool", [1])
    return g.node("Loop", [g.number(turns, "int64"), first, x], shapes, x.type, body=body)


@draws(types=("float", "double"), ranks=(2, 3), weight=1.5)
def scan(g, x):
    """Sums of what was, over one dimension."""
    axis = g.random.randrange(len(x.shape)) if g.since(9) and g.chance(0.4) else 0
    if not g.since(9):
        return None
    row_shape = x.shape[:axis] + x.shape[axis + 1:]
    state, row = named(g, row_shape, x.type, "s"), named(g, row_shape, x.type, "r")
    total, after, out = (named(g, row_shape, x.type, p) for p in "tuo")
    nodes = [Node("Add", {}, [state.name, row.name], [total]),
             *body_nodes(g, total, after, 1),
             Node("Mul", {}, [after.name, row.name], [out])]
    body = Graph([state, row], {}, nodes, [after.name, out.name], opset=g.opset)
    given = {"num_scan_inputs": 1, "body": body}
    if axis or g.chance(0.3):
        given["scan_input_axes"] = [axis]
    if g.chance(0.4):
        given["scan_input_directions"] = [g.pick([0, 1])]
    place = 0
    if row_shape and g.chance(0.3):
        place = g.random.randrange(len(row_shape) + 1)
        given["scan_output_axes"] = [place]
    if g.chance(0.3):
        given["scan_output_directions"] = [g.pick([0, 1])]
    count = x.shape[axis]
    outs = row_shape[:place] + (count,) + row_shape[place:]
    return g.node("Scan", [g.parameter(row_shape), x], [row_shape, outs], x.type, **given)


@draws(types=FLOATS, ranks=(4,), weight=1)
def flex_attention(g, x):
    """Of the preview domain, with graphs for scores and weights."""
    b, h, n, w = x.shape
    keys = g.pick([n, 2, 3])
    heads = g.pick([k for k in (h, 1) if h % k == 0])
    k, v = g.parameter((b, heads, keys, w)), g.parameter((b, heads, keys, g.pick([w, 2])))
    given = {}
    inner = "double" if x.type == "double" else "float"
    for name in ("score_mod", "prob_mod"):
        if g.chance(0.4):
            before, after = (named(g, (b, h, n, keys), inner, "f") for _ in range(2))
            given[name] = Graph([before], {}, [Node(g.pick(["Tanh", "Identity", "Sigmoid"]), {},
                                                    [before.name], [after])], [after.name],
                                opset=g.opset)
    if g.chance(0.4):
        given["scale"] = 0.3
    if not g.since(26):
        return None
    return g.node("FlexAttention", [x, k, v], (b, h, n, v.shape[3]),
                  domain="ai.onnx.preview", **given)
