"""Llama 3 of Grattafiori et al., "The Llama 3 Herd of Models" (2024), table 3."""

from functools import partial

from .transformers import UnbiasedGraph


class LlamaGraph(UnbiasedGraph):
    """Positions as rotations of queries and keys, heads of keys and values that several
    of the queries share, gated layers."""

    def rotations(self, width, base):
        """Cosines and sines of all positions, for the halves of a head of `width`."""
        half = width // 2
        for name, value in (("first", 0), ("length", self.length), ("step", 1)):
            self.constant("int64", name, value)
        self.constant("int64", "columns", (1,))
        self.node("frequencies", "Constant", [], (half,),
                  value_floats=tuple(base ** (-2 * i / width) for i in range(half)))
        at = self.node("positions", "Range", ["first", "length", "step"], (self.length,))
        at = self.node("places", "Cast", [at], (self.length,), to=1)
        at = self.node("column", "Unsqueeze", [at, "columns"], (self.length, 1))
        at = self.node("angles", "Mul", [at, "frequencies"], (self.length, half))
        self.node("cosines", "Cos", [at], (self.length, half))
        self.node("sines", "Sin", [at], (self.length, half))

    def rotated(self, name, x):
        """Of [heads, T, width]; the halves of a head are the coordinates of planes."""
        *outer, width = self.shapes[x]
        half = (*outer, width // 2)
        a, b = f"{name}_a", f"{name}_b"
        self.node(a, "Split", [x], half, more_results=[b], axis=-1, num_outputs=2)
        self.shapes[b] = half

        def times(part, by):
            return self.node(f"{part}_{by}", "Mul", [part, by], half)

        left = self.node(f"{name}_left", "Sub", [times(a, "cosines"), times(b, "sines")], half)
        right = self.node(f"{name}_right", "Add", [times(b, "cosines"), times(a, "sines")], half)
        return self.node(name, "Concat", [left, right], self.shapes[x], axis=-1)

    def grouped_attention(self, name, x, heads, groups):
        """Causal; `groups` heads of keys and values."""
        width, length = self.shapes[x][-1], self.length
        head = width // heads

        def part(kind, count):
            y = self.linear(f"{name}_{kind}", x, count * head)
            self.constant("int64", f"heads_of_{count}", (-1, length, count, head))
            y = self.reshape(f"{name}_{kind}_heads", y, f"heads_of_{count}", (length, count, head))
            return self.node(f"{name}_{kind}_t", "Transpose", [y], (count, length, head),
                             perm=(0, 2, 1, 3))

        q = self.rotated(f"{name}_q_rotated", part("q", heads))
        k = self.rotated(f"{name}_k_rotated", part("k", groups))
        v = part("v", groups)
        product = 2 * length * length * width
        self.flops += [product, product]
        y = self.node(f"{name}_values", "Attention", [q, k, v], (heads, length, head),
                      is_causal=1)
        y = self.node(f"{name}_joined_t", "Transpose", [y], (length, heads, head),
                      perm=(0, 2, 1, 3))
        self.constant("int64", "rows", (-1, width))
        y = self.reshape(f"{name}_joined", y, "rows", (width,))
        return self.linear(f"{name}_proj", y, width)

    def gated(self, name, x, hidden):
        width = self.shapes[x][-1]
        gate = self.linear(f"{name}_gate", x, hidden)
        gate = self.node(f"{name}_swish", "Swish", [gate], (hidden,))
        up = self.linear(f"{name}_up", x, hidden)
        return self.linear(f"{name}_down", self.multiply(f"{name}_gated", gate, up), width)


def llama3(layers=32, width=4096, heads=32, groups=8, hidden=14336, sequence=8192,
           vocabulary=128256, base=500000.0):
    g = LlamaGraph("llama3",
                   [f"Llama 3 of Grattafiori et al. (2024): {layers} layers, width {width}, {heads} heads,",
                    f"{groups} heads of keys and values, hidden layers of {hidden}, sequences of {sequence}. The loss",
                    "is over all positions."], sequence)
    ids = g.input("input_ids", ("N", sequence), "int64")
    with g.section("embeddings", ids):
        x = g.as_rows("embedded", g.lookup("token", vocabulary, width, ids))
        g.rotations(width // heads, base)
        g.last = x
    for i in range(layers):
        name = f"h{i}"
        with g.section(f"layer {i}", x):
            y = g.grouped_attention(f"{name}_attn", g.norm(f"{name}_norm1", x), heads, groups)
            x = g.add(f"{name}_add1", x, y)
            y = g.gated(f"{name}_mlp", g.norm(f"{name}_norm2", x), hidden)
            x = g.add(f"{name}_add2", x, y)
    with g.section("head", x):
        weight = g.parameter("head_weight", vocabulary, width)
        g.head("logits", g.norm("norm", x), weight, vocabulary)
    return g


MODELS = {
    "llama3_8b": llama3,
    "llama3_70b": partial(llama3, layers=80, width=8192, heads=64, hidden=28672),
}
FILES = []
