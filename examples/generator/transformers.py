"""Transformers. Their depth is a parameter, so files are written when needed."""

from functools import partial

from .graph import Graph


class SequenceGraph(Graph):
    """Activations are rows, one for every position of every sample, so that dense
    layers are plain products; attention sees [N, heads, T, width]. Shapes are
    without the first dimension."""

    opset = 20

    def __init__(self, name, title, length, gelu_by=None):
        super().__init__(name, title)
        self.rows = self.length = length
        self.gelu_by = {"approximate": gelu_by} if gelu_by else {}

    def norm(self, name, x, epsilon=1e-5):
        operands = self._parameters(name, weight=self.shapes[x], bias=self.shapes[x])
        return self.node(name, "LayerNormalization", [x] + operands, self.shapes[x],
                         epsilon=epsilon)

    def gelu(self, name, x):
        return self.node(name, "Gelu", [x], self.shapes[x], **self.gelu_by)

    def maybe_dropout(self, name, x, ratio):
        return self.dropout(name, x, ratio) if ratio else x

    def reshape(self, name, x, target, shape):
        return self.node(name, "Reshape", [x, target], shape)

    def as_rows(self, name, x):
        width = self.shapes[x][-1]
        self.constant("int64", "rows", (-1, width))
        return self.reshape(name, x, "rows", (width,))

    def lookup(self, name, rows, width, ids):
        table = self.table(f"{name}_weight", rows, width)
        return self.embedding(name, table, ids)

    def attention(self, name, x, heads, ratio, mask, memory=None, bias=True):
        """Multi-head attention of `x` to `memory` (itself unless given), which is as long;
        `mask` turns scores into masked scores."""
        width, length = self.shapes[x][-1], self.length
        self.constant("int64", "heads", (-1, length, heads, width // heads))
        self.number("scale", (width // heads) ** -0.5)
        split = (length, heads, width // heads)

        def part(kind, perm):
            y = x if kind == "q" else memory or x
            y = self.linear(f"{name}_{kind}", y, width, bias)
            if kind == "q":  # cheaper than to scale the scores
                y = self.node(f"{name}_q_scaled", "Mul", [y, "scale"], (width,))
            y = self.reshape(f"{name}_{kind}_heads", y, "heads", split)
            return self.node(f"{name}_{kind}_t", "Transpose", [y],
                             tuple(split[p - 1] for p in perm[1:]), perm=perm)

        q, k = part("q", (0, 2, 1, 3)), part("k", (0, 2, 3, 1))
        v = part("v", (0, 2, 1, 3))
        product = 2 * length * length * width
        self.flops += [product, product]
        y = self.node(f"{name}_scores", "MatMul", [q, k], (heads, length, length))
        y = mask(f"{name}_masked", y)
        y = self.node(f"{name}_weights", "Softmax", [y], self.shapes[y], axis=-1)
        y = self.maybe_dropout(f"{name}_drop", y, ratio)
        y = self.node(f"{name}_values", "MatMul", [y, v], (heads, length, width // heads))
        y = self.node(f"{name}_joined_t", "Transpose", [y], split, perm=(0, 2, 1, 3))
        self.constant("int64", "rows", (-1, width))
        y = self.reshape(f"{name}_joined", y, "rows", (width,))
        return self.linear(f"{name}_proj", y, width, bias)

    def feed_forward(self, name, x):
        width = self.shapes[x][-1]
        x = self.gelu(f"{name}_gelu", self.linear(f"{name}_fc", x, 4 * width))
        return self.linear(f"{name}_proj", x, width)

    def head(self, name, x, weight, vocabulary, bias=()):
        self.flops.append(2 * self.rows * self.shapes[x][0] * vocabulary)
        return self.node(name, "Gemm", [x, weight, *bias], (vocabulary,), transB=1)

    def causal_mask(self):
        """A function that hides what comes later in the sequence."""
        self.constant("int64", "first", 0)
        self.constant("int64", "length", self.length)
        self.constant("int64", "step", 1)
        self.constant("int64", "rows_of_mask", (1,))
        self.constant("int64", "columns_of_mask", (0,))
        self.number("hidden", -10000)
        square = (self.length, self.length)
        at = self.node("positions", "Range", ["first", "length", "step"], square[1:])
        row = self.node("row", "Unsqueeze", [at, "rows_of_mask"], square)
        column = self.node("column", "Unsqueeze", [at, "columns_of_mask"], square)
        later = self.node("later", "Less", [row, column], square)
        return lambda name, x: self.node(name, "Where", [later, "hidden", x], self.shapes[x])

    def input_mask(self, name):
        """A function that hides the positions where input `name` is 0."""
        self.number("one", 1)
        self.number("hidden", -10000)
        self.constant("int64", "mask_axes", (1, 2))
        shape = (1, 1, self.length)
        x = self.node("mask_numbers", "Cast", [name], self.shapes[name], to=1)
        x = self.node("mask_absent", "Sub", ["one", x], self.shapes[x])
        x = self.node("mask_scores", "Mul", [x, "hidden"], self.shapes[x])
        added = self.node("mask", "Unsqueeze", [x, "mask_axes"], shape)
        return lambda name, x: self.node(name, "Add", [x, added], self.shapes[x])

    def answer(self):
        rows = "N" if self.rows == 1 else "NT"
        return (rows,) + self.shapes[self.last]


class UnbiasedGraph(SequenceGraph):
    """Normalisation by the root of the mean square; no biases."""

    opset = 24

    def linear(self, name, x, features, bias=False):
        return super().linear(name, x, features, bias)

    def norm(self, name, x, epsilon=1e-5):
        operands = self._parameters(name, weight=self.shapes[x])
        return self.node(name, "RMSNormalization", [x] + operands, self.shapes[x],
                         epsilon=epsilon)


def decoder(g, x, layers, heads, dropout):
    """Layers in which a position sees those before it."""
    mask = g.causal_mask()
    for i in range(layers):
        name = f"h{i}"
        with g.section(f"layer {i}", x):
            y = g.attention(f"{name}_attn", g.norm(f"{name}_ln1", x), heads, dropout, mask)
            x = g.add(f"{name}_add1", x, g.maybe_dropout(f"{name}_drop1", y, dropout))
            y = g.feed_forward(f"{name}_mlp", g.norm(f"{name}_ln2", x))
            x = g.add(f"{name}_add2", x, g.maybe_dropout(f"{name}_drop2", y, dropout))
    return x


def gpt_lm(layers=4, width=128, heads=4, sequence=64, vocabulary=256, dropout=0.0):
    g = SequenceGraph("gpt_lm",
                      [f"A small GPT that predicts the next token of a text: {layers} layers, width {width},",
                       f"{heads} heads, samples of {sequence} tokens of a vocabulary of {vocabulary} (bytes, if it is",
                       "256). position_ids count from 0 in every sample."], sequence)
    ids = g.input("ids", ("N", sequence), "int64")
    places = g.input("position_ids", ("N", sequence), "int64")
    with g.section("embeddings", ids):
        x = g.lookup("token", vocabulary, width, ids)
        place = g.lookup("position", sequence, width, places)
        x = g.as_rows("embedded", g.add("embeddings", x, place))
        x = g.maybe_dropout("drop", x, dropout)
    x = decoder(g, x, layers, heads, dropout)
    with g.section("head", x):
        x = g.head("head", g.norm("ln_f", x), g.parameter("head_weight", vocabulary, width),
                   vocabulary)
        g.rows = 1
        g.constant("int64", "samples", (-1, sequence, vocabulary))
        g.reshape("logits", x, "samples", (sequence, vocabulary))
    return g


def gpt2(layers=12, width=768, heads=12, sequence=1024, vocabulary=50257, positions=1024,
         dropout=0.0, untied=0):
    head = "a head of its own" if untied else "the head tied to the token embedding"
    g = SequenceGraph("gpt2",
                      [f"GPT-2 of Radford et al. (2019): {layers} layers, width {width}, {heads} heads,",
                       f"sequences of {sequence}, {head}. Query, key and value",
                       "are layers of their own. position_ids count from 0 in every sample; the loss",
                       "is over all positions."], sequence, gelu_by="tanh")
    ids = g.input("input_ids", ("N", sequence), "int64")
    places = g.input("position_ids", ("N", sequence), "int64")
    with g.section("embeddings", ids):
        x = g.lookup("wte", vocabulary, width, ids)
        x = g.as_rows("embedded", g.add("embeddings", x, g.lookup("wpe", positions, width, places)))
        x = g.maybe_dropout("drop", x, dropout)
    x = decoder(g, x, layers, heads, dropout)
    with g.section("head", x):
        x = g.norm("ln_f", x)
        weight = g.parameter("head_weight", vocabulary, width) if untied else "wte_weight"
        g.head("logits", x, weight, vocabulary)
    return g


def bert(layers=12, width=768, heads=12, sequence=512, vocabulary=30522, positions=512,
         dropout=0.1, classes=0):
    head = ([f"a classification into {classes}."] if classes else
            ["the masked language model, whose head is", "tied to the word embedding and whose "
             "loss is over all positions."])
    g = SequenceGraph("bert",
                      [f"BERT of Devlin et al. (2018): {layers} layers, width {width}, {heads} heads,",
                       f"sequences of {sequence}, {head[0]}", *head[1:],
                       "position_ids count from 0 in every sample, and attention_mask is 0 where there is no",
                       "token."], sequence)
    ids = g.input("input_ids", ("N", sequence), "int64")
    inputs = [g.input(name, ("N", sequence), "int64")
              for name in ("position_ids", "token_type_ids", "attention_mask")]
    epsilon = 1e-12
    with g.section("embeddings", ids):
        x = g.lookup("word", vocabulary, width, ids)
        x = g.add("placed", x, g.lookup("position", positions, width, inputs[0]))
        x = g.add("typed", x, g.lookup("type", 2, width, inputs[1]))
        x = g.norm("embeddings_ln", g.as_rows("embedded", x), epsilon)
        x = g.maybe_dropout("embeddings_drop", x, dropout)
    mask = g.input_mask(inputs[2])
    for i in range(layers):
        name = f"layer{i}"
        with g.section(f"layer {i}", x):
            y = g.attention(f"{name}_attn", x, heads, dropout, mask)
            y = g.maybe_dropout(f"{name}_drop1", y, dropout)
            x = g.norm(f"{name}_ln1", g.add(f"{name}_add1", y, x), epsilon)
            y = g.maybe_dropout(f"{name}_drop2", g.feed_forward(f"{name}_mlp", x), dropout)
            x = g.norm(f"{name}_ln2", g.add(f"{name}_add2", y, x), epsilon)
    with g.section("head", x):
        if not classes:
            x = g.gelu("transform_gelu", g.linear("transform", x, width))
            x = g.norm("transform_ln", x, epsilon)
            g.head("logits", x, "word_weight", vocabulary, [g.parameter("logits_bias", vocabulary)])
            return g
        x = first_row(g, x)
        x = g.node("pooler_tanh", "Tanh", [g.linear("pooler", x, width)], (width,))
        g.linear("logits", g.maybe_dropout("pooler_drop", x, dropout), classes)
    return g


def first_row(g, x):
    """The rows of the first positions; from here on there is one a sample."""
    width = g.shapes[x][0]
    g.constant("int64", "samples", (-1, g.length, width))
    g.constant("int64", "zero", 0)
    x = g.reshape("of_samples", x, "samples", (g.length, width))
    g.rows = 1
    return g.node("first", "Gather", [x, "zero"], (width,), axis=1)


def vit(layers=12, width=768, heads=12, image=224, patch=16, classes=1000, dropout=0.0):
    side = image // patch
    g = SequenceGraph("vit",
                      ["ViT of Dosovitskiy et al. (2020): " +
                       f"{layers} layers, width {width}, {heads} heads, patches of {patch} x {patch}.",
                       "The class token is the only row of a table, and position_ids count from 0 in every",
                       "sample: parameters are tables here, which class_ids (0) and position_ids look up."],
                      side * side + 1)
    x = g.input("image", ("N", 3, image, image))
    token = g.input("class_ids", ("N", 1), "int64")
    places = g.input("position_ids", ("N", g.length), "int64")
    with g.section("patches", x):
        operands = g._parameters("patches", weight=(width, 3, patch, patch), bias=(width,))
        flops = 2 * 3 * patch * patch * width * side * side
        g.count(x, flops)
        x = g.node("patches", "Conv", [x] + operands, (width, side, side),
                   kernel_shape=(patch, patch), strides=(patch, patch))
        g.constant("int64", "columns", (0, width, side * side))
        x = g.reshape("patches_flat", x, "columns", (width, side * side))
        x = g.node("patches_t", "Transpose", [x], (side * side, width), perm=(0, 2, 1))
        x = g.concat("tokens", [g.lookup("class", 1, width, token), x])
        x = g.add("placed", x, g.lookup("position", g.length, width, places))
        x = g.maybe_dropout("drop", g.as_rows("embedded", x), dropout)
    for i in range(layers):
        name = f"block{i}"
        with g.section(f"layer {i}", x):
            y = g.attention(f"{name}_attn", g.norm(f"{name}_ln1", x, 1e-6), heads, dropout,
                            lambda _, scores: scores)
            x = g.add(f"{name}_add1", x, g.maybe_dropout(f"{name}_drop1", y, dropout))
            y = g.feed_forward(f"{name}_mlp", g.norm(f"{name}_ln2", x, 1e-6))
            x = g.add(f"{name}_add2", x, g.maybe_dropout(f"{name}_drop2", y, dropout))
    with g.section("head", x):
        g.linear("logits", first_row(g, g.norm("ln", x, 1e-6)), classes)
    return g


def flexflow_transformer(layers=6, width=768, heads=12, sequence=512):
    g = SequenceGraph("flexflow_transformer",
                      ["The Transformer of FlexFlow's and FlexNet's examples, which TopoOpt calls BERT:",
                       f"{layers} layers of an encoder and of a decoder, width {width}, {heads} heads, sequences of",
                       f"{sequence}, without normalisation. Samples are embedded already; a number is",
                       "predicted for every position."], sequence)
    x = g.input("samples", ("N", sequence, width))
    y = x = g.as_rows("embedded", x)

    def attend(name, y, memory):
        z = g.attention(f"{name}_attn", y, heads, 0, lambda _, scores: scores, memory, bias=False)
        return g.add(f"{name}_add", z, y)

    def feed_forward(name, y):
        return g.linear(f"{name}_fc2", g.relu(f"{name}_relu", g.linear(f"{name}_fc1", y, width)),
                        width)

    for i in range(layers):
        with g.section(f"encoder {i}", x):
            x = feed_forward(f"encoder{i}", attend(f"encoder{i}", x, None))
        with g.section(f"decoder {i}", y):
            y = attend(f"decoder{i}_self", y, None)
            y = feed_forward(f"decoder{i}", attend(f"decoder{i}_cross", y, x))
    with g.section("head", y):
        g.linear("answer", y, 1)
    return g


MODELS = {
    "bert_base": bert,
    "bert_large": partial(bert, layers=24, width=1024, heads=16),
    "flexflow_transformer": flexflow_transformer,
    "gpt_lm": gpt_lm,
    "gpt2": gpt2,
    "gpt2_xl": partial(gpt2, layers=48, width=1600, heads=25),
    "gpt3_175b": partial(gpt2, layers=96, width=12288, heads=96, sequence=2048, positions=2048),
    "vit_b16": vit,
}
FILES = []
