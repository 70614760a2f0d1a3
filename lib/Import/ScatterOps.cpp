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
                                            TensorProto::FLOAT, shape);
  sums->value =
      node.part<ff::EmbeddingBackwardOp>(name, shape, indices, values);
  return sums;
}

/// Is what was there added to? Reports other operands than floats.
static bool readReduction(NodeImporter &node) {
  const StringRef reduction = node.text("reduction", "none");
  if (reduction != "none" && reduction != "add")
    node.error("expected reduction none or add, found '" + reduction + "'");
  else if (node.operand(0).type != TensorProto::FLOAT)
    node.error("expected floats as operand 0, found type " +
               elementTypeName(node.operand(0).type));
  return reduction == "add";
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
  const bool adds = readReduction(node);
  if (node.failed() || !named.numbers)
    return;
  const int64_t count = product(named.numbers->shape);
  if (product(node.shape(2)) != count * named.width)
    return node.error("expected operand 2 with " + Twine(count * named.width) +
                      " elements, found " + shapeText(node.shape(2)));
  const Shape shape(node.shape(0)), table = {named.rows, named.width};
  GraphValue *data = made.reshape(&node.operand(0), table),
             *added = made.reshape(&node.operand(2), {count, named.width}),
             *numbers = made.reshape(named.numbers, {count});
  if (node.failed())
    return;
  Value indices = indicesOf(node, *numbers, named.rows);
  GraphValue *sums = addedUp(node, "sums", indices, added, named.rows),
             *hits = nullptr;
  if (!adds)
    hits = addedUp(node, "hits", indices,
                   made.filled(TensorProto::FLOAT, {count, 1}, 1), named.rows);
  GraphValue *result = combined(made, data, sums, hits);
  if (result)
    result = made.reshape(result, shape);
  if (result)
    node.define(0, result);
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
  return made.computed(TensorProto::FLOAT, sums);
}

static void importScatterElements(NodeImporter &node) {
  const auto positions = elementPositions(node);
  const bool adds = readReduction(node);
  if (!node.failed() && node.shape(2) != node.shape(1))
    node.error("expected operand 2 of shape " + shapeText(node.shape(1)) +
               ", found " + shapeText(node.shape(2)));
  if (node.failed())
    return;
  Expression made(node);
  GraphValue *sums = addedUp(node, made, "sums", *positions, &node.operand(2)),
             *hits = nullptr;
  if (!adds)
    hits = addedUp(node, made, "hits", *positions,
                   made.filled(TensorProto::FLOAT, node.shape(1), 1));
  if (GraphValue *result = combined(made, &node.operand(0), sums, hits))
    node.define(0, result);
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
