//===- TestGraph.cpp - small graphs for planner tests ---------------------===//

#include "TestGraph.h"

using namespace ffc::plan;
using namespace ffc::plan::testing;

static Access identity(std::vector<int> dims) {
  Access access;
  for (int d : dims)
    access.dims.push_back(DimMap::dim(d));
  return access;
}

ValueId TestGraph::addValue(const std::string &name, Shape shape,
                            ValueKind kind) {
  Value value;
  value.name = name;
  value.type.shape = std::move(shape);
  value.kind = kind;
  graph.values.push_back(std::move(value));
  return static_cast<ValueId>(graph.values.size()) - 1;
}

OpId TestGraph::find(const std::string &name) const {
  for (size_t i = 0; i < graph.ops.size(); ++i)
    if (graph.ops[i].name == name)
      return static_cast<OpId>(i);
  return -1;
}

ValueId TestGraph::addOp(Op op, Shape resultShape) {
  OpId id = static_cast<OpId>(graph.ops.size());
  for (size_t i = 0; i < op.operands.size(); ++i)
    graph.values[op.operands[i]].uses.push_back({id, static_cast<int>(i)});
  ValueId result =
      addValue(op.name, std::move(resultShape), ValueKind::Activation);
  graph.values[result].producer = id;
  op.results = {result};
  graph.ops.push_back(std::move(op));
  return result;
}

ValueId TestGraph::input(const std::string &name, Shape shape) {
  return addValue(name, std::move(shape), ValueKind::Input);
}

ValueId TestGraph::state(const std::string &name, Shape shape) {
  ValueId value = addValue(name, std::move(shape), ValueKind::State);
  graph.values[value].state = static_cast<StateId>(graph.states.size());
  graph.states.push_back({name, value, -1});
  return value;
}

ValueId TestGraph::product(const std::string &name, ValueId x, ValueId w) {
  const Shape &xs = graph.values[x].type.shape;
  const Shape &ws = graph.values[w].type.shape;
  Op op;
  op.name = name;
  op.type = "linear";
  op.operands = {x, w};
  op.rules.dims = {{"n", xs[0], DimKind::Sample},
                   {"c", ws[1], DimKind::Parameter},
                   {"k", xs[1], DimKind::Reduction}};
  op.rules.schedules = {{{},
                         {{"product",
                           {{0, identity({0, 2})}, {1, identity({2, 1})}},
                           {{2, identity({0, 1}), Reduction::Sum}},
                           2}}}};
  return addOp(std::move(op), {xs[0], ws[1]});
}

/// With dimensions n and c of the result.
static Op rowsAndColumns(const std::string &name, const std::string &type,
                         std::vector<ValueId> operands, const Shape &shape) {
  Op op;
  op.name = name;
  op.type = type;
  op.operands = std::move(operands);
  op.rules.dims = {{"n", shape[0], DimKind::Sample},
                   {"c", shape[1], DimKind::Attribute}};
  return op;
}

ValueId TestGraph::window(const std::string &name, ValueId x) {
  Shape shape = graph.values[x].type.shape;
  Op op = rowsAndColumns(name, "window", {x}, shape);
  Access halo;
  halo.dims = {DimMap::window(0, 1, 3, 1), DimMap::dim(1)};
  op.rules.schedules = {
      {{},
       {{"window", {{0, halo}}, {{1, identity({0, 1}), Reduction::None}}, 3}}}};
  return addOp(std::move(op), shape);
}

ValueId TestGraph::repeat(const std::string &name, ValueId x, int64_t times) {
  Shape shape = graph.values[x].type.shape;
  Op op = rowsAndColumns(name, "repeat", {x}, shape);
  op.rules.dims.push_back({"t", times, DimKind::Attribute});
  shape.push_back(times);
  op.rules.schedules = {{{},
                         {{"repeat",
                           {{0, identity({0, 1})}},
                           {{1, identity({0, 1, 2}), Reduction::None}},
                           1}}}};
  return addOp(std::move(op), std::move(shape));
}

ValueId TestGraph::reshape(const std::string &name, ValueId x, Shape shape) {
  Op op;
  op.name = name;
  op.type = "reshape";
  op.operands = {x};
  op.rules.dims = {{"n", 1, DimKind::Sample}};
  Access from, to;
  from.dims.resize(graph.values[x].type.shape.size());
  to.dims.resize(shape.size());
  op.rules.schedules = {{{},
                         {{"reshape",
                           {{0, from, kTouchesNothing}},
                           {{1, to, Reduction::None, kTouchesNothing}},
                           0}}}};
  op.rules.keepsBytes = true;
  return addOp(std::move(op), std::move(shape));
}

ValueId TestGraph::part(const std::string &name, ValueId x, int64_t first,
                        int64_t rows) {
  const Shape shape = {rows, graph.values[x].type.shape[1]};
  Op op = rowsAndColumns(name, "part", {x}, shape);
  Access from = identity({0, 1});
  from.dims[0] = DimMap::window(0, 1, 1, -first);
  op.rules.schedules = {
      {{},
       {{"part",
         {{0, from, kTouchesNothing}},
         {{1, identity({0, 1}), Reduction::None, kTouchesNothing}},
         0}}}};
  op.rules.keepsBytes = true;
  return addOp(std::move(op), shape);
}

ValueId TestGraph::beside(const std::string &name, ValueId a, ValueId b) {
  Shape shape = graph.values[a].type.shape;
  Access left = identity({0, 1}), right = left;
  left.dims[1] = DimMap::window(1, 1, 1, 0);
  right.dims[1] = DimMap::window(1, 1, 1, shape[1]);
  shape[1] += graph.values[b].type.shape[1];
  Op op = rowsAndColumns(name, "beside", {a, b}, shape);
  op.rules.schedules = {{{},
                         {{"beside",
                           {{0, left}, {1, right}},
                           {{2, identity({0, 1}), Reduction::None}},
                           0}}}};
  return addOp(std::move(op), shape);
}

ValueId TestGraph::sum(const std::string &name, ValueId a, ValueId b) {
  Shape shape = graph.values[a].type.shape;
  Op op = rowsAndColumns(name, "sum", {a, b}, shape);
  op.rules.schedules = {{{},
                         {{"sum",
                           {{0, identity({0, 1})}, {1, identity({0, 1})}},
                           {{2, identity({0, 1}), Reduction::None}},
                           1}}}};
  op.rules.mayOverwrite = {{0, 0}, {0, 1}};
  return addOp(std::move(op), shape);
}

ValueId TestGraph::outer(const std::string &name, ValueId x, ValueId d,
                         const std::string &owner) {
  const Shape &xs = graph.values[x].type.shape;
  const Shape &ds = graph.values[d].type.shape;
  Op op;
  op.name = name;
  op.type = "outer";
  op.role = OpRole::Gradient;
  op.owner = find(owner);
  op.operands = {x, d};
  op.rules.dims = {{"k", xs[1], DimKind::Parameter},
                   {"c", ds[1], DimKind::Parameter},
                   {"n", xs[0], DimKind::Reduction}};
  op.rules.schedules = {{{},
                         {{"outer",
                           {{0, identity({2, 0})}, {1, identity({2, 1})}},
                           {{2, identity({0, 1}), Reduction::Sum}},
                           2}}}};
  op.rules.schedules[0].phases[0].writes[0].mayAccumulate = true;
  return addOp(std::move(op), {xs[1], ds[1]});
}

void TestGraph::update(const std::string &name, ValueId state, ValueId gradient,
                       const std::string &owner) {
  Shape shape = graph.values[state].type.shape;
  Op op;
  op.name = name;
  op.type = "update";
  op.role = OpRole::Update;
  op.owner = find(owner);
  op.ownerSlot = 1;
  op.ownSlot = 0;
  op.operands = {state, gradient};
  op.rules.dims = {{"d0", shape[0], DimKind::Parameter},
                   {"d1", shape[1], DimKind::Parameter}};
  op.rules.inPlace = {{0, 0}};
  op.rules.schedules = {{{},
                         {{"update",
                           {{0, identity({0, 1})}, {1, identity({0, 1})}},
                           {{2, identity({0, 1}), Reduction::None}},
                           2}}}};
  store(state, addOp(std::move(op), shape));
}

void TestGraph::store(ValueId state, ValueId value) {
  graph.states[graph.values[state].state].written = value;
}

void TestGraph::output(const std::string &name, ValueId value) {
  graph.outputs.push_back({name, value});
}

TestGraph ffc::plan::testing::trainingGraph() {
  TestGraph g;
  ValueId x = g.input("x", {12, 10});
  ValueId w1 = g.state("w1", {10, 8});
  ValueId w2 = g.state("w2", {8, 6});
  ValueId h = g.product("p1", x, w1);
  ValueId s = g.window("s", h);
  ValueId y = g.product("p2", s, w2);
  g.output("out/y", y);
  ValueId gradient = g.outer("p2.backward", s, y, "p2");
  g.output("grad/w2", gradient);
  g.update("w2.update", w2, gradient, "p2");
  return g;
}

TestGraph ffc::plan::testing::stack(int layers) {
  TestGraph g;
  std::vector<ValueId> inputs, weights;
  auto name = [](int layer) { return "p" + std::to_string(layer + 1); };
  ValueId y = g.input("x", {8, 8});
  for (int i = 0; i < layers; ++i) {
    inputs.push_back(y);
    weights.push_back(
        g.state("w" + std::to_string(i + 1), {i == 0 ? 8 : 16, 16}));
    y = g.product(name(i), y, weights[i]);
  }
  g.output("out/y", y);
  std::vector<ValueId> gradients(layers);
  for (int i = layers; i-- > 0;)
    gradients[i] = g.outer(name(i) + ".backward", inputs[i], y, name(i));
  for (int i = layers; i-- > 0;)
    g.update(name(i) + ".update", weights[i], gradients[i], name(i));
  return g;
}

TestGraph ffc::plan::testing::products(int layers) {
  TestGraph g;
  ValueId value = g.input("x", {64, 64});
  std::vector<ValueId> weights, inputs;
  for (int i = 0; i < layers; ++i) {
    inputs.push_back(value);
    weights.push_back(g.state("w" + std::to_string(i), {64, 64}));
    value = g.product("f" + std::to_string(i), value, weights.back());
  }
  for (int i = layers; i-- > 0;) {
    const std::string layer = std::to_string(i);
    const ValueId gradient =
        g.outer("g" + layer, inputs[i], value, "f" + layer);
    value = g.product("b" + layer, value, weights[i]);
    g.graph.ops.back().role = OpRole::Gradient;
    g.graph.ops.back().owner = i;
    g.update("u" + layer, weights[i], gradient, "f" + layer);
  }
  return g;
}
