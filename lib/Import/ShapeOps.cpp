//===- ShapeOps.cpp - operators that move elements ------------------------===//

#include "NodeImporter.h"
#include "OpTable.h"

#include "ffc/IR/ShapeInference.h"

#include "llvm/ADT/Sequence.h"

#include <climits>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// Result 0 is operand 0 with another shape.
static void buildReshape(NodeImporter &node, llvm::Expected<Shape> plain) {
  Shape shape = node.reshaped(std::move(plain));
  if (node.failed())
    return;
  if (ArrayRef<int64_t>(shape) == node.shape(0))
    return node.defineSame(node.operand(0));
  Value x = node.tensor(0);
  node.resultType(shape);
  if (!node.failed())
    node.build<ff::ReshapeOp>(shape, x);
}

void ffc::importer::importReshape(NodeImporter &node) {
  bool allowZero = node.integer("allowzero", 0) != 0;
  Shape target = node.constantList(1);
  if (!node.failed())
    buildReshape(node, resolveReshape(node.shape(0), target, allowZero));
}

void ffc::importer::importFlatten(NodeImporter &node) {
  int64_t given = node.integer("axis", 1), rank = node.rank(0);
  int64_t axis = given == rank ? rank : node.check(resolveAxis(given, rank));
  if (node.failed())
    return;
  ArrayRef<int64_t> shape = node.shape(0);
  Shape target = {*elementCount(shape.take_front(axis)),
                  *elementCount(shape.drop_front(axis))};
  // With one sample, flattening everything and flattening the sample look the
  // same; with more they do not.
  for (int64_t d = axis; d < rank; ++d)
    if (node.isChangedBatch(0, d))
      return node.error("merges the batch with what is in a sample and stands "
                        "in the way of --batch-size");
  buildReshape(node, target);
}

/// The axes of Squeeze and Unsqueeze, an operand since opset 13.
static std::optional<Shape> readAxes(NodeImporter &node) {
  if (node.opset() < 13)
    return node.integers("axes");
  if (!node.has(1))
    return std::nullopt;
  return node.constantList(1);
}

void ffc::importer::importSqueeze(NodeImporter &node) {
  std::optional<Shape> axes = readAxes(node);
  if (!node.failed())
    buildReshape(node, squeezedShape(node.shape(0), axes));
}

void ffc::importer::importUnsqueeze(NodeImporter &node) {
  std::optional<Shape> axes = readAxes(node);
  if (!axes)
    node.error("expected axes");
  if (!node.failed())
    buildReshape(node, unsqueezedShape(node.shape(0), *axes));
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

void ffc::importer::importTranspose(NodeImporter &node) {
  int64_t rank = node.rank(0);
  Shape perm = node.integers("perm").value_or(
      llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(rank))));
  Shape sorted = perm;
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(rank)))
    node.error("expected attribute 'perm' to be a permutation of " +
               Twine(rank) + " dimensions");
  Value x = node.tensor(0);
  if (node.failed())
    return;
  Shape shape;
  for (int64_t d : perm)
    shape.push_back(node.shape(0)[d]);
  node.build<ff::TransposeOp>(shape, x, node.list(perm));
}

void ffc::importer::importConcat(NodeImporter &node) {
  if (!findAttribute(node.node, "axis"))
    node.error("expected an attribute 'axis'");
  for (int i = 0; i < node.node.input_size(); ++i)
    if (!node.has(i))
      node.error("operand " + Twine(i) + " is missing");
  if (node.failed())
    return;
  int64_t axis = node.check(resolveAxis(node.integer("axis", 0), node.rank(0)));
  if (node.failed())
    return;
  Shape result(node.shape(0));
  result[axis] = 0;
  SmallVector<Value> inputs;
  for (int i = 0; i < node.node.input_size(); ++i) {
    Shape expected(node.shape(0)), found(node.shape(i));
    if (found.size() == expected.size())
      expected[axis] = found[axis];
    if (found != expected)
      return node.error("cannot concatenate " + shapeText(node.shape(0)) +
                        " and " + shapeText(found) + " along dimension " +
                        Twine(axis));
    if (node.isChangedBatch(i, axis))
      return node.error(
          "concatenates batches and stands in the way of --batch-size");
    result[axis] += found[axis];
    inputs.push_back(node.tensor(i));
  }
  node.resultType(result);
  if (!node.failed())
    node.build<ff::ConcatOp>(result, inputs,
                             node.importer.builder.getI64IntegerAttr(axis));
}

void ffc::importer::importPad(NodeImporter &node) {
  StringRef mode = node.text("mode", "constant");
  if (mode != "constant")
    node.error("expected mode 'constant', found '" + mode + "'");
  Shape pads;
  double value = 0;
  // Opset 11 turned the attributes into operands.
  if (node.opset() < 11) {
    pads = node.integers("pads").value_or(Shape());
    value = node.real("value", 0);
  } else {
    pads = node.constantList(1);
    if (node.has(2)) {
      Constant fill = node.constant(2);
      if (!node.failed() && fill.size() != 1)
        node.error("expected a scalar as operand 2, found shape " +
                   shapeText(fill.shape));
      value = node.failed() ? 0 : fill.number(0);
    }
  }
  ArrayRef<int64_t> from = node.shape(0);
  if (pads.size() != 2 * from.size())
    node.error("expected " + Twine(2 * from.size()) + " pads, found " +
               Twine(pads.size()));
  for (int64_t pad : pads)
    if (pad < -INT_MAX || pad > INT_MAX)
      node.error("pad " + Twine(pad) + " is too large");
  if (node.failed())
    return;
  if (llvm::all_of(pads, [](int64_t pad) { return pad == 0; }))
    return node.defineSame(node.operand(0));
  Shape shape(from);
  for (size_t d = 0; d < shape.size(); ++d) {
    shape[d] += pads[d] + pads[d + shape.size()];
    if (pads[d] + pads[d + shape.size()] != 0 && node.isChangedBatch(0, d))
      return node.error("pads the batch and stands in the way of --batch-size");
  }
  Value x = node.tensor(0);
  node.resultType(shape);
  if (!node.failed())
    node.build<ff::PadOp>(shape, x, node.list(pads),
                          node.importer.builder.getF64FloatAttr(value));
}
