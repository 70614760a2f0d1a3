//===- ModOp.cpp - what is left after a division --------------------------===//

#include "OpTable.h"
#include "TypedNode.h"

#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using ff::BinaryKind;
using ff::UnaryKind;

static void importMod(NodeImporter &node) {
  const bool hasSignOfDividend = node.integer("fmod", 0) != 0;
  expectOneType(node, {0, 1});
  takeNumberType(node, 0, /*integers=*/true);
  auto shape = ff::broadcastShapes(node.shape(0), node.shape(1));
  if (!shape)
    return node.error("cannot broadcast " + shapeText(node.shape(0)) + " and " +
                      shapeText(node.shape(1)));
  node.resultType(*shape);
  Value a = node.tensor(0), b = node.tensor(1);
  if (node.failed())
    return;
  Value left =
      binaryPart(node, hasSignOfDividend ? "" : "left", BinaryKind::Fmod, a, b);
  if (hasSignOfDividend)
    return node.defineLast(left);
  // Where the signs of both differ, the next multiple of b is the one meant.
  Value next = binaryPart(node, "next", BinaryKind::Add, left, b);
  // The product of small numbers may be 0, but not that of signs.
  Value product = binaryPart(node, "product", BinaryKind::Mul,
                             unaryPart(node, "sign", UnaryKind::Sign, left),
                             unaryPart(node, "side", UnaryKind::Sign, b));
  product = unaryPart(node, "negate", UnaryKind::Scale, product, -1);
  Value differ = unaryPart(node, "differ", UnaryKind::Relu, product);
  node.build<ff::SelectOp>(*shape, differ, next, left);
}

void ffc::importer::registerModOp() { registerOp("Mod", {importMod, 2, 2}); }
