//===- OneHotOp.cpp - OneHot ----------------------------------------------===//
//
// Indices are compared with the positions of a new dimension, so they need not
// be known.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "TypedNode.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using ff::BinaryKind;

/// Element i of `values`.
static Constant element(const Constant &values, int64_t i) {
  return select(values, {}, {i});
}

static void importOneHot(NodeImporter &node) {
  int64_t axis =
      node.check(resolveAxis(node.integer("axis", -1), node.rank(0) + 1));
  double depth = node.scalar(1).value_or(0);
  Constant values = node.constant(2);
  if (node.failed())
    return;
  if (!(depth >= 1 && depth <= static_cast<double>(kMaxConstantElements)))
    node.error("expected a depth from 1 to " + Twine(kMaxConstantElements) +
               ", found " + numberText(depth));
  if (values.size() != 2)
    node.error("expected two values as operand 2, found shape " +
               shapeText(values.shape));
  if (!isCarriedType(values.type))
    node.unsupported(" of " + elementTypeName(values.type));
  if (node.failed())
    return;
  node.setElementType(values.type);
  auto extent = static_cast<int64_t>(depth);
  Shape column(node.shape(0));
  column.insert(column.begin() + axis, 1);
  Shape result = column;
  result[axis] = extent;
  node.resultType(result);
  Value x = node.numbers(0);
  Value front = node.knownNumbers(
      "positions", positions(node, extent, result.size() - axis));
  if (node.failed())
    return;
  Value indices = node.part<ff::ReshapeOp>("indices", column, x);
  // A position has two indices: one counts from the front, one from the back.
  Value back = unaryPart(node, "negative", ff::UnaryKind::Shift, front, -depth);
  front = binaryPart(node, "front", BinaryKind::Equal, indices, front);
  back = binaryPart(node, "back", BinaryKind::Equal, indices, back);
  Value hit = binaryPart(node, "hit", BinaryKind::Max, front, back);
  if (values.number(0) == 0 && values.number(1) == 1)
    return node.defineLast(hit);
  Value off = node.knownNumbers("off", element(values, 0)),
        on = node.knownNumbers("on", element(values, 1));
  if (!node.failed())
    node.build<ff::SelectOp>(result, hit, on, off);
}

void ffc::importer::registerOneHotOp() {
  registerOp("OneHot", {importOneHot, 3, 3});
}
