//===- DropoutOp.cpp - Dropout --------------------------------------------===//

#include "NodeImporter.h"
#include "OpTable.h"

#include "ffc/IR/Hash.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

/// Result 1, the mask of an operator that drops nothing.
static void defineMask(NodeImporter &node) {
  // Before opset 10 it was of the operand's type.
  int32_t type =
      node.opset() < 10 ? onnx::TensorProto::FLOAT : onnx::TensorProto::BOOL;
  GraphValue *mask = node.importer.newValue(
      GraphValue::Kind::Filled, node.node.output(1), type, node.shape(0));
  mask->fill = 1;
  node.define(1, mask);
}

static void importDropout(NodeImporter &node) {
  // Opset 12 turned the ratio into an operand and added whether it acts.
  bool acts = true;
  double ratio = 0.5;
  if (node.opset() >= 12) {
    ratio = node.scalar(1).value_or(ratio);
    acts = node.scalar(2).value_or(0) != 0;
    node.integer("seed", 0); // the program has its own
  } else {
    ratio = node.real("ratio", ratio);
  }
  const ImportOptions &options = node.importer.options;
  if (options.dropout) {
    ratio = *options.dropout;
    acts = true;
  }
  if (!(ratio >= 0 && ratio < 1))
    node.error("expected a ratio from 0 to below 1, found " +
               numberText(ratio));
  if (node.failed())
    return;
  if (!acts || !options.training || ratio == 0) {
    if (node.isUsed(1))
      defineMask(node);
    return node.defineSame(node.operand(0));
  }
  Value x = node.tensor(0);
  if (node.failed())
    return;
  Builder &builder = node.importer.builder;
  auto key = static_cast<int64_t>(ff::hashName(node.getName()));
  node.build<ff::DropoutOp>(node.shape(0), x, /*addend=*/Value(),
                            builder.getI64IntegerAttr(key),
                            builder.getF64FloatAttr(ratio));
}

void ffc::importer::registerDropoutOp() {
  registerOp("Dropout", {importDropout, 1, 3});
}
