//===- CumSumOp.cpp - CumSum ----------------------------------------------===//

#include "OpTable.h"
#include "TypedNode.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;

/// Adds up `from`, rows of `extent` sums, `inner` elements apart. Numbers are
/// `T`: unsigned ones wrap, as integers do at run time.
template <class T, class Element>
static void sumUp(std::vector<Element> &to, const std::vector<Element> &from,
                  int64_t extent, int64_t inner, bool isExclusive,
                  bool isReverse) {
  const auto size = static_cast<int64_t>(from.size());
  for (int64_t n = 0; n < size; ++n) {
    const int64_t i = isReverse ? size - 1 - n : n,
                  before = isReverse ? i + inner : i - inner;
    const bool isFirst = i / inner % extent == (isReverse ? extent - 1 : 0);
    T sum = isFirst ? T() : static_cast<T>(to[before]);
    if (!isExclusive || !isFirst)
      sum += static_cast<T>(from[isExclusive ? before : i]);
    to[i] = static_cast<Element>(sum);
  }
}

llvm::Expected<Constant> ffc::importer::foldCumSum(const FoldCall &call) {
  const Constant &data = *call.inputs[0], &given = *call.inputs[1];
  if (given.size() != 1)
    return makeError("expected a scalar as operand 1, found shape " +
                     shapeText(given.shape));
  llvm::Expected<int64_t> axis =
      resolveAxis(given.ints.front(), data.shape.size());
  if (!axis)
    return axis.takeError();
  const bool isExclusive = call.integer("exclusive", 0) != 0,
             isReverse = call.integer("reverse", 0) != 0;
  const int64_t extent = data.shape[*axis],
                inner = *elementCount(
                    ArrayRef<int64_t>(data.shape).drop_front(*axis + 1));
  Constant result = data;
  if (data.isFloat())
    sumUp<double>(result.floats, data.floats, extent, inner, isExclusive,
                  isReverse);
  else
    sumUp<uint64_t>(result.ints, data.ints, extent, inner, isExclusive,
                    isReverse);
  result.normalize();
  return result;
}

static void importCumSum(NodeImporter &node) {
  bool exclusive = node.integer("exclusive", 0) != 0;
  bool reverse = node.integer("reverse", 0) != 0;
  takeNumberType(node, 0, /*integers=*/true);
  int64_t given = static_cast<int64_t>(node.scalar(1).value_or(0));
  int64_t axis = node.check(resolveAxis(given, node.rank(0)));
  if (node.failed())
    return;
  if (node.isChangedBatch(0, axis))
    return node.error("sums along the batch and stands in the way of "
                      "--batch-size");
  Value x = node.tensor(0);
  Builder &builder = node.importer.builder;
  if (!node.failed())
    node.build<ff::CumSumOp>(node.shape(0), x, builder.getI64IntegerAttr(axis),
                             builder.getI64IntegerAttr(exclusive),
                             builder.getI64IntegerAttr(reverse));
}

void ffc::importer::registerCumSumOp() {
  registerOp("CumSum", {importCumSum, 2, 2});
}
