//===- SoftmaxOps.cpp - softmax and its logarithm -------------------------===//

#include "NodeImporter.h"
#include "OpTable.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

static void importSoftmax(NodeImporter &node) {
  // Until opset 12 the operand was a matrix, columns starting at `axis`.
  bool joint = node.opset() < 13;
  int64_t given = node.integer("axis", joint ? 1 : -1), rank = node.rank(0);
  int64_t axis =
      joint && given == rank ? rank : node.check(resolveAxis(given, rank));
  Value x = node.tensor(0);
  if (node.failed())
    return;
  Shape axes =
      llvm::to_vector(llvm::seq<int64_t>(axis, joint ? rank : axis + 1));
  for (int64_t d : axes)
    if (node.isChangedBatch(0, d))
      return node.error("normalises over the batch and stands in the way of "
                        "--batch-size");
  node.build<ff::SoftmaxOp>(
      node.shape(0), x, node.list(axes),
      node.importer.builder.getI64IntegerAttr(node.opType() == "LogSoftmax"));
}

void ffc::importer::registerSoftmaxOps() {
  registerOp("LogSoftmax", {importSoftmax, 1, 1});
  registerOp("Softmax", {importSoftmax, 1, 1});
}
