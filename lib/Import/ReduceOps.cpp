//===- ReduceOps.cpp - reductions -----------------------------------------===//
//
// There are three reductions in the IR; the others are composed of them and of
// element-wise functions.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "TypedNode.h"

#include "ffc/IR/ShapeInference.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

namespace {
/// The parts of one reduction.
class Reduction {
public:
  explicit Reduction(NodeImporter &node);

  /// The value of the node, given that of its operand.
  Value build(Value x);

private:
  Shape shapeOf(Value x) const {
    return Shape(cast<RankedTensorType>(x.getType()).getShape());
  }
  Value unary(StringRef name, ff::UnaryKind kind, Value x, double alpha) {
    return node.part<ff::UnaryOp>(name, shapeOf(x), kind, x,
                                  node.importer.builder.getF64FloatAttr(alpha),
                                  FloatAttr());
  }
  Value unary(StringRef name, ff::UnaryKind kind, Value x) {
    return node.part<ff::UnaryOp>(name, shapeOf(x), kind, x, FloatAttr(),
                                  FloatAttr());
  }
  Value binary(StringRef name, ff::BinaryKind kind, Value a, Value b) {
    return node.part<ff::BinaryOp>(name, shapeOf(a), kind, a, b);
  }
  template <class Op> Value reduce(StringRef name, Value x, bool keepdims) {
    if (axes.empty())
      return x;
    RankedTensorType type =
        ff::reducedType(cast<RankedTensorType>(x.getType()), axes, keepdims);
    return node.part<Op>(name, type.getShape(), x, node.list(axes),
                         node.importer.builder.getI64IntegerAttr(keepdims));
  }
  Value sum(Value x) { return reduce<ff::ReduceSumOp>("sum", x, keepdims); }
  Value logSumExp(Value x);
  Value rootOfSum(Value x);

  NodeImporter &node;
  Shape axes; ///< ascending
  bool keepdims = true;
};
} // namespace

Reduction::Reduction(NodeImporter &node) : node(node) {
  keepdims = node.integer("keepdims", 1) != 0;
  // The axes became an operand, of ReduceSum first.
  std::optional<Shape> given;
  if (node.opset() < (node.opType() == "ReduceSum" ? 13 : 18)) {
    given = node.integers("axes");
  } else {
    bool noop = node.integer("noop_with_empty_axes", 0) != 0;
    if (node.has(1))
      given = node.constantList(1);
    if (noop && (!given || given->empty()))
      return;
  }
  if (node.failed())
    return;
  int64_t rank = node.rank(0);
  if (!given || given->empty()) {
    axes = llvm::to_vector(llvm::seq<int64_t>(rank));
  } else {
    for (int64_t axis : *given)
      axes.push_back(node.check(resolveAxis(axis, rank)));
    llvm::sort(axes);
    axes.erase(llvm::unique(axes), axes.end());
  }
}

/// Without overflow: m + log(sum(exp(x - m))), m being the maximum.
Value Reduction::logSumExp(Value x) {
  Value top = reduce<ff::ReduceMaxOp>("max", x, /*keepdims=*/true);
  x = binary("sub", ff::BinaryKind::Sub, x, top);
  x = unary("exp", ff::UnaryKind::Exp, x);
  x = unary("log", ff::UnaryKind::Log, sum(x));
  if (top.getType() != x.getType())
    top = node.part<ff::ReshapeOp>("reshape", shapeOf(x), top);
  return binary("add", ff::BinaryKind::Add, x, top);
}

/// Of a sum of squares, the square root. Where it is 0 its gradient is 0, as
/// that of PyTorch's norms, and not the infinite one of the root times 0.
Value Reduction::rootOfSum(Value x) {
  Value zero = unary("zero", ff::UnaryKind::Scale, x, 0);
  Value isZero = binary("is_zero", ff::BinaryKind::Equal, x, zero);
  x = binary("not_zero", ff::BinaryKind::Add, x, isZero);
  x = unary("sqrt", ff::UnaryKind::Sqrt, x);
  return binary("root", ff::BinaryKind::Sub, x, isZero);
}

Value Reduction::build(Value x) {
  StringRef type = node.opType();
  if (type == "ReduceSum")
    return sum(x);
  if (type == "ReduceMean") {
    int64_t count = 1;
    for (int64_t axis : axes)
      count *= node.shape(0)[axis];
    x = sum(x);
    return count == 1 ? x
                      : unary("scale", ff::UnaryKind::Scale, x,
                              1 / static_cast<double>(count));
  }
  if (type == "ReduceMax")
    return reduce<ff::ReduceMaxOp>("max", x, keepdims);
  if (type == "ReduceMin") {
    x = unary("negated", ff::UnaryKind::Scale, x, -1);
    x = reduce<ff::ReduceMaxOp>("max", x, keepdims);
    return unary("scale", ff::UnaryKind::Scale, x, -1);
  }
  if (type == "ReduceProd")
    return reduce<ff::ReduceProdOp>("prod", x, keepdims);
  if (type == "ReduceL1")
    return sum(unary("abs", ff::UnaryKind::Abs, x));
  if (type == "ReduceLogSum")
    return unary("log", ff::UnaryKind::Log, sum(x));
  if (type == "ReduceLogSumExp")
    return logSumExp(x);
  x = sum(binary("square", ff::BinaryKind::Mul, x, x));
  return type == "ReduceSumSquare" ? x : rootOfSum(x);
}

/// Reports operands of types that floats do not reduce as the type would.
static void takeReducedType(NodeImporter &node) {
  StringRef type = node.opType();
  const bool picks = type == "ReduceMax" || type == "ReduceMin";
  const bool adds =
      type == "ReduceSum" || type == "ReduceL1" || type == "ReduceSumSquare";
  if (picks && node.operand(0).type == onnx::TensorProto::BOOL)
    node.setElementType(onnx::TensorProto::BOOL); // since opset 20
  else
    takeNumberType(node, 0, /*integers=*/picks || adds);
}

static void importReduce(NodeImporter &node) {
  Reduction reduction(node);
  takeReducedType(node);
  Value x = node.tensor(0);
  if (node.failed())
    return;
  Value y = reduction.build(x);
  if (node.failed())
    return;
  // Over no dimensions, some reductions do nothing.
  if (y == x)
    node.defineSame(node.operand(0));
  else
    node.defineLast(y);
}

void ffc::importer::registerReduceOps() {
  registerOp("ReduceL1", {importReduce, 1, 2});
  registerOp("ReduceL2", {importReduce, 1, 2});
  registerOp("ReduceLogSum", {importReduce, 1, 2});
  registerOp("ReduceLogSumExp", {importReduce, 1, 2});
  registerOp("ReduceMax", {importReduce, 1, 2});
  registerOp("ReduceMean", {importReduce, 1, 2});
  registerOp("ReduceMin", {importReduce, 1, 2});
  registerOp("ReduceProd", {importReduce, 1, 2});
  registerOp("ReduceSum", {importReduce, 1, 2});
  registerOp("ReduceSumSquare", {importReduce, 1, 2});
}
