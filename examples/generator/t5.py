"""T5 of Raffel et al., "Exploring the Limits of Transfer Learning with a Unified
Text-to-Text Transformer" (2020)."""

import math

from .transformers import UnbiasedGraph


def bucket(distance, buckets, farthest):
    """That of a distance: half of the buckets have one distance each, those of the others
    grow by a constant factor up to `farthest`, behind which the last one goes on."""
    exact = buckets // 2
    if distance < exact:
        return distance
    grown = math.log(distance / exact) / math.log(farthest / exact)
    return min(exact + int(grown * (buckets - exact) + 1e-9), buckets - 1)


class T5Graph(UnbiasedGraph):
    """Two stacks of layers, which have rows for every position of sequences of their own;
    positions as trained numbers that are added to scores, which are not scaled."""

    def __init__(self, name, title, heads, depth, dropout):
        super().__init__(name, title, 0)
        self.heads, self.depth, self.ratio = heads, depth, dropout

    def begin(self, length):
        """From here on rows are those of sequences of `length`."""
        self.rows = self.length = length

    def drop(self, name, x):
        return self.maybe_dropout(name, x, self.ratio)

    def norm(self, name, x, epsilon=1e-6):
        return super().norm(name, x, epsilon)

    def relative_bias(self, name, buckets, farthest, causal):
        """[heads, T, T] of a table with a row for every bucket of distances. Keys before a
        query and behind it have half of the buckets each; `causal` hides those behind."""
        length = self.length
        square = (length, length)
        count = self.constant("int64", f"{name}_length", length)
        last = self.constant("int64", f"{name}_last", length - 1)
        axis = self.constant("int64", "columns", (1,))
        for constant, value in (("first", 0), ("step", 1)):
            self.constant("int64", constant, value)
        at = self.node(f"{name}_positions", "Range", ["first", count, "step"], (length,))
        column = self.node(f"{name}_column", "Unsqueeze", [at, axis], (length, 1))
        behind = self.node(f"{name}_behind", "Sub", [at, column], square)
        place = self.node(f"{name}_place", "Add", [behind, last], square)

        def of(distance):  # of a key behind a query
            if causal:
                return bucket(max(-distance, 0), buckets, farthest)
            return bucket(abs(distance), buckets // 2, farthest) + (
                buckets // 2 if distance > 0 else 0)

        distances = range(1 - length, length)
        rows = self.constant("int64", f"{name}_buckets", tuple(map(of, distances)))
        self.shapes[rows] = (len(distances),)
        x = self.lookup(f"{name}_distance", buckets, self.heads, rows)
        x = self.node(f"{name}_rows", "Gather", [x, place], (*square, self.heads))
        x = self.node(f"{name}_bias", "Transpose", [x], (self.heads, *square), perm=(2, 0, 1))
        if causal:
            self.number("hidden", -10000)
            later = self.node(f"{name}_later", "Less", [column, at], square)
            x = self.node(f"{name}_masked", "Where", [later, "hidden", x], self.shapes[x])
        return x

    def attention(self, name, x, seen, length, bias=None):
        """Of rows `x` to rows `seen` of sequences of `length`."""
        heads, depth = self.heads, self.depth
        width, inner = self.shapes[x][-1], heads * depth

        def part(kind, y, positions, perm):
            self.rows = positions
            y = self.linear(f"{name}_{kind}", y, inner)
            split = (positions, heads, depth)
            self.constant("int64", f"heads_of_{positions}", (-1, *split))
            y = self.reshape(f"{name}_{kind}_heads", y, f"heads_of_{positions}", split)
            return self.node(f"{name}_{kind}_t", "Transpose", [y],
                             tuple(split[p - 1] for p in perm[1:]), perm=perm)

        k, v = part("k", seen, length, (0, 2, 3, 1)), part("v", seen, length, (0, 2, 1, 3))
        q = part("q", x, self.length, (0, 2, 1, 3))
        product = 2 * self.length * length * inner
        self.flops += [product, product]
        y = self.node(f"{name}_scores", "MatMul", [q, k], (heads, self.length, length))
        y = self.add(f"{name}_placed", y, bias) if bias else y
        y = self.node(f"{name}_weights", "Softmax", [y], self.shapes[y], axis=-1)
        y = self.drop(f"{name}_drop", y)
        y = self.node(f"{name}_values", "MatMul", [y, v], (heads, self.length, depth))
        y = self.node(f"{name}_joined_t", "Transpose", [y], (self.length, heads, depth),
                      perm=(0, 2, 1, 3))
        self.constant("int64", "inner_rows", (-1, inner))
        y = self.reshape(f"{name}_joined", y, "inner_rows", (inner,))
        return self.linear(f"{name}_proj", y, width)

    def feed_forward(self, name, x, hidden):
        y = self.relu(f"{name}_relu", self.linear(f"{name}_fc", x, hidden))
        return self.linear(f"{name}_proj", self.drop(f"{name}_drop", y), self.shapes[x][-1])

    def residual(self, name, x, block):
        """`x` and what `block` makes of it, normalised."""
        y = block(name, self.norm(f"{name}_norm", x))
        return self.add(f"{name}_add", x, self.drop(f"{name}_out", y))

    def stack(self, name, ids, layers, hidden, bias, seen=None, length=0):
        """Layers over tokens, which attend to each other with `bias` and, with `seen`, to
        these rows of sequences of `length`."""
        with self.section(f"{name} embeddings", ids):
            x = self.embedding(f"{name}_tokens", "shared_weight", ids)
            x = self.drop(f"{name}_drop", self.as_rows(f"{name}_embedded", x))
        for i in range(layers):
            with self.section(f"{name} layer {i}", x):
                x = self.residual(f"{name}{i}_attn", x, lambda at, y: self.attention(
                    at, y, y, self.length, bias))
                if seen:
                    x = self.residual(f"{name}{i}_cross", x, lambda at, y: self.attention(
                        at, y, seen, length))
                x = self.residual(f"{name}{i}_mlp", x, lambda at, y: self.feed_forward(
                    at, y, hidden))
        with self.section(f"{name} result", x):
            return self.drop(f"{name}_out", self.norm(f"{name}_norm", x))


def t5(layers=24, width=1024, heads=128, depth=128, hidden=65536, source=512, target=114,
       vocabulary=32128, buckets=32, farthest=128, dropout=0.1):
    g = T5Graph("t5",
                [f"T5 of Raffel et al. (2020): {layers} layers each for encoder and decoder, width {width},",
                 f"{heads} heads of {depth}, hidden layers of {hidden}, sequences of {source} and {target}, {buckets} buckets",
                 f"of distances up to {farthest}, the head tied to the token embedding. decoder_input_ids are",
                 "targets behind a token to start with; no position is padding, and the loss is over all",
                 "positions of the target."], heads, depth, dropout)
    g.table("shared_weight", vocabulary, width)
    stacks = (("encoder", "input_ids", source), ("decoder", "decoder_input_ids", target))
    x = None
    for name, ids, length in stacks:
        g.begin(length)
        g.input(ids, ("N", length), "int64")
        with g.section(f"{name} positions", ids):
            bias = g.relative_bias(name, buckets, farthest, causal=name == "decoder")
        x = g.stack(name, ids, layers, hidden, bias, x, source)
    with g.section("head", x):
        scaled = g.multiply("scaled", x, g.number("scale", width ** -0.5))
        g.head("logits", scaled, "shared_weight", vocabulary)
    return g


MODELS = {"t5_11b": t5}
FILES = []
