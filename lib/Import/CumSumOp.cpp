//===- CumSumOp.cpp - CumSum ----------------------------------------------===//
//
// Sums of all positions before one are a product with a triangular matrix. That
// is more work than need be, but the operator stands in the arithmetic of
// positions, on short rows.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "TypedNode.h"

#include "llvm/ADT/Sequence.h"

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

/// 1 where the row is summed up in the column.
static Constant triangle(int64_t extent, Summed range) {
  Constant result;
  result.type = TensorProto::FLOAT;
  result.shape = {extent, extent};
  for (int64_t from = 0; from < extent; ++from)
    for (int64_t to = 0; to < extent; ++to)
      result.floats.push_back(range.contains(to, from) ? 1 : 0);
  return result;
}

void ffc::importer::importCumSum(NodeImporter &node) {
  constexpr int64_t kMaxExtent = 4096;
  takeNumberType(node, 0, /*integers=*/true);
  Summed range{node.integer("exclusive", 0) != 0,
               node.integer("reverse", 0) != 0};
  auto given = static_cast<int64_t>(node.scalar(1).value_or(0));
  int64_t axis = node.check(resolveAxis(given, node.rank(0)));
  if (node.failed())
    return;
  Shape shape(node.shape(0));
  int64_t extent = shape[axis];
  if (extent > kMaxExtent)
    return node.error("expected at most " + Twine(kMaxExtent) +
                      " positions to sum up, found " + Twine(extent));
  Value x = node.tensor(0);
  Value matrix = node.knownNumbers("triangle", triangle(extent, range));
  if (node.failed())
    return;
  // The axis comes last, and the rest is rows.
  auto perm = llvm::to_vector(llvm::seq<int64_t>(shape.size()));
  std::swap(perm[axis], perm.back());
  Shape moved(shape);
  std::swap(moved[axis], moved.back());
  bool isLast = axis + 1 == static_cast<int64_t>(shape.size());
  if (!isLast)
    x = node.part<ff::TransposeOp>("last", moved, x, node.list(perm));
  Shape rows = {*elementCount(shape) / extent, extent};
  bool isMatrix = moved == rows;
  if (!isMatrix)
    x = node.part<ff::ReshapeOp>("rows", rows, x);
  OpBuilder &builder = node.importer.builder;
  FloatAttr one = builder.getF64FloatAttr(1);
  IntegerAttr no = builder.getI64IntegerAttr(0);
  x = node.part<ff::MatMulOp>("sum", rows, x, matrix, Value(), one, one,
                              /*dim_names=*/ArrayAttr(), no, no);
  if (!isMatrix)
    x = node.part<ff::ReshapeOp>("shape", moved, x);
  if (!isLast)
    x = node.part<ff::TransposeOp>("moved", shape, x, node.list(perm));
  node.defineLast(x);
}
