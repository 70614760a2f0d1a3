//===- CumProdOp.cpp - CumProd --------------------------------------------===//
//
// Products of 1, 2, 4 ... neighbours: each round multiplies by what is as far
// away as the products of the last one reach.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "TypedNode.h"

using namespace ffc;
using namespace ffc::importer;

namespace {
/// What lies `distance` before every position along an axis, and 1 before the
/// first ones; behind, if `isReverse`.
struct Shift {
  Expression &made;
  int64_t axis;
  bool isReverse;

  GraphValue *operator()(GraphValue *x, int64_t distance) const {
    if (!x)
      return nullptr;
    const int64_t extent = x->shape[axis];
    Shape ones(x->shape);
    ones[axis] = distance;
    GraphValue *none = isFloatType(x->type)
                           ? made.filled(x->type, ones, 1)
                           : made.expand(made.numberLike(x, 1), ones);
    if (distance == extent)
      return none;
    return isReverse
               ? made.concat({made.slice(x, axis, distance, extent), none},
                             axis)
               : made.concat({none, made.slice(x, axis, 0, extent - distance)},
                             axis);
  }
};
} // namespace

static void importCumProd(NodeImporter &node) {
  const bool exclusive = node.integer("exclusive", 0) != 0,
             reverse = node.integer("reverse", 0) != 0;
  takeNumberType(node, 0, /*integers=*/true);
  const auto given = static_cast<int64_t>(node.scalar(1).value_or(0));
  const int64_t axis = node.check(resolveAxis(given, node.rank(0)));
  if (node.failed())
    return;
  if (node.isChangedBatch(0, axis))
    return node.error("multiplies along the batch and stands in the way of "
                      "--batch-size");
  Expression made(node);
  const Shift shift{made, axis, reverse};
  GraphValue *x = &node.operand(0);
  if (exclusive)
    x = shift(x, 1);
  for (int64_t reach = 1; reach < node.shape(0)[axis] && x; reach *= 2)
    x = made.mul(x, shift(x, reach));
  made.define(x);
}

void ffc::importer::registerCumProdOp() {
  registerOp("CumProd", {importCumProd, 2, 2});
}
