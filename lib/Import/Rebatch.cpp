//===- Rebatch.cpp - what another batch means for a node ------------------===//
//
// A model that was exported with a batch as a number has it in targets of
// reshapes, in bounds of slices and in values that were made for every sample.
// Where only one meaning of these for another batch is left, it is taken; else
// the node stands in the way.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using Kind = GraphValue::Kind;

ArrayRef<int64_t> NodeImporter::exportedShape(int i) {
  if (importer.exported && has(i))
    if (auto before = importer.exported->find(node.input(i));
        before != importer.exported->end() &&
        before->second.size() == shape(i).size())
      return before->second;
  return shape(i);
}

bool NodeImporter::isChangedBatch(int i, int64_t d) {
  if (!importer.exported)
    return false;
  auto before = importer.exported->find(node.input(i));
  return before != importer.exported->end() &&
         before->second.size() == shape(i).size() &&
         before->second[d] != shape(i)[d];
}

void NodeImporter::expectNoChangedBatch(int i, int64_t d) {
  if (!failed() && isChangedBatch(i, d))
    error("picks from the batch and stands in the way of --batch-size");
}

/// What a reshape from `before` to `target` means for an operand of shape
/// `now`, in which a batch of `from` samples became one of `to`. Elements of a
/// sample stay together, so the batch can only go to a dimension with as many
/// elements before it; it comes first in a dimension that it is joined with
/// others in. `plain` is what `target` means if it says so without numbers.
/// Nothing if there is no such dimension.
static std::optional<Shape> moveBatch(ArrayRef<int64_t> before,
                                      ArrayRef<int64_t> target,
                                      ArrayRef<int64_t> now, int64_t from,
                                      int64_t to, ArrayRef<int64_t> plain) {
  size_t batch = 0;
  while (before[batch] == now[batch])
    ++batch;
  for (size_t d = batch + 1; d < before.size(); ++d)
    if (before[d] != now[d])
      return std::nullopt;
  if (before[batch] / from * to != now[batch] || before[batch] % from != 0)
    return std::nullopt;
  int64_t outer = *elementCount(before.take_front(batch)), prefix = 1;
  for (size_t d = 0; d < target.size() && prefix <= outer;
       prefix *= target[d++]) {
    if (prefix != outer || target[d] % from != 0)
      continue;
    Shape result(target);
    result[d] = target[d] / from * to;
    // A batch of 1 leaves no trace in a number: has it been joined with what is
    // in a sample, or dropped? Only -1 says so.
    const bool isClear = from > 1 || target[d] == 1 ||
                         target[d] == before[batch] ||
                         ArrayRef<int64_t>(result) == plain;
    if (isClear)
      return result;
  }
  return std::nullopt;
}

Shape NodeImporter::reshaped(llvm::Expected<Shape> plain) {
  const ShapeTable *exported = importer.exported;
  ArrayRef<int64_t> now = shape(0);
  if (!exported || failed())
    return check(std::move(plain));
  auto before = exported->find(node.input(0)),
       target = exported->find(node.output(0));
  if (before == exported->end() || target == exported->end() ||
      before->second.size() != now.size() ||
      ArrayRef<int64_t>(before->second) == now)
    return check(std::move(plain));
  Shape computed;
  if (plain)
    computed = *plain;
  else
    llvm::consumeError(plain.takeError());
  std::optional<Shape> moved =
      moveBatch(before->second, target->second, now, importer.exportedBatch,
                *importer.options.batchSize, computed);
  if (moved)
    return *moved;
  error("reshapes " + shapeText(before->second) + " to " +
        shapeText(target->second) +
        ", which has no dimension for the batch and stands in the way of "
        "--batch-size");
  return {};
}

//===----------------------------------------------------------------------===//
// Values that are the same for all samples
//===----------------------------------------------------------------------===//

namespace {
/// How the dimensions of a node's operands belong together.
enum class Alignment { None, Front, Back };
} // namespace

static Alignment alignmentOf(StringRef opType) {
  return llvm::StringSwitch<Alignment>(opType)
      .Cases(
          {"Add",   "Sub",   "Mul",  "Div",         "Mod",     "Pow",
           "Max",   "Min",   "Sum",  "Mean",        "And",     "Or",
           "Xor",   "Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual",
           "Where", "MatMul"},
          Alignment::Back)
      .Cases({"Concat", "LSTM", "GRU", "RNN"}, Alignment::Front)
      .Default(Alignment::None);
}

/// `value` with one position in dimension `d`, of which the others are copies;
/// null if they are not.
static GraphValue *oneOf(NodeImporter &node, GraphValue &value, int64_t d) {
  if (value.shape[d] == 1)
    return &value;
  Shape shape = value.shape;
  shape[d] = 1;
  GraphValue *one =
      node.importer.newValue(value.kind, value.name, value.type, shape);
  if (value.kind == Kind::Filled) {
    one->fill = value.fill;
    return one;
  }
  if (value.kind == Kind::Constant) {
    const int64_t inner =
        *elementCount(ArrayRef<int64_t>(value.shape).drop_front(d + 1));
    Shape firsts;
    for (int64_t i = 0; i < value.constant.size(); ++i) {
      const int64_t position = i / inner % value.shape[d];
      if (position == 0)
        firsts.push_back(i);
      // Not a number is not what it is equal to, and no mask holds it.
      else if (value.constant.number(i) !=
               value.constant.number(i - position * inner))
        return nullptr;
    }
    one->constant = select(value.constant, shape, firsts);
    return one;
  }
  // Something expanded.
  auto expand =
      value.value ? value.value.getDefiningOp<ff::ExpandOp>() : ff::ExpandOp();
  if (!expand)
    return nullptr;
  auto type = cast<RankedTensorType>(expand.getX().getType());
  const int64_t missing = static_cast<int64_t>(value.shape.size()) -
                          static_cast<int64_t>(type.getRank());
  if (d >= missing && type.getDimSize(d - missing) != 1)
    return nullptr;
  // The dimensions in front of it may be expanded too: all that the operand has
  // is kept, and what is expanded is so again.
  one->kind = Kind::Computed;
  one->value = expand.getX();
  one->shape.assign(type.getShape().begin(), type.getShape().end());
  return one;
}

void NodeImporter::followBatch() {
  const Alignment alignment = alignmentOf(opType());
  if (!importer.exported || alignment == Alignment::None)
    return;
  // Dimensions are counted as they are aligned.
  auto place = [&](int i, int64_t d) {
    return alignment == Alignment::Front ? d : rank(i) - 1 - d;
  };
  std::optional<int64_t> batch;
  for (int i = 0; i < node.input_size() && !batch; ++i)
    for (int64_t d = 0; has(i) && d < rank(i) && !batch; ++d)
      if (isChangedBatch(i, d))
        batch = place(i, d);
  // The last two dimensions of products are none of samples.
  if (!batch || (opType() == "MatMul" && *batch < 2))
    return;
  const int64_t from = importer.exportedBatch, to = *importer.options.batchSize;
  if (opType() == "Concat" && node.attribute_size() > 0) {
    const int64_t axis = integer("axis", 0);
    if (rank(0) > 0 && *batch == (axis < 0 ? axis + rank(0) : axis))
      return;
  }
  for (int i = 0; i < node.input_size(); ++i) {
    if (!has(i) || *batch >= rank(i))
      continue;
    const int64_t d = place(i, *batch);
    // A single sample broadcasts by itself.
    if (shape(i)[d] != from || exportedShape(i)[d] != from ||
        (alignment == Alignment::Back && from == 1))
      continue;
    // Of recurrent layers, initial states have the batch where data have it.
    if (opType() != "Concat" && alignment == Alignment::Front && i != 5 &&
        i != 6)
      continue;
    GraphValue *one = oneOf(*this, operand(i), d);
    if (!one)
      return error("operand '" + node.input(i) + "' is made for the " +
                   Twine(from) +
                   " samples of the exported batch and stands in "
                   "the way of --batch-size");
    Shape wanted(shape(i));
    wanted[d] = to;
    Expression made(*this);
    GraphValue *target = made.constant(onnx::TensorProto::INT64, {rank(i)},
                                       {wanted.begin(), wanted.end()});
    replaced[i] = made.apply("Expand", {one, target});
    if (failed() || !replaced[i])
      return;
  }
}
