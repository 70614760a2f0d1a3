//===- LikeOps.cpp - operators that take a type or shape from an operand --===//

#include "Expression.h"
#include "OpTable.h"
#include "TypedNode.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;

static void importCastLike(NodeImporter &node) {
  node.ignore("saturate"); // of eight bits
  node.ignore("round_mode");
  const int32_t type = node.operand(1).type;
  GraphValue &x = node.operand(0);
  if (GraphValue *y = Expression(node).apply("Cast", {&x}, "to", type))
    node.define(0, y);
}

static void importEyeLike(NodeImporter &node) {
  node.expectRank(0, 2);
  const int64_t diagonal = node.integer("k", 0);
  const auto type =
      static_cast<int32_t>(node.integer("dtype", node.operand(0).type));
  if (!isCarriedType(type))
    node.unsupported(" of " + elementTypeName(type));
  if (node.failed())
    return;
  const int64_t rows = node.shape(0)[0], columns = node.shape(0)[1];
  if (rows * columns <= kMaxConstantElements) {
    Constant eye;
    eye.type = type;
    eye.shape = {rows, columns};
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j)
        if (eye.isFloat())
          eye.floats.push_back(j - i == diagonal);
        else
          eye.ints.push_back(j - i == diagonal);
    return node.defineConstant(std::move(eye));
  }
  const Diagonal ones =
      diagonalOf(node, rows, columns, static_cast<double>(diagonal));
  node.setElementType(type);
  if (!node.failed())
    node.defineLast(
        binaryPart(node, "", ff::BinaryKind::Equal, ones.columns, ones.rows));
}

void ffc::importer::registerLikeOps() {
  registerOp("CastLike", {importCastLike, 2, 2});
  registerOp("EyeLike", {importEyeLike, 1, 1});
}
