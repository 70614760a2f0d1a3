//===- MaxUnpoolOp.cpp - MaxUnpool ----------------------------------------===//
//
// Elements are put where the positions of their maxima, of MaxPool's result 1,
// say, and zeros elsewhere.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "Positions.h"
#include "Window.h"

using namespace ffc;
using namespace ffc::importer;

static void importMaxUnpool(NodeImporter &node) {
  expectImage(node);
  if (node.failed())
    return;
  const auto kernel = node.integers("kernel_shape");
  if (!kernel)
    return node.error("expected an attribute 'kernel_shape'");
  if (kernel->size() + 2 != static_cast<size_t>(node.rank(0)))
    return node.error("attribute 'kernel_shape' has " +
                      llvm::Twine(kernel->size()) + " numbers, expected " +
                      llvm::Twine(node.rank(0) - 2));
  const Window window = readTransposedWindow(node, *kernel);
  if (node.failed())
    return;
  if (node.shape(1) != node.shape(0))
    return node.error("expected a position for every element, shape " +
                      shapeText(node.shape(0)) + ", as operand 1, found " +
                      shapeText(node.shape(1)));
  const Shape from(node.shape(0)),
      inferred = imageShape(from[0], from[1], window.out);
  Shape wanted = node.has(2) ? node.constantList(2) : inferred;
  if (!node.failed() && wanted.size() != inferred.size())
    node.error("expected " + llvm::Twine(inferred.size()) +
               " extents as operand 2, found " + llvm::Twine(wanted.size()));
  if (node.failed())
    return;
  std::vector<int64_t> pads(2 * wanted.size(), 0);
  for (size_t d = 0; d < wanted.size(); ++d)
    if ((pads[d + wanted.size()] = wanted[d] - inferred[d]) < 0)
      return node.error("expected extents of at least " + shapeText(inferred) +
                        " as operand 2, found " + shapeText(wanted));
  node.partType(wanted);
  node.expectPositions(product(inferred));
  if (node.failed())
    return;
  Expression made(node);
  const int64_t count = product(from), total = product(inferred);
  GraphValue *y = made.apply("ScatterElements",
                             {made.filled(node.operand(0).type, {total}, 0),
                              made.reshape(&node.operand(1), {count}),
                              made.reshape(&node.operand(0), {count})});
  y = made.reshape(y, inferred);
  if (wanted != inferred)
    y = made.apply(
        "Pad", {y, made.constant(onnx::TensorProto::INT64,
                                 {static_cast<int64_t>(pads.size())}, pads)});
  made.define(y);
}

void ffc::importer::registerMaxUnpoolOp() {
  registerOp("MaxUnpool", {importMaxUnpool, 2, 3});
}
