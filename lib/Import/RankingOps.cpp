//===- RankingOps.cpp - largest and smallest elements ---------------------===//

#include "OpTable.h"
#include "TypedNode.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

static void importTopK(NodeImporter &node) {
  int64_t axis =
      node.check(resolveAxis(node.integer("axis", -1), node.rank(0)));
  bool largest = node.integer("largest", 1) != 0;
  node.ignore("sorted"); // they always are
  // Opset 10 turned the attribute into an operand.
  int64_t count = 0;
  if (node.opset() < 10) {
    count = node.integer("k", 0);
  } else {
    Shape given = node.constantList(1);
    if (!node.failed() && given.size() != 1)
      node.error("expected one number as operand 1, found " +
                 Twine(given.size()));
    count = node.failed() ? 0 : given.front();
  }
  if (node.failed())
    return;
  if (count < 1 || count > node.shape(0)[axis])
    return node.error("expected a count from 1 to " +
                      Twine(node.shape(0)[axis]) + ", found " + Twine(count));
  if (node.isChangedBatch(0, axis))
    return node.error("ranks the batch and stands in the way of --batch-size");
  takeNumberType(node, 0, /*integers=*/true);
  Value x = node.tensor(0);
  Shape shape(node.shape(0));
  shape[axis] = count;
  RankedTensorType type = node.resultType(shape);
  if (node.failed())
    return;
  OpBuilder &builder = node.importer.builder;
  auto op = ff::TopKOp::create(
      builder, node.location(), type, type.clone(builder.getI64Type()), x,
      builder.getI64IntegerAttr(axis), builder.getI64IntegerAttr(largest));
  node.define(op);
  if (node.isUsed(1)) {
    node.setElementType(onnx::TensorProto::INT64);
    node.define(1, op.getIndex());
  }
}

/// Where the first of the largest or smallest elements along `axis` are, which
/// stays with extent 1. If `isLast`, the last of them.
static Value extremeIndex(NodeImporter &node, Value x, int64_t axis,
                          bool largest, bool isLast) {
  OpBuilder &builder = node.importer.builder;
  Shape shape(cast<RankedTensorType>(x.getType()).getShape());
  int64_t extent = shape[axis];
  IntegerAttr along = builder.getI64IntegerAttr(axis);
  if (isLast) {
    Shape reverse;
    for (int64_t i = extent; i-- > 0;)
      reverse.push_back(i);
    x = node.part<ff::GatherOp>("reversed", shape, x, along,
                                node.list(reverse));
  }
  shape[axis] = 1;
  RankedTensorType type = node.resultType(shape);
  auto top = ff::TopKOp::create(builder, node.location("top"), type,
                                type.clone(builder.getI64Type()), x, along,
                                builder.getI64IntegerAttr(largest));
  Value index =
      ff::CastOp::create(builder, node.location("index"), type, top.getIndex());
  if (!isLast)
    return index;
  Value back = unaryPart(node, "back", ff::UnaryKind::Scale, index, -1);
  return unaryPart(node, "front", ff::UnaryKind::Shift, back,
                   static_cast<double>(extent - 1));
}

static void importArgExtreme(NodeImporter &node) {
  int64_t axis = node.check(resolveAxis(node.integer("axis", 0), node.rank(0)));
  bool keepdims = node.integer("keepdims", 1) != 0;
  bool isLast = node.integer("select_last_index", 0) != 0;
  takeNumberType(node, 0, /*integers=*/true);
  if (!node.failed() && node.isChangedBatch(0, axis))
    node.error("ranks the batch and stands in the way of --batch-size");
  Value x = node.tensor(0);
  if (node.failed())
    return;
  Value index = extremeIndex(node, x, axis, node.opType() == "ArgMax", isLast);
  Shape shape(node.shape(0));
  shape.erase(shape.begin() + axis);
  if (!keepdims)
    index = node.part<ff::ReshapeOp>("squeezed", shape, index);
  node.setElementType(onnx::TensorProto::INT64);
  node.defineLast(index);
}

/// 1 at the first of the largest elements along a dimension, else 0.
static void importHardmax(NodeImporter &node) {
  // Until opset 12 the operand was a matrix, columns starting at `axis`.
  bool joint = node.opset() < 13;
  int64_t given = node.integer("axis", joint ? 1 : -1), rank = node.rank(0);
  int64_t axis =
      joint && given == rank ? rank : node.check(resolveAxis(given, rank));
  takeNumberType(node, 0, /*integers=*/false);
  if (node.failed())
    return;
  for (int64_t d = axis; d < (joint ? rank : axis + 1); ++d)
    if (node.isChangedBatch(0, d))
      node.error("ranks the batch and stands in the way of --batch-size");
  Value x = node.tensor(0);
  Shape whole(node.shape(0)), ranked = whole;
  if (joint) {
    ranked.truncate(axis);
    ranked.push_back(*elementCount(ArrayRef<int64_t>(whole).drop_front(axis)));
  }
  Value places = node.knownNumbers(
      "positions", positions(node, ranked[axis],
                             static_cast<int64_t>(ranked.size()) - axis));
  if (node.failed())
    return;
  if (ranked != whole)
    x = node.part<ff::ReshapeOp>("columns", ranked, x);
  Value index = extremeIndex(node, x, axis, /*largest=*/true, /*isLast=*/false);
  Value y = binaryPart(node, "hit", ff::BinaryKind::Equal, index, places);
  if (ranked != whole)
    y = node.part<ff::ReshapeOp>("whole", whole, y);
  node.defineLast(y);
}

void ffc::importer::registerRankingOps() {
  registerOp("ArgMax", {importArgExtreme, 1, 1});
  registerOp("ArgMin", {importArgExtreme, 1, 1});
  registerOp("Hardmax", {importHardmax, 1, 1});
  registerOp("TopK", {importTopK, 1, 2});
}
