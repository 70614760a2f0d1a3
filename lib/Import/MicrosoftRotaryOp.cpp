//===- MicrosoftRotaryOp.cpp - ONNX Runtime's RotaryEmbedding -------------===//

#include "Expression.h"
#include "OpTable.h"

#include <numeric>

using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;

/// As ONNX has it since opset 23, with other places of the operands.
static void importRotary(NodeImporter &node) {
  enum { X, Positions, Cosines, Sines };
  if (const int64_t packed = node.integer("is_packed_batching", 0); packed != 0)
    node.error("expected attribute 'is_packed_batching' 0, found " +
               llvm::Twine(packed));
  if (const double scale = node.real("scale", 1); scale != 1)
    node.error("expected attribute 'scale' 1, found " + numberText(scale));
  if (node.rank(X) != 3 && node.rank(X) != 4)
    node.error("expected an operand 0 of 3 or 4 dimensions, found shape " +
               shapeText(node.shape(X)));
  node.expectRank(Cosines, 2);
  if (node.failed())
    return;
  const Shape from(node.shape(X));
  const bool isFlat = from.size() == 3;
  const int64_t batch = from[0], length = isFlat ? from[1] : from[2];
  int64_t heads = node.integer("num_heads", 0),
          turned = node.integer("rotary_embedding_dim", 0);
  if (turned == 0)
    turned = 2 * node.shape(Cosines)[1];
  if (isFlat && heads == 0 && turned > 0)
    heads = from[2] / turned;
  Expression made(node);
  GraphValue *positions = &node.operand(Positions);
  if (elementCount(positions->shape) == 1 &&
      positions->shape != Shape{batch, length}) {
    // The position of the first row.
    std::vector<int64_t> numbers(length);
    std::iota(numbers.begin(), numbers.end(), 0);
    positions = made.add(
        made.constant(TensorProto::INT64, {1, length}, std::move(numbers)),
        made.reshape(made.cast(positions, TensorProto::INT64), {1, 1}));
    positions = made.expand(positions, {batch, length});
  }
  MadeNode rotary("RotaryEmbedding");
  rotary.integer("interleaved", node.integer("interleaved", 0));
  if (isFlat)
    rotary.integer("num_heads", heads);
  rotary.integer("rotary_embedding_dim", turned);
  made.define(
      made.make(std::move(rotary), {&node.operand(X), &node.operand(Cosines),
                                    &node.operand(Sines), positions}));
}

void ffc::importer::registerMicrosoftRotaryOp() {
  registerOp("com.microsoft.RotaryEmbedding", {importRotary, 4, 4});
}
