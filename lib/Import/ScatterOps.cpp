//===- ScatterOps.cpp - ScatterElements and ScatterND ---------------------===//
//
// The opposites of GatherElements and GatherND: slices are added up where the
// positions say, as the gradient of a lookup does. With `reduction` none, what
// was there is replaced where a slice was added; ONNX leaves open what becomes
// of positions that are named twice.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "Positions.h"
#include "TypedNode.h"

#include "llvm/ADT/StringSwitch.h"

#include <limits>
#include <numeric>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;

/// [rows, width]: the sums of the rows of `from` that have a number each.
static GraphValue *addedUp(NodeImporter &node, const Twine &name, Value indices,
                           GraphValue *from, int64_t rows) {
  Value values = node.check(node.importer.floatsOf(*from));
  if (node.failed())
    return nullptr;
  const Shape shape = {rows, from->shape.back()};
  GraphValue *sums = node.importer.newValue(GraphValue::Kind::Computed,
                                            (node.getName() + "." + name).str(),
                                            from->type, shape);
  sums->value =
      node.part<ff::EmbeddingBackwardOp>(name, shape, indices, values);
  return sums;
}

/// What becomes of an element that is there and those that come to it.
enum class Reduction { None, Add, Mul, Max, Min };

static Reduction readReduction(NodeImporter &node) {
  const StringRef text = node.text("reduction", "none");
  const auto reduction = llvm::StringSwitch<std::optional<Reduction>>(text)
                             .Case("none", Reduction::None)
                             .Case("add", Reduction::Add)
                             .Case("mul", Reduction::Mul)
                             .Case("max", Reduction::Max)
                             .Case("min", Reduction::Min)
                             .Default(std::nullopt);
  if (!reduction)
    node.error("expected reduction none, add, mul, max or min, found '" + text +
               "'");
  expectOneType(node, {0, 2});
  return reduction.value_or(Reduction::None);
}

/// Operand `i` as floats, which are scattered whatever they stand for.
static GraphValue *floatsOf(NodeImporter &node, Expression &made, int i) {
  GraphValue *value = &node.operand(i);
  return isFloatType(value->type) ? value
                                  : made.cast(value, TensorProto::FLOAT);
}

/// Result 0 has operand 0's type.
static void defineLike(NodeImporter &node, Expression &made,
                       GraphValue *result) {
  made.define(made.cast(result, node.operand(0).type));
}

/// Products and extrema are not sums: `data` [outer, rows, width] combined with
/// what comes to its rows from `from` [outer, count, width], by a table of
/// which goes where. `numbers`: of rows, [outer, count, 1], or the same for all
/// width, [outer, count, width].
static GraphValue *reduced(NodeImporter &node, Expression &made,
                           Reduction reduction, GraphValue *data,
                           GraphValue *numbers, GraphValue *from) {
  if (!data || !numbers || !from)
    return nullptr;
  const Shape shape(data->shape);
  const int64_t count = from->shape[1];
  const auto elements = elementCount({shape[0], shape[1], count, shape[2]});
  if (!elements || *elements > kMaxPositions) {
    node.error("expected at most " + Twine(kMaxPositions) +
               " pairs of elements and what they are reduced with, found " +
               Twine(shape[0] * shape[1]) + " times " +
               Twine(count * shape[2]));
    return nullptr;
  }
  const double least = std::numeric_limits<float>::lowest();
  struct Operators {
    const char *pair, *all;
    double neutral;
  };
  const Operators by =
      reduction == Reduction::Mul   ? Operators{"Mul", "ReduceProd", 1}
      : reduction == Reduction::Max ? Operators{"Max", "ReduceMax", least}
                                    : Operators{"Min", "ReduceMin", -least};
  std::vector<int64_t> places(shape[1]);
  std::iota(places.begin(), places.end(), 0);
  // Positions may count from the end.
  GraphValue *place =
      made.constant(TensorProto::INT64, {shape[1], 1, 1}, std::move(places));
  GraphValue *own = made.cast(numbers, TensorProto::INT64);
  if (!own)
    return nullptr;
  Shape column(own->shape);
  column.insert(column.begin() + 1, 1);
  own = made.reshape(own, column);
  GraphValue *back = made.sub(place, static_cast<double>(shape[1]));
  GraphValue *isHit = made.apply("Or", {made.apply("Equal", {own, place}),
                                        made.apply("Equal", {own, back})});
  GraphValue *coming =
      made.where(isHit, made.reshape(from, {shape[0], 1, count, shape[2]}),
                 made.numberLike(from, by.neutral));
  return made.apply(by.pair, {data, made.reduce(by.all, coming, 2)});
}

/// `data` with `sums` added or, without `hits`, in the place of what was hit.
static GraphValue *combined(Expression &made, GraphValue *data,
                            GraphValue *sums, GraphValue *hits) {
  if (!hits)
    return made.apply("Add", {data, sums});
  GraphValue *zero = made.filled(TensorProto::FLOAT, {}, 0);
  return made.apply("Where", {made.apply("Greater", {hits, zero}), sums, data});
}

static void defineScattered(NodeImporter &node, Expression &made,
                            const Named &named) {
  const Reduction reduction = readReduction(node);
  if (node.failed() || !named.numbers)
    return;
  const int64_t count = product(named.numbers->shape);
  if (product(node.shape(2)) != count * named.width)
    return node.error("expected operand 2 with " + Twine(count * named.width) +
                      " elements, found " + shapeText(node.shape(2)));
  const Shape shape(node.shape(0)), table = {named.rows, named.width};
  GraphValue *data = made.reshape(floatsOf(node, made, 0), table),
             *added =
                 made.reshape(floatsOf(node, made, 2), {count, named.width}),
             *numbers = made.reshape(named.numbers, {count});
  if (node.failed())
    return;
  if (reduction != Reduction::None && reduction != Reduction::Add) {
    GraphValue *result = reduced(
        node, made, reduction, made.reshape(data, {1, named.rows, named.width}),
        made.reshape(numbers, {1, count, 1}),
        made.reshape(added, {1, count, named.width}));
    return defineLike(node, made, made.reshape(result, shape));
  }
  Value indices = indicesOf(node, *numbers, named.rows);
  GraphValue *sums = addedUp(node, "sums", indices, added, named.rows),
             *hits = nullptr;
  if (reduction == Reduction::None)
    hits = addedUp(node, "hits", indices,
                   made.filled(TensorProto::FLOAT, {count, 1}, 1), named.rows);
  defineLike(node, made, made.reshape(combined(made, data, sums, hits), shape));
}

/// The sums of the elements of `from` whose positions are the same, in a tensor
/// of operand 0's shape.
static GraphValue *addedUp(NodeImporter &node, Expression &made,
                           const Twine &name, const ElementPositions &positions,
                           GraphValue *from) {
  Value values = node.check(node.importer.floatsOf(*from));
  if (node.failed())
    return nullptr;
  OpBuilder &builder = node.importer.builder;
  auto reshaped = [&](const Twine &part, Value x, ArrayRef<int64_t> shape) {
    return cast<RankedTensorType>(x.getType()).getShape() == shape
               ? x
               : node.part<ff::ReshapeOp>(name + part, shape, x);
  };
  Value sums = node.part<ff::GatherElementsBackwardOp>(
      name, positions.indexed, positions.indices,
      reshaped(".joined", values, positions.shape),
      builder.getI64IntegerAttr(positions.axis));
  sums = reshaped(".apart", sums, positions.lines);
  // Lines that have no positions get nothing.
  const Shape shape(node.shape(0));
  Shape pads(2 * shape.size(), 0);
  for (size_t d = 0; d < shape.size(); ++d)
    pads[d + shape.size()] = shape[d] - positions.lines[d];
  if (positions.lines != shape)
    sums = node.part<ff::PadOp>(name + ".lines", shape, sums, node.list(pads),
                                builder.getF64FloatAttr(0));
  return made.computed(from->type, sums);
}

/// The same of elements, each of which has a position along the axis.
static void importReducedElements(NodeImporter &node, Expression &made,
                                  const ElementPositions &positions,
                                  Reduction reduction) {
  const Shape shape(node.shape(0)), lines(positions.lines),
      given(node.shape(1));
  const auto axis = static_cast<size_t>(
      node.check(resolveAxis(node.integer("axis", 0), node.rank(0))));
  auto joined = [&](ArrayRef<int64_t> of) {
    return Shape{product(of.take_front(axis)), of[axis],
                 product(of.drop_front(axis + 1))};
  };
  GraphValue *whole = floatsOf(node, made, 0), *part = whole;
  for (size_t d = 0; d < shape.size(); ++d)
    part = made.slice(part, static_cast<int64_t>(d), 0, lines[d]);
  GraphValue *result =
      reduced(node, made, reduction, made.reshape(part, joined(lines)),
              made.reshape(&node.operand(1), joined(given)),
              made.reshape(floatsOf(node, made, 2), joined(given)));
  result = made.reshape(result, lines);
  if (lines == shape)
    return defineLike(node, made, result);
  // Lines that have no positions stay.
  std::vector<int64_t> pads(2 * shape.size(), 0);
  for (size_t d = 0; d < shape.size(); ++d)
    pads[d + shape.size()] = shape[d] - lines[d];
  auto padded = [&](GraphValue *x) {
    return made.apply(
        "Pad", {x, made.constant(TensorProto::INT64,
                                 {static_cast<int64_t>(pads.size())}, pads)});
  };
  GraphValue *isLine = padded(made.filled(TensorProto::FLOAT, lines, 1));
  defineLike(
      node, made,
      made.where(
          made.apply("Greater", {isLine, made.number(TensorProto::FLOAT, 0)}),
          padded(result), whole));
}

static void importScatterElements(NodeImporter &node) {
  const auto positions = elementPositions(node);
  const Reduction reduction = readReduction(node);
  if (!node.failed() && node.shape(2) != node.shape(1))
    node.error("expected operand 2 of shape " + shapeText(node.shape(1)) +
               ", found " + shapeText(node.shape(2)));
  if (node.failed())
    return;
  Expression made(node);
  if (reduction != Reduction::None && reduction != Reduction::Add)
    return importReducedElements(node, made, *positions, reduction);
  GraphValue *updates = floatsOf(node, made, 2);
  if (!updates)
    return;
  GraphValue *sums = addedUp(node, made, "sums", *positions, updates),
             *hits = nullptr;
  if (reduction == Reduction::None)
    hits = addedUp(node, made, "hits", *positions,
                   made.filled(TensorProto::FLOAT, node.shape(1), 1));
  defineLike(node, made, combined(made, floatsOf(node, made, 0), sums, hits));
}

static void importScatterND(NodeImporter &node) {
  Expression made(node);
  defineScattered(node, made, namedSlices(node, made, /*batches=*/0));
}

void ffc::importer::registerScatterOps() {
  registerOp("Scatter", {importScatterElements, 3, 3});
  registerOp("ScatterElements", {importScatterElements, 3, 3});
  registerOp("ScatterND", {importScatterND, 3, 3});
}
