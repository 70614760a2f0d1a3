//===- ReverseSequenceOp.cpp - ReverseSequence ----------------------------===//

#include "NodeImporter.h"
#include "OpTable.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using llvm::Twine;
using onnx::TensorProto;

static void importReverseSequence(NodeImporter &node) {
  const int64_t batch = node.integer("batch_axis", 1),
                time = node.integer("time_axis", 0);
  if (batch < 0 || batch > 1 || time != 1 - batch)
    return node.error("expected batch_axis and time_axis to be 0 and 1 in "
                      "either order, found " +
                      Twine(batch) + " and " + Twine(time));
  if (node.rank(0) < 2)
    return node.error("expected at least 2 dimensions as operand 0, found " +
                      Twine(node.rank(0)));
  GraphValue &lengths = node.operand(1);
  if (lengths.type != TensorProto::INT64)
    return node.error("expected int64 as operand 1, found type " +
                      elementTypeName(lengths.type));
  const Shape expected = {node.shape(0)[batch]};
  if (lengths.shape != expected)
    return node.error("expected a length for every sequence, shape " +
                      shapeText(expected) + ", as operand 1, found shape " +
                      shapeText(lengths.shape));
  Value x = node.tensor(0);
  Value given = node.check(node.importer.typedValueOf(lengths));
  Builder &builder = node.importer.builder;
  if (!node.failed())
    node.build<ff::ReverseSequenceOp>(node.shape(0), x, given,
                                      builder.getI64IntegerAttr(batch),
                                      builder.getI64IntegerAttr(time));
}

void ffc::importer::registerReverseSequenceOp() {
  registerOp("ReverseSequence", {importReverseSequence, 2, 2, 0, true});
}
