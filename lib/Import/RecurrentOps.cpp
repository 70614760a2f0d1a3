//===- RecurrentOps.cpp - LSTM, GRU and RNN -------------------------------===//
//
// Every direction becomes blocks of time steps, chained by their states: a
// matrix product for what the gates get from the input, and ff.recurrent.
// Blocks share the weights and begin at the same steps in both directions.
// What ff.recurrent does not compute is unrolled (UnrolledRecurrent.h).
//
//===----------------------------------------------------------------------===//

#include "NodeImporter.h"
#include "OpTable.h"
#include "UnrolledRecurrent.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using ff::RecurrentKind;

namespace {
/// Of the time steps of a layer; each is an operator.
static constexpr int64_t kMaxBlocks = 10000;

class RecurrentImporter : RecurrentOperand, RecurrentForm {
public:
  explicit RecurrentImporter(NodeImporter &node)
      : node(node), builder(node.importer.builder) {}

  void run();

private:
  struct State {
    Value h, c;
  };
  /// One direction.
  struct Layer {
    int64_t number;
    bool reverse;
    std::string prefix; ///< of the names of its parts
    Value w, r, inputBias, recurrentBias;
  };

  bool readAttributes();
  void readFunctions();
  void checkShapes();
  /// What wants to be unrolled; empty if nothing does.
  std::string unrolledPart();
  bool isZero(int i);
  /// Part `index` of the directions of `x`, which keeps its rank.
  Value direction(const Twine &name, Value x, int64_t index);
  Value reshaped(const Twine &name, Value x, ArrayRef<int64_t> shape);
  Value transposed(const Twine &name, Value x, ArrayRef<int64_t> perm);
  Value concatenated(const Twine &name, ArrayRef<Value> parts, int64_t axis);
  Layer makeLayer(int64_t number);
  State firstState(const Layer &layer);
  Value firstState(const Layer &layer, int i, StringRef name);
  ff::RecurrentOp makeBlock(const Layer &layer, const Twine &name, Value x,
                            const State &state);
  /// The states after all steps, and the last one.
  std::pair<Value, State> makeSteps(const Layer &layer);
  void defineResults(ArrayRef<Value> sequences, ArrayRef<State> last);
  void defineState(int result, StringRef name, ArrayRef<Value> states);

  NodeImporter &node;
  OpBuilder &builder;
  RecurrentKind kind = RecurrentKind::Lstm;
  bool hasUsualFunctions = true;
  Value x; ///< time first
  /// Blocks of time steps of x.
  SmallVector<Value> blocks;
};
} // namespace

//===----------------------------------------------------------------------===//
// Reading the node
//===----------------------------------------------------------------------===//

/// Those of the gates are usual if all are; those of an RNN may be relu, too.
void RecurrentImporter::readFunctions() {
  const onnx::AttributeProto *given =
      node.attribute("activations", onnx::AttributeProto::STRINGS);
  if (!given)
    return;
  SmallVector<StringRef> usual = usualFunctions(node.opType());
  if (node.opType() == "RNN" && given->strings_size() > 0 &&
      StringRef(given->strings(0)).equals_insensitive("relu")) {
    usual = {"Relu"};
    kind = RecurrentKind::RnnRelu;
  }
  hasUsualFunctions =
      given->strings_size() == static_cast<int>(usual.size() * reversed.size());
  for (auto [i, name] : llvm::enumerate(given->strings()))
    hasUsualFunctions &=
        StringRef(name).equals_insensitive(usual[i % usual.size()]);
}

bool RecurrentImporter::readAttributes() {
  StringRef direction = node.text("direction", "forward");
  if (direction == "bidirectional")
    reversed = {false, true};
  else if (direction == "forward" || direction == "reverse")
    reversed = {direction == "reverse"};
  else
    node.error("expected direction 'forward', 'reverse' or 'bidirectional', "
               "found '" +
               direction + "'");
  if (node.opType() == "GRU") {
    gates = 3;
    kind = node.integer("linear_before_reset", 0) ? RecurrentKind::GruResetAfter
                                                  : RecurrentKind::Gru;
  } else if (node.opType() == "RNN") {
    gates = 1;
    kind = RecurrentKind::RnnTanh;
  }
  batchFirst = node.integer("layout", 0) != 0;
  readFunctions();
  // Of other functions, which are unrolled.
  node.ignore("activation_alpha");
  node.ignore("activation_beta");
  return !node.failed();
}

std::string RecurrentImporter::unrolledPart() {
  if (!hasUsualFunctions)
    return "its activations";
  if (node.attribute("clip", onnx::AttributeProto::FLOAT))
    return "clip";
  if (node.opType() == "LSTM" && node.integer("input_forget", 0) != 0)
    return "input_forget";
  if (node.opType() == "LSTM" && node.has(Peepholes) && !isZero(Peepholes))
    return "peepholes";
  if (node.has(Lengths)) {
    const GraphValue &lengths = node.operand(Lengths);
    if (lengths.kind != GraphValue::Kind::Constant ||
        llvm::any_of(lengths.constant.ints,
                     [&](int64_t length) { return length != steps; }))
      return "lengths of sequences";
  }
  return "";
}

/// Is operand i known to be all zeros?
bool RecurrentImporter::isZero(int i) {
  const GraphValue &value = node.operand(i);
  if (value.kind == GraphValue::Kind::Filled)
    return value.fill == 0;
  auto areZero = [](const Constant &constant) {
    return constant.isFloat() &&
           llvm::all_of(constant.floats, [](double x) { return x == 0; });
  };
  return (value.kind == GraphValue::Kind::Constant ||
          value.kind == GraphValue::Kind::Stored) &&
         areZero(node.constant(i));
}

void RecurrentImporter::checkShapes() {
  for (int i : {X, W, R})
    node.expectRank(i, 3);
  if (node.failed())
    return;
  ArrayRef<int64_t> shape = node.shape(X);
  steps = shape[batchFirst ? 1 : 0];
  samples = shape[batchFirst ? 0 : 1];
  inputs = shape[2];
  units = node.shape(R)[2];
  auto directions = static_cast<int64_t>(reversed.size());
  int64_t given = node.integer("hidden_size", units);
  if (given != units)
    return node.error("expected attribute 'hidden_size' to be that of operand "
                      "2, " +
                      Twine(units) + ", found " + Twine(given));
  auto expect = [&](int i, ArrayRef<int64_t> expected) {
    if (node.has(i) && node.shape(i) != expected)
      node.error("expected operand " + Twine(i) + " of shape " +
                 shapeText(expected) + ", found '" + node.node.input(i) +
                 "' of shape " + shapeText(node.shape(i)));
  };
  expect(W, {directions, gates * units, inputs});
  expect(R, {directions, gates * units, units});
  expect(B, {directions, 2 * gates * units});
  for (int i : {H0, C0})
    if (node.has(i) && !isZero(i))
      expect(i, batchFirst ? Shape{samples, directions, units}
                           : Shape{directions, samples, units});
  expect(Lengths, {samples});
  if (node.has(Lengths) &&
      node.operand(Lengths).type != onnx::TensorProto::INT32)
    node.error("expected int32 as operand 4, found type " +
               elementTypeName(node.operand(Lengths).type));
  if (node.opType() == "LSTM")
    expect(Peepholes, {directions, 3 * units});
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

static Shape shapeOf(Value value) {
  return Shape(cast<RankedTensorType>(value.getType()).getShape());
}

Value RecurrentImporter::reshaped(const Twine &name, Value x,
                                  ArrayRef<int64_t> shape) {
  if (ArrayRef<int64_t>(shapeOf(x)) == shape)
    return x;
  return node.part<ff::ReshapeOp>(name, shape, x);
}

Value RecurrentImporter::transposed(const Twine &name, Value x,
                                    ArrayRef<int64_t> perm) {
  Shape shape;
  for (int64_t d : perm)
    shape.push_back(shapeOf(x)[d]);
  return node.part<ff::TransposeOp>(name, shape, x, node.list(perm));
}

Value RecurrentImporter::concatenated(const Twine &name, ArrayRef<Value> parts,
                                      int64_t axis) {
  if (parts.size() == 1)
    return parts.front();
  Shape shape = shapeOf(parts.front());
  shape[axis] = 0;
  for (Value part : parts)
    shape[axis] += shapeOf(part)[axis];
  return node.part<ff::ConcatOp>(name, shape, parts,
                                 builder.getI64IntegerAttr(axis));
}

Value RecurrentImporter::direction(const Twine &name, Value x, int64_t index) {
  if (reversed.size() == 1)
    return x;
  Shape shape = shapeOf(x), starts(shape.size(), 0);
  shape[0] = 1;
  starts[0] = index;
  return node.part<ff::SliceOp>(name, shape, x, node.list(starts));
}

RecurrentImporter::Layer RecurrentImporter::makeLayer(int64_t number) {
  Layer layer;
  layer.number = number;
  layer.reverse = reversed[number];
  if (reversed.size() > 1)
    layer.prefix = layer.reverse ? "reverse." : "forward.";
  int64_t width = gates * units;
  Value w = node.tensor(W, {Role::Weight, inputs, units});
  Value r = node.tensor(R, {Role::Weight, units, units});
  Value b = node.has(B) ? node.tensor(B, {Role::Bias}) : Value();
  if (node.failed())
    return layer;
  layer.w = direction(layer.prefix + "w", w, number);
  layer.r = direction(layer.prefix + "r", r, number);
  if (!b)
    return layer;
  auto half = [&](StringRef name, int64_t start) {
    return node.part<ff::SliceOp>(layer.prefix + name, {1, width}, b,
                                  node.list({number, start}));
  };
  layer.inputBias = half("input_bias", 0);
  layer.recurrentBias = half("recurrent_bias", width);
  // Both are added to the gates, except where one is not only added.
  if (kind != RecurrentKind::GruResetAfter) {
    layer.inputBias = node.part<ff::BinaryOp>(
        layer.prefix + "bias", {1, width}, ff::BinaryKind::Add, layer.inputBias,
        layer.recurrentBias);
    layer.recurrentBias = {};
  }
  return layer;
}

Value RecurrentImporter::firstState(const Layer &layer, int i, StringRef name) {
  if (!node.has(i) || isZero(i))
    return {};
  Value state = node.tensor(i);
  if (node.failed())
    return {};
  if (batchFirst)
    state = transposed(layer.prefix + name + ".transposed", state, {1, 0, 2});
  state = direction(layer.prefix + name + ".direction", state, layer.number);
  return reshaped(layer.prefix + name, state, {samples, units});
}

RecurrentImporter::State RecurrentImporter::firstState(const Layer &layer) {
  State state;
  state.h = firstState(layer, H0, "h0");
  if (kind == RecurrentKind::Lstm)
    state.c = firstState(layer, C0, "c0");
  return state;
}

ff::RecurrentOp RecurrentImporter::makeBlock(const Layer &layer,
                                             const Twine &name, Value x,
                                             const State &state) {
  int64_t count = shapeOf(x)[0];
  FloatAttr one = builder.getF64FloatAttr(1);
  Value projected = node.part<ff::MatMulOp>(
      layer.prefix + "project" + name, {count, samples, gates * units}, x,
      layer.w, layer.inputBias, one, one,
      builder.getStrArrayAttr({"t", "n", "c", "k"}),
      builder.getI64IntegerAttr(0), builder.getI64IntegerAttr(1));
  int64_t saved = kind == RecurrentKind::Lstm            ? 5
                  : kind == RecurrentKind::GruResetAfter ? 4
                  : kind == RecurrentKind::Gru           ? 3
                                                         : 1;
  Type last = node.partType({samples, units});
  return ff::RecurrentOp::create(
      builder, node.location(layer.prefix + "steps" + name),
      node.partType({count, samples, units}), last,
      kind == RecurrentKind::Lstm ? last : Type(),
      node.partType({count, samples, saved * units}), kind, projected, layer.r,
      layer.recurrentBias, state.h, state.c, layer.reverse);
}

std::pair<Value, RecurrentImporter::State>
RecurrentImporter::makeSteps(const Layer &layer) {
  State state = firstState(layer);
  SmallVector<Value> sequences(blocks.size());
  for (size_t i = 0; i < blocks.size(); ++i) {
    size_t at = layer.reverse ? blocks.size() - 1 - i : i;
    ff::RecurrentOp block = makeBlock(
        layer, blocks.size() > 1 ? Twine(at) : Twine(""), blocks[at], state);
    state = {block.getH(), block.getC()};
    sequences[at] = block.getY();
  }
  return {concatenated(layer.prefix + "sequence", sequences, 0), state};
}

void RecurrentImporter::defineState(int result, StringRef name,
                                    ArrayRef<Value> states) {
  if (!node.isUsed(result))
    return;
  SmallVector<Value> parts;
  for (auto [i, state] : llvm::enumerate(states))
    parts.push_back(reshaped(
        name + (states.size() > 1 ? "." + std::to_string(i) : ""), state,
        batchFirst ? Shape{samples, 1, units} : Shape{1, samples, units}));
  node.define(
      result,
      concatenated(name + ".directions", parts, batchFirst).getDefiningOp());
}

void RecurrentImporter::defineResults(ArrayRef<Value> sequences,
                                      ArrayRef<State> last) {
  if (node.isUsed(0)) {
    SmallVector<Value> parts;
    for (auto [i, sequence] : llvm::enumerate(sequences))
      parts.push_back(
          reshaped("y" + (sequences.size() > 1 ? "." + std::to_string(i) : ""),
                   sequence, {steps, 1, samples, units}));
    Value y = concatenated("y.directions", parts, 1);
    if (batchFirst)
      y = transposed("y.transposed", y, {2, 0, 1, 3});
    node.define(0, y.getDefiningOp());
  }
  SmallVector<Value> h, c;
  for (const State &state : last) {
    h.push_back(state.h);
    c.push_back(state.c);
  }
  defineState(1, "h", h);
  if (kind == RecurrentKind::Lstm)
    defineState(2, "c", c);
}

void RecurrentImporter::run() {
  if (!readAttributes())
    return;
  checkShapes();
  const std::string unrolled = unrolledPart();
  if (node.failed())
    return;
  if (!unrolled.empty())
    return importUnrolledRecurrent(node, *this, unrolled);
  x = node.tensor(X);
  SmallVector<Layer> layers;
  for (size_t i = 0; i < reversed.size() && !node.failed(); ++i)
    layers.push_back(makeLayer(static_cast<int64_t>(i)));
  node.partType({steps, samples, gates * units});
  const int64_t perBlock = node.importer.options.timeBlock.value_or(steps);
  if (int64_t count = (steps - 1) / perBlock + 1; count > kMaxBlocks)
    node.error("expected at most " + Twine(kMaxBlocks) +
               " blocks of time steps, found " + Twine(count) +
               "; give a larger --time-block");
  if (node.failed())
    return;
  if (batchFirst)
    x = transposed("x", x, {1, 0, 2});
  for (int64_t start = 0; start < steps; start += perBlock) {
    int64_t count = std::min(perBlock, steps - start);
    blocks.push_back(count == steps
                         ? x
                         : node.part<ff::SliceOp>("x" + Twine(start / perBlock),
                                                  {count, samples, inputs}, x,
                                                  node.list({start, 0, 0})));
  }
  SmallVector<Value> sequences;
  SmallVector<State> last;
  for (const Layer &layer : layers) {
    auto [sequence, state] = makeSteps(layer);
    sequences.push_back(sequence);
    last.push_back(state);
  }
  defineResults(sequences, last);
}

static void importRecurrent(NodeImporter &node) {
  RecurrentImporter(node).run();
}

void ffc::importer::registerRecurrentOps() {
  registerOp("GRU", {importRecurrent, 3, 6, 0b1110});
  registerOp("LSTM", {importRecurrent, 3, 8, 0b1110});
  registerOp("RNN", {importRecurrent, 3, 6, 0b1110});
}
