//===- GatherOps.cpp - GatherElements and GatherND ------------------------===//
//
// GatherND picks slices by positions along several dimensions. It is Gather
// along one dimension, into which these are merged, by numbers made of the
// positions.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "Positions.h"

using namespace ffc;
using namespace ffc::importer;

/// Result 0 has the slices, each of shape `slice`.
static void defineGathered(NodeImporter &node, Expression &made,
                           const Named &named, llvm::ArrayRef<int64_t> slice) {
  if (node.failed())
    return;
  Shape table = {named.rows};
  table.append(slice.begin(), slice.end());
  GraphValue *rows = made.reshape(&node.operand(0), table);
  if (GraphValue *result =
          made.apply("Gather", {rows, named.numbers}, "axis", 0))
    node.define(0, result);
}

static void importGatherElements(NodeImporter &node) {
  const auto positions = elementPositions(node);
  mlir::Value x = positions ? node.tensor(0) : mlir::Value();
  if (node.failed())
    return;
  // Lines beyond those that have positions are not looked at.
  if (positions->lines != node.shape(0))
    x = node.part<ff::SliceOp>("lines", positions->lines, x,
                               node.list(Shape(positions->lines.size(), 0)));
  auto axis = node.importer.builder.getI64IntegerAttr(positions->axis);
  if (positions->shape == node.shape(1))
    return node.build<ff::GatherElementsOp>(node.shape(1), x,
                                            positions->indices, axis);
  x = node.part<ff::ReshapeOp>("joined", positions->indexed, x);
  x = node.part<ff::GatherElementsOp>("elements", positions->shape, x,
                                      positions->indices, axis);
  node.build<ff::ReshapeOp>(node.shape(1), x);
}

static void importGatherND(NodeImporter &node) {
  const int64_t batches = node.integer("batch_dims", 0);
  Expression made(node);
  const Named named = namedSlices(node, made, batches);
  if (node.failed())
    return;
  const Shape from(node.shape(0));
  defineGathered(
      node, made, named,
      llvm::ArrayRef<int64_t>(from).drop_front(batches + node.shape(1).back()));
}

void ffc::importer::registerGatherOps() {
  registerOp("GatherElements", {importGatherElements, 2, 2, 0, true});
  registerOp("GatherND", {importGatherND, 2, 2});
}
