//===- RmsNormOp.cpp - RMSNormalization -----------------------------------===//

#include "OpTable.h"
#include "TypedNode.h"

#include "ffc/IR/ShapeInference.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using ff::BinaryKind;
using ff::UnaryKind;

/// x / sqrt(mean(x^2) + epsilon) * scale, in the operators that exporters of
/// older sets write.
static void importRmsNormalization(NodeImporter &node) {
  const int64_t rank = node.rank(0);
  const int64_t axis = node.check(resolveAxis(node.integer("axis", -1), rank));
  const double epsilon = node.real("epsilon", 1e-5f);
  node.ignore("stash_type"); // f32 at least
  if (node.failed())
    return;
  Shape column(node.shape(0)), axes;
  int64_t count = 1;
  for (int64_t d = axis; d < rank; ++d) {
    if (node.isChangedBatch(0, d))
      return node.error(
          "normalises over the batch and stands in the way of --batch-size");
    axes.push_back(d);
    count *= column[d];
    column[d] = 1;
  }
  auto joined = ff::broadcastShapes(node.shape(0), node.shape(1));
  if (!joined || ArrayRef<int64_t>(*joined) != node.shape(0))
    return node.error("expected a scale that broadcasts to " +
                      shapeText(node.shape(0)) + ", found shape " +
                      shapeText(node.shape(1)));
  takeNumberType(node, 0, /*integers=*/false);
  Value x = node.tensor(0), scale = node.tensor(1, {Role::Scale});
  if (node.failed())
    return;
  Value square = binaryPart(node, "square", BinaryKind::Mul, x, x);
  Value mean =
      node.part<ff::ReduceSumOp>("sum", column, square, node.list(axes),
                                 node.importer.builder.getI64IntegerAttr(1));
  mean = unaryPart(node, "mean", UnaryKind::Scale, mean,
                   1 / static_cast<double>(count));
  Value root = unaryPart(node, "shifted", UnaryKind::Shift, mean, epsilon);
  root = unaryPart(node, "root", UnaryKind::Sqrt, root);
  Value inverse = unaryPart(node, "inverse", UnaryKind::Reciprocal, root);
  Value normed = binaryPart(node, "normed", BinaryKind::Mul, x, inverse);
  node.defineLast(binaryPart(node, "", BinaryKind::Mul, normed, scale));
}

void ffc::importer::registerRmsNormOp() {
  registerOp("RMSNormalization", {importRmsNormalization, 2, 2, 0b10});
}
