"""Mixtures of experts, routed with primitives: capacity, no data-dependent shapes."""

from .text import TextGraph


class ExpertGraph(TextGraph):
    """Samples or tokens are rows of a matrix."""

    def routing_constants(self, experts, select, factor):
        self.experts, self.select = experts, select
        self.constant("experts", "int64", experts)
        self.constant("select", "int64", (select,))
        self.constant("off_on", "float", (0.0, 1.0))
        self.constant("zero", "int64", 0)
        self.constant("first", "int64", (0,))
        self.constant("second", "int64", (1,))
        self.constant("third", "int64", (2,))
        self.constant("rows_of_experts", "int64", (-1, experts))
        # Places per expert: as many as `factor` times an even share, rounded up.
        self.constant("share", "int64", select * factor)
        self.constant("round", "int64", experts - 1)

    def linear(self, name, x, inputs, outputs):
        return self.node(name, "Gemm", [x, self.parameter(f"{name}_weight", outputs, inputs),
                                        self.parameter(f"{name}_bias", outputs)], transB=1)

    def capacity(self, name, x):
        """Places of an expert for the rows of `x`."""
        size = self.node(f"{name}_size", "Shape", [x])
        rows = self.node(f"{name}_rows", "Gather", [size, "zero"])
        shares = self.node(f"{name}_shares", "Mul", [rows, "share"])
        above = self.node(f"{name}_above", "Add", [shares, "round"])
        places = self.node(f"{name}_places", "Div", [above, "experts"])
        return self.node(f"{name}_capacity", "Unsqueeze", [places, "first"])

    def route(self, name, x, logits):
        """Matrices [rows, experts * places]: where a row goes, and the weight of what
        comes back. First choices go before second ones; an expert that is full
        takes no more."""
        gates = self.node(f"{name}_gates", "Softmax", [logits], axis=-1)
        weights, chosen = self.node([f"{name}_weights", f"{name}_chosen"], "TopK",
                                    [gates, "select"], axis=-1)
        hot = self.node(f"{name}_hot", "OneHot", [chosen, "experts", "off_on"], axis=-1)
        ordered = self.node(f"{name}_ordered", "Transpose", [hot], perm=(1, 0, 2))
        asked = self.node(f"{name}_asked", "Reshape", [ordered, "rows_of_experts"])
        before = self.node(f"{name}_before", "CumSum", [asked, "zero"], exclusive=1)
        own = self.node(f"{name}_own", "Mul", [before, asked])
        place = self.node(f"{name}_place", "ReduceSum", [own, "second"], keepdims=0)
        depth = self.capacity(name, x)
        slot = self.node(f"{name}_slot", "OneHot", [place, depth, "off_on"], axis=-1)
        row = self.node(f"{name}_row", "Unsqueeze", [asked, "third"])
        column = self.node(f"{name}_column", "Unsqueeze", [slot, "second"])
        taken = self.node(f"{name}_taken", "Mul", [row, column])
        # [choices, rows, experts * places]
        flat = self.node(f"{name}_flat", "Concat", ["select", "minus", depth], axis=0)
        self.constant("minus", "int64", (-1,))
        sizes = self.node(f"{name}_sizes", "Mul", [flat, "times_experts"])
        self.constant("times_experts", "int64", (1, 1, self.experts))
        choices = self.node(f"{name}_choices", "Reshape", [taken, sizes])
        there = self.node(f"{name}_there", "ReduceSum", [choices, "first"], keepdims=0)
        turned = self.node(f"{name}_turned", "Transpose", [weights], perm=(1, 0))
        weighted = self.node(f"{name}_weighted", "Mul", [
            choices, self.node(f"{name}_by_row", "Unsqueeze", [turned, "third"])])
        back = self.node(f"{name}_back", "ReduceSum", [weighted, "first"], keepdims=0)
        return there, back

    def dense_of_experts(self, name, y, widths):
        """Dense layers with weights [experts, in, out] on [experts, rows, in]."""
        for i in range(1, len(widths)):
            weight = self.parameter(f"{name}_weight{i}", self.experts, widths[i - 1], widths[i])
            y = self.node(f"{name}_dense{i}", "MatMul", [y, weight])
            if i + 1 < len(widths):
                y = self.node(f"{name}_relu{i}", "Relu", [y])
        return y

    def mixture(self, name, x, logits, widths):
        """Dense layers of `widths` per expert, with rectifiers between them."""
        there, back = self.route(name, x, logits)
        sent = self.node(f"{name}_sent", "MatMul", [
            self.node(f"{name}_to", "Transpose", [there], perm=(1, 0)), x])
        shape = self.constant(f"{name}_in", "int64", (self.experts, -1, widths[0]))
        y = self.node(f"{name}_inbox", "Reshape", [sent, shape])
        y = self.dense_of_experts(name, y, widths)
        shape = self.constant(f"{name}_out", "int64", (-1, widths[-1]))
        y = self.node(f"{name}_outbox", "Reshape", [y, shape])
        return self.node(name, "MatMul", [back, y])

    def mixture_of_groups(self, name, x, logits, length, widths, factor):
        """The same for sequences [N, length, width], each of which has room of its own
        with every expert, so that sequences may be on different devices (GShard)."""
        experts, select = self.experts, self.select
        places = -(-select * factor * length // experts)
        room = experts * places

        def shaped(suffix, value, *shape):
            target = self.constant(f"{suffix}_shape", "int64", shape)
            return self.node(f"{name}_{suffix}", "Reshape", [value, target])

        def turned(suffix, value, *perm):
            return self.node(f"{name}_{suffix}", "Transpose", [value], perm=perm)

        gates = self.node(f"{name}_gates", "Softmax", [logits], axis=-1)
        weights, chosen = self.node([f"{name}_weights", f"{name}_chosen"], "TopK",
                                    [gates, "select"], axis=-1)
        hot = self.node(f"{name}_hot", "OneHot", [chosen, "experts", "off_on"], axis=-1)
        # First choices go before second ones.
        asked = shaped("asked", turned("ordered", hot, 0, 2, 1, 3), -1, select * length, experts)
        before = self.node(f"{name}_before", "CumSum", [asked, "one"], exclusive=1)
        own = self.node(f"{name}_own", "Mul", [before, asked])
        place = self.node(f"{name}_place", "ReduceSum", [own, "third"], keepdims=0)
        depth = self.constant("places", "int64", places)
        slot = self.node(f"{name}_slot", "OneHot", [place, depth, "off_on"], axis=-1)
        taken = self.node(f"{name}_taken", "Mul", [
            self.node(f"{name}_row", "Unsqueeze", [asked, "fourth"]),
            self.node(f"{name}_column", "Unsqueeze", [slot, "third"])])
        choices = shaped("choices", taken, -1, select, length, room)
        there = self.node(f"{name}_there", "ReduceSum", [choices, "second"], keepdims=0)
        weighted = self.node(f"{name}_weighted", "Mul", [choices, self.node(
            f"{name}_by_row", "Unsqueeze", [turned("by_choice", weights, 0, 2, 1), "fourth"])])
        back = self.node(f"{name}_back", "ReduceSum", [weighted, "second"], keepdims=0)

        sent = self.node(f"{name}_sent", "MatMul", [turned("to", there, 0, 2, 1), x])
        y = turned("sorted", shaped("apart", sent, -1, experts, places, widths[0]), 1, 0, 2, 3)
        y = self.dense_of_experts(name, shaped("inbox", y, experts, -1, widths[0]), widths)
        y = turned("unsorted", shaped("outbox", y, experts, -1, places, widths[-1]), 1, 0, 2, 3)
        return self.node(name, "MatMul", [back, shaped("home", y, -1, room, widths[-1])])


def moe(experts=5, select=2, factor=2, hidden=64, gate=64, pixels=784, classes=10):
    g = ExpertGraph("moe", [
        f"A mixture of {experts} experts for MNIST, {select} per image, with room for {factor} times an even",
        "share of them. FlexFlow's: images of 784, a gate of 64 and 5, top 2 of 5 experts, the",
        f"capacity factor. Ours: a hidden layer of {hidden} in the experts and no biases there; no term",
        "that balances their load, and no cache of assignments."])
    x = g.input("image", ("N", pixels))
    g.routing_constants(experts, select, factor)
    g.comment("gate")
    y = g.node("gate1_relu", "Relu", [g.linear("gate1", x, pixels, gate)])
    logits = g.linear("gate2", y, gate, experts)
    g.comment("experts")
    g.answer(g.mixture("moe", x, logits, (pixels, hidden, classes)), ("N", classes))
    return g


def moe_encoder(layers=6, heads=16, width=1024, sequence=128, experts=8, select=2, factor=2,
                hidden=4096, classes=10):
    g = ExpertGraph("moe_encoder", [
        f"An encoder of {layers} layers with {heads} heads whose feed-forward parts are mixtures of",
        f"experts, top {select}, capacity factor {factor}: all that FlexFlow's MoE encoder has to say. Ours:",
        f"width {width}, sequences of {sequence}, {experts} experts with {hidden} hidden units, without biases,",
        "residual additions and layer normalisation, the mean over the sequence at the end, and that",
        "the capacity is per sequence, as in GShard (Lepikhin et al., 2020)."],
                    opset=17)
    depth = width // heads
    rows = g.input("rows", ("N", sequence, width))
    g.routing_constants(experts, select, factor)
    g.constant("one", "int64", 1)
    g.constant("fourth", "int64", (3,))
    g.constant("heads_apart", "int64", (-1, sequence, heads, depth))
    g.constant("tokens", "int64", (-1, width))
    g.constant("sequences", "int64", (-1, sequence, width))
    g.constant("gates_shape", "int64", (-1, sequence, experts))

    def norm(name, x):
        return g.node(name, "LayerNormalization", [
            x, g.parameter(f"{name}_scale", width), g.parameter(f"{name}_shift", width)], axis=-1)

    def attention(name, x):
        def part(role, perm):
            y = g.linear(f"{name}_{role}", x, width, width)
            y = g.node(f"{name}_{role}_heads", "Reshape", [y, "heads_apart"])
            return g.node(f"{name}_{role}_turned", "Transpose", [y], perm=perm)

        q, k, v = part("q", (0, 2, 1, 3)), part("k", (0, 2, 3, 1)), part("v", (0, 2, 1, 3))
        scale = g.node(f"{name}_scale", "Constant", [], value_float=depth ** -0.5)
        scaled = g.node(f"{name}_scaled", "Mul", [
            g.node(f"{name}_scores", "MatMul", [q, k]), scale])
        weights = g.node(f"{name}_softmax", "Softmax", [scaled], axis=-1)
        found = g.node(f"{name}_found", "MatMul", [weights, v])
        turned = g.node(f"{name}_back", "Transpose", [found], perm=(0, 2, 1, 3))
        y = g.node(f"{name}_joined", "Reshape", [turned, "tokens"])
        return g.linear(f"{name}_out", y, width, width)

    x = g.node("all_tokens", "Reshape", [rows, "tokens"])
    for i in range(1, layers + 1):
        g.comment(f"layer {i}")
        y = attention(f"attention{i}", x)
        x = norm(f"norm{i}a", g.node(f"add{i}a", "Add", [x, y]))
        gates = g.linear(f"gate{i}", x, width, experts)
        y = g.mixture_of_groups(
            f"moe{i}", g.node(f"sequences{i}", "Reshape", [x, "sequences"]),
            g.node(f"gates{i}", "Reshape", [gates, "gates_shape"]), sequence,
            (width, hidden, width), factor)
        y = g.node(f"tokens{i}", "Reshape", [y, "tokens"])
        x = norm(f"norm{i}b", g.node(f"add{i}b", "Add", [x, y]))
    g.comment("head")
    x = g.node("last", "Reshape", [x, "sequences"])
    x = g.node("mean", "ReduceMean", [x], axes=(1,), keepdims=0)
    g.answer(g.linear("classes", x, width, classes), ("N", classes))
    return g


MODELS = {"moe": moe, "moe_encoder": moe_encoder}
FILES = list(MODELS)
