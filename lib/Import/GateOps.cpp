//===- GateOps.cpp - functions that multiply their operand by a gate ------===//

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

void ffc::importer::registerGateOps() {
  registerOp("Mish", {importMish, 1, 1});
  registerOp("Swish", {importSwish, 1, 1});
  registerOp("com.microsoft.QuickGelu", {importSwish, 1, 1});
}
