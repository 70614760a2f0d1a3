//===- CumSumOp.cpp - CumSum ----------------------------------------------===//

#include "OpTable.h"
#include "TypedNode.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;

namespace {
/// Which positions are summed up.
struct Summed {
  bool isExclusive, isReverse;

  bool contains(int64_t result, int64_t from) const {
    if (from == result)
      return !isExclusive;
    return (from < result) != isReverse;
  }
};
} // namespace

llvm::Expected<Constant> ffc::importer::foldCumSum(const FoldCall &call) {
  const Constant &data = *call.inputs[0], &given = *call.inputs[1];
  if (given.size() != 1)
    return makeError("expected a scalar as operand 1, found shape " +
                     shapeText(given.shape));
  llvm::Expected<int64_t> axis =
      resolveAxis(given.ints.front(), data.shape.size());
  if (!axis)
    return axis.takeError();
  Summed range{call.integer("exclusive", 0) != 0,
               call.integer("reverse", 0) != 0};
  int64_t extent = data.shape[*axis], inner = 1;
  for (int64_t d : ArrayRef<int64_t>(data.shape).drop_front(*axis + 1))
    inner *= d;
  Constant result = data;
  auto sum = [&](auto &to, const auto &from) {
    for (int64_t i = 0; i < data.size(); ++i) {
      int64_t position = i / inner % extent;
      to[i] = 0;
      for (int64_t k = 0; k < extent; ++k)
        if (range.contains(position, k))
          to[i] += from[i + (k - position) * inner];
    }
  };
  if (data.isFloat())
    sum(result.floats, data.floats);
  else
    sum(result.ints, data.ints);
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
