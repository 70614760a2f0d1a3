"""Makes a graph that fails smaller while it still fails."""

import dataclasses

from onnx_graph import Graph, Node, Value, size


def replaced(graph, old, new):
    """The graph with `new` where `old` is read; both are names."""
    nodes = [dataclasses.replace(node, operands=[new if name == old else name
                                                 for name in node.operands])
             for node in graph.nodes]
    return Graph(graph.inputs, graph.initializers, nodes,
                 [new if name == old else name for name in graph.outputs])


def before(graph, index):
    """What node `index` could read."""
    return [*graph.inputs, *(value for value, _ in graph.initializers.values()),
            *(value for node in graph.nodes[:index] for value in node.results)]


def with_initializer(graph, value):
    name = "s" + value.name
    numbers = [(i % 7 - 3) / 4 for i in range(size(value.shape))]
    return Graph(graph.inputs,
                 {**graph.initializers, name: (Value(name, value.shape), numbers)},
                 graph.nodes, graph.outputs)


def candidates(graph):
    """Smaller graphs, those that lose most first."""
    for output in graph.outputs[1:]:
        yield Graph(graph.inputs, graph.initializers, graph.nodes,
                    [name for name in graph.outputs if name != output])
    # The loss of an earlier value.
    for index, node in enumerate(graph.nodes[:-2]):
        for value in node.results:
            if value.type == "float" and value.name not in graph.outputs:
                end = Node("Tanh", "", [value.name], [Value("end", value.shape)])
                yield Graph(graph.inputs, graph.initializers, graph.nodes[:index + 1] + [end],
                            ["end"])
    for index in reversed(range(len(graph.nodes))):
        for value in graph.nodes[index].results:
            if value.name in graph.outputs:
                continue
            for other in before(graph, index):
                if (other.shape, other.type) == (value.shape, value.type):
                    yield replaced(graph, value.name, other.name)
            if value.type == "float":
                yield replaced(with_initializer(graph, value), value.name, "s" + value.name)


def shrink(graph, fails, most=300):
    """The smallest graph found in `most` trials for which `fails` is true, as it is for `graph`."""
    trials = 0
    progress = True
    while progress and trials < most:
        progress = False
        for smaller in candidates(graph):
            smaller = smaller.without_dead()
            if len(smaller.nodes) >= len(graph.nodes):
                continue
            trials += 1
            if fails(smaller):
                graph, progress = smaller, True
                break
            if trials >= most:
                break
    return graph
