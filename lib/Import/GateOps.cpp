//===- GateOps.cpp - functions that multiply their operand by a gate ------===//

#include "Expression.h"
#include "OpTable.h"
#include "TypedNode.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using ff::BinaryKind;
using ff::UnaryKind;

/// x sigmoid(alpha x), which is QuickGelu, too
static void importSwish(NodeImporter &node) {
  const double alpha =
      node.real("alpha", node.opType() == "QuickGelu" ? 1.702f : 1);
  takeNumberType(node, 0, /*integers=*/false);
  Value x = node.tensor(0);
  if (node.failed())
    return;
  if (alpha == 1)
    return node.defineLast(unaryPart(node, "", UnaryKind::Silu, x));
  Value gate = unaryPart(node, "scaled", UnaryKind::Scale, x, alpha);
  gate = unaryPart(node, "gate", UnaryKind::Sigmoid, gate);
  node.defineLast(binaryPart(node, "", BinaryKind::Mul, x, gate));
}

/// x tanh(softplus(x))
static void importMish(NodeImporter &node) {
  takeNumberType(node, 0, /*integers=*/false);
  Value x = node.tensor(0);
  if (node.failed())
    return;
  Value gate = unaryPart(node, "softplus", UnaryKind::Softplus, x);
  gate = unaryPart(node, "gate", UnaryKind::Tanh, gate);
  node.defineLast(binaryPart(node, "", BinaryKind::Mul, x, gate));
}

/// Swish(a) b.
static void importSwiGlu(NodeImporter &node) {
  expectOneType(node, {0, 1});
  takeNumberType(node, 0, /*integers=*/false);
  if (node.shape(0) != node.shape(1))
    node.error("expected operands of one shape, found " +
               shapeText(node.shape(0)) + " and " + shapeText(node.shape(1)));
  const double alpha = node.real("alpha", 1);
  Expression made(node);
  made.define(made.mul(
      made.make(MadeNode("Swish").real("alpha", alpha), {&node.operand(0)}),
      &node.operand(1)));
}

void ffc::importer::registerGateOps() {
  registerOp("Mish", {importMish, 1, 1});
  registerOp("SwiGLU", {importSwiGlu, 2, 2});
  registerOp("Swish", {importSwish, 1, 1});
  registerOp("com.microsoft.QuickGelu", {importSwish, 1, 1});
}
