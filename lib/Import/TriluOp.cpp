//===- TriluOp.cpp - Trilu ------------------------------------------------===//

#include "OpTable.h"
#include "TypedNode.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using ff::BinaryKind;

/// Reports a tensor that is no matrix, nor a batch of them.
static llvm::Error expectMatrices(ArrayRef<int64_t> shape) {
  if (shape.size() >= 2)
    return llvm::Error::success();
  return makeError("expected an operand of at least two dimensions, found "
                   "shape " +
                   shapeText(shape));
}

llvm::Expected<Constant> ffc::importer::foldTrilu(const FoldCall &call) {
  Constant result = *call.inputs[0];
  if (llvm::Error error = expectMatrices(result.shape))
    return error;
  int64_t diagonal = 0;
  if (call.has(1)) {
    if (call.inputs[1]->size() != 1)
      return makeError("expected a scalar as operand 1, found shape " +
                       shapeText(call.inputs[1]->shape));
    diagonal = call.inputs[1]->ints.front();
  }
  bool isUpper = call.integer("upper", 1) != 0;
  int64_t columns = result.shape.back(),
          rows = result.shape[result.shape.size() - 2];
  for (int64_t i = 0; i < result.size(); ++i) {
    int64_t row = i / columns % rows, column = i % columns;
    if (isUpper ? column - row >= diagonal : column - row <= diagonal)
      continue;
    if (result.isFloat())
      result.floats[i] = 0;
    else
      result.ints[i] = 0;
  }
  return result;
}

static void importTrilu(NodeImporter &node) {
  bool isUpper = node.integer("upper", 1) != 0;
  double given = node.scalar(1).value_or(0);
  node.check(expectMatrices(node.shape(0)));
  if (node.failed())
    return;
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t columns = shape.back(), rows = shape[shape.size() - 2];
  for (int64_t d : {node.rank(0) - 2, node.rank(0) - 1})
    if (node.isChangedBatch(0, d))
      node.error("has the batch in its matrices and stands in the way of "
                 "--batch-size");
  Value x = node.tensor(0);
  const Diagonal diagonal = diagonalOf(node, rows, columns, given);
  if (node.failed())
    return;
  Value mask =
      binaryPart(node, "mask",
                 isUpper ? BinaryKind::GreaterOrEqual : BinaryKind::LessOrEqual,
                 diagonal.columns, diagonal.rows);
  node.defineLast(binaryPart(node, "", BinaryKind::Keep, x, mask));
}

void ffc::importer::registerTriluOp() {
  registerOp("Trilu", {importTrilu, 1, 2, 0, true});
}
