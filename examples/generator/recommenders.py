"""Recommenders and other networks of tables and dense layers."""

from .graph import Graph


class TableGraph(Graph):
    """Embeddings and dense layers; shapes are without the batch."""

    digits = 4
    notes = ["Parameters are inputs without values: ffc draws them.",
             "Written by examples/generate."]

    def mlp(self, name, x, widths, activate_last=True):
        """Dense layers with rectifiers; the first width is that of `x`."""
        if self.shapes[x] != widths[:1]:
            raise SystemExit(f"error: {self.name}: expected the first width of {name} to be "
                             f"{self.shapes[x][0]}, found {widths[0]}")
        for i, width in enumerate(widths[1:], 1):
            x = self.linear(f"{name}{i}", x, width)
            if activate_last or i < len(widths) - 1:
                x = self.relu(f"{name}{i}_relu", x)
        return x

    def lookups(self, name, count, rows, width, bag, ids=None):
        """One row, or the sum of `bag` rows, of each of `count` tables, by inputs
        called `ids`."""
        values = []
        for i in range(1, count + 1):
            number = str(i) if count > 1 else ""
            index = f"{ids or name}{number}"
            if index not in self.shapes:
                self.input(index, ("N", bag) if bag > 1 else ("N",), "int64")
            suffix = "_mlp" if ids and name.endswith("mlp") else "_mf" if ids else ""
            table = self.table(f"{index}{suffix}_table", rows, width)
            x = self.embedding(f"{index}{suffix}_rows", table, index)
            if bag > 1:
                self.constant("int64", "bag", (1,))
                x = self.node(f"{index}{suffix}_bag", "ReduceSum", [x, "bag"], (width,),
                              keepdims=0)
            values.append(x)
        return values


def dlrm(tables=8, rows=1000000, width=64, bag=1, bottom=(64, 512, 512, 64),
         top=(576, 1024, 1024, 1024, 1)):
    g = TableGraph("dlrm",
                   ["DLRM of Naumov et al. (2019), interaction by concatenation, with the sizes of",
                    f"FlexFlow's autotune tutorial unless others were asked for: {tables} tables of",
                    f"{rows} x {width}. FlexFlow trains it with --loss=mse."])
    x = g.input("dense", ("N", bottom[0]))
    with g.section("bottom", x):
        x = g.mlp("bottom", x, bottom)
    with g.section("tables", x):
        x = g.concat("interaction", [x] + g.lookups("sparse", tables, rows, width, bag))
    with g.section("top", x):
        g.mlp("top", x, top, activate_last=False)
    return g


def ncf(tables=1, users=138493, items=26744, factors=64, width=128, mlp=(256, 256, 128, 64)):
    g = TableGraph("ncf",
                   ["NeuMF of He et al. (2017), neural collaborative filtering, for MovieLens-20M",
                    "as in MLPerf: a product of factors beside dense layers. --loss=bce."])

    def pair_of(kind, columns):
        return [g.concat(f"{side}_{kind}", values) if len(values) > 1 else values[0]
                for side, rows in (("user", users), ("item", items))
                for values in [g.lookups(f"{side}_{kind}", tables, rows, columns, 1, side)]]

    user, item = pair_of("mf", factors)
    with g.section("factors", user):
        product = g.multiply("product", user, item)
    with g.section("dense layers", product):
        x = g.mlp("mlp", g.concat("pair", pair_of("mlp", width)), mlp)
    with g.section("prediction", x):
        g.linear("prediction", g.concat("both", [product, x]), 1)
    return g


def xdl(tables=4, rows=1000000, width=64, bag=1, mlp=(256, 256, 256, 2)):
    g = TableGraph("xdl", ["XDL of Jiang et al. (2019) as FlexFlow has it: tables, concatenated, and",
                           "dense layers. --loss=mse."])
    values = g.lookups("sparse", tables, rows, width, bag)
    x = g.concat("interaction", values)
    with g.section("dense layers", x):
        g.mlp("mlp", x, mlp, activate_last=False)
    return g


def candle_uno(width=4192, feature_layers=4, layers=4):
    g = TableGraph("candle_uno",
                   ["CANDLE Uno as FlexFlow has it: the response of cells to pairs of drugs. Every",
                    "input but the doses goes through dense layers of its own. --loss=mse."])
    sizes = {"dose1": 1, "dose2": 1, "cell_rnaseq": 942, "drug1_descriptors": 5270,
             "drug1_fingerprints": 2048, "drug2_descriptors": 5270, "drug2_fingerprints": 2048}
    features = []
    for name, size in sizes.items():
        x = g.input(name, ("N", size))
        if size > 1:
            with g.section(name, x):
                x = g.mlp(f"{name}_fc", x, (size,) + (width,) * feature_layers)
        features.append(x)
    x = g.concat("features", features)
    with g.section("response", x):
        x = g.mlp("fc", x, g.shapes[x] + (width,) * layers)
        g.linear("response", x, 1)
    return g


MODELS = {model.__name__: model for model in (dlrm, ncf, xdl, candle_uno)}
FILES = list(MODELS)
