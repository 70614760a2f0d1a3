"""Makes a graph that fails smaller while it still fails."""

import dataclasses

from onnx_graph import FLOATS, Graph, Node, Value, size


def renamed(graph, old, new):
    """The graph with `new` where `old` is read, in inner graphs too; both are names."""
    def name_of(name):
        return new if name == old else name

    nodes = [dataclasses.replace(
        node, operands=[name_of(name) for name in node.operands],
        attributes={key: renamed(value, old, new) if isinstance(value, Graph) else value
                    for key, value in node.attributes.items()}) for node in graph.nodes]
    return graph.changed(nodes=nodes, outputs=[name_of(name) for name in graph.outputs])


def before(graph, index):
    """What node `index` could read."""
    return [*graph.inputs, *(value for value, _ in graph.initializers.values()),
            *(value for node in graph.nodes[:index] for value in node.made())]


def with_initializer(graph, value):
    name = "s" + value.name
    numbers = [(i % 7 - 3) / 4 for i in range(size(value.shape))]
    return graph.changed(initializers={
        **graph.initializers, name: (Value(name, value.shape, value.type), numbers)})


def candidates(graph, trains):
    """Smaller graphs, those that lose most first."""
    for output in graph.outputs[1:] if trains else graph.outputs:
        if len(graph.outputs) > 1:
            yield graph.changed(outputs=[name for name in graph.outputs if name != output])
    # The loss, or the output, of an earlier value.
    for index, node in enumerate(graph.nodes[:-1]):
        for value in node.made():
            if value.name in graph.outputs or value.is_sequence:
                continue
            if not trains:
                yield graph.changed(nodes=graph.nodes[:index + 1], outputs=[value.name])
            elif value.type == "float":
                end = Node("Tanh", {}, [value.name], [Value("end", value.shape)])
                yield graph.changed(nodes=graph.nodes[:index + 1] + [end], outputs=["end"])
    for index in reversed(range(len(graph.nodes))):
        for value in graph.nodes[index].made():
            if value.name in graph.outputs or value.is_sequence:
                continue
            for other in before(graph, index):
                if (other.shape, other.type) == (value.shape, value.type):
                    yield renamed(graph, value.name, other.name)
            if value.type in FLOATS:
                yield renamed(with_initializer(graph, value), value.name, "s" + value.name)


def shrink(graph, fails, most, trains):
    """The smallest graph found in `most` trials for which `fails` is true, as it is for `graph`."""
    trials = 0
    progress = True
    while progress and trials < most:
        progress = False
        for smaller in candidates(graph, trains):
            smaller = smaller.without_dead()
            if len(smaller.nodes) >= len(graph.nodes) and (
                    len(smaller.outputs) >= len(graph.outputs)):
                continue
            trials += 1
            if fails(smaller):
                graph, progress = smaller, True
                break
            if trials >= most:
                break
    return graph
