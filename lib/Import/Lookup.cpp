//===- Lookup.cpp - Gather by computed indices ----------------------------===//

#include "Positions.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;

/// Integers up to here are floats too.
static constexpr int64_t kMaxCarried = int64_t(1) << 24;

Value ffc::importer::indicesOf(NodeImporter &node, GraphValue &operand,
                               int64_t rows) {
  bool isCarried =
      operand.value &&
      isa<FloatType>(getElementTypeOrSelf(operand.value.getType()));
  if (isCarried && rows > kMaxCarried)
    node.error(
        "expected at most " + Twine(kMaxCarried) +
        " positions to choose from by indices that are computed, found " +
        Twine(rows));
  Value indices = node.check(node.importer.typedValueOf(operand));
  if (node.failed() || (!operand.shape.empty() && operand.shape.size() <= 6))
    return indices;
  RankedTensorType flat =
      node.importer.tensorType({*elementCount(operand.shape)}, operand.type);
  return ff::ReshapeOp::create(node.importer.builder, node.location("indices"),
                               flat, indices);
}

/// `x` with its dimensions in the order `perm`.
static Value transposed(NodeImporter &node, const Twine &name, Value x,
                        ArrayRef<int64_t> perm) {
  if (llvm::equal(perm, llvm::seq<int64_t>(perm.size())))
    return x;
  ArrayRef<int64_t> from = cast<RankedTensorType>(x.getType()).getShape();
  Shape shape;
  for (int64_t d : perm)
    shape.push_back(from[d]);
  return node.part<ff::TransposeOp>(name, shape, x, node.list(perm));
}

static Value reshaped(NodeImporter &node, const Twine &name, Value x,
                      ArrayRef<int64_t> shape) {
  if (cast<RankedTensorType>(x.getType()).getShape() == shape)
    return x;
  return node.part<ff::ReshapeOp>(name, shape, x);
}

void ffc::importer::importLookup(NodeImporter &node, int64_t axis) {
  ArrayRef<int64_t> from = node.shape(0), ids = node.shape(1);
  node.expectNoChangedBatch(0, axis);
  if (node.failed())
    return;
  Shape outer(from.take_front(axis)), inner(from.drop_front(axis + 1));
  int64_t rows = from[axis], width = 1;
  for (const Shape &part : {outer, inner})
    for (int64_t extent : part)
      width *= extent;
  GraphValue &positions = node.operand(1);
  if (positions.type != TensorProto::INT32 &&
      positions.type != TensorProto::INT64)
    return node.error("expected integers as operand 1, found type " +
                      elementTypeName(positions.type));
  // As a linear layer on indices of which one of `rows` is hot.
  Value table = node.tensor(0, {Role::Weight, rows, width});
  if (node.failed())
    return;
  Value indices = indicesOf(node, positions, rows);
  Shape shape(outer);
  shape.append(ids.begin(), ids.end());
  shape.append(inner);
  node.resultType(shape);
  if (node.failed())
    return;

  // Rows are slices of dimension 0; the rest of the table is one dimension.
  int64_t rank = node.rank(0), before = axis;
  Shape perm = {axis};
  for (int64_t d = 0; d < rank; ++d)
    if (d != axis)
      perm.push_back(d);
  table = transposed(node, "rows_first", table, perm);
  table = reshaped(node, "table", table, {rows, width});
  Shape looked(cast<RankedTensorType>(indices.getType()).getShape());
  looked.push_back(width);
  Value y = node.part<ff::EmbeddingOp>("lookup", looked, table, indices);

  // [ids.., outer.., inner..], then the dimensions where they belong.
  Shape rowShape(ids);
  rowShape.append(outer);
  rowShape.append(inner);
  y = reshaped(node, "shape", y, rowShape);
  auto numIds = static_cast<int64_t>(ids.size());
  perm.clear();
  for (int64_t d = 0; d < before; ++d)
    perm.push_back(numIds + d);
  for (int64_t d = 0; d < numIds; ++d)
    perm.push_back(d);
  for (int64_t d = numIds + before; d < static_cast<int64_t>(rowShape.size());
       ++d)
    perm.push_back(d);
  node.defineLast(transposed(node, "moved", y, perm));
}
