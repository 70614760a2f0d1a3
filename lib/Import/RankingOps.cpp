//===- RankingOps.cpp - TopK ----------------------------------------------===//

#include "OpTable.h"
#include "TypedNode.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

void ffc::importer::importTopK(NodeImporter &node) {
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
