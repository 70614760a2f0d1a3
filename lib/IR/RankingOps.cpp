//===- RankingOps.cpp - ff.top_k, its gradient and ff.cum_sum -------------===//

#include "RuleHelpers.h"
#include "Windows.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

static LogicalResult verifyAxis(Operation *op, int64_t axis, Value x) {
  auto rank = static_cast<int64_t>(shapeOf(x).size());
  if (axis >= 0 && axis < rank)
    return success();
  return op->emitOpError("expected axis within a tensor of rank ")
         << rank << ", found " << axis;
}

/// Rules of a kernel that goes along `axis` of `shape` in one piece. Tensors
/// shorter along it are in the slots `shorter`; slots before `operands` are
/// read.
static plan::OpRules alongAxis(const plan::Shape &shape, int64_t axis,
                               StringRef kernel, int operands, int slots,
                               ArrayRef<int> shorter, double flopsPerPoint) {
  plan::Access whole = identityAccess(static_cast<int>(shape.size()),
                                      plan::MemoryOrder::RowMajor);
  plan::Access part = whole;
  part.dims[axis] = plan::DimMap::full();
  plan::Phase phase;
  phase.kernel = kernel.str();
  for (int slot = 0; slot < slots; ++slot) {
    const plan::Access &access =
        llvm::is_contained(shorter, slot) ? part : whole;
    if (slot < operands)
      phase.reads.push_back({slot, access});
    else
      phase.writes.push_back({slot, access, plan::Reduction::None});
  }
  phase.flopsPerPoint = flopsPerPoint;
  return onePhaseRules(dimsByRank(shape), std::move(phase),
                       {static_cast<int>(axis)});
}

//===----------------------------------------------------------------------===//
// The largest elements
//===----------------------------------------------------------------------===//

/// `x` is the tensor with all elements, `y` that with some of them.
static LogicalResult verifyTopK(Operation *op, StringRef name, Value x, Value y,
                                Value index, int64_t axis) {
  // Constraint 1.
  if (failed(verifyTensors(op)) || failed(verifyAxis(op, axis, x)))
    return failure();
  // Constraint 2.
  auto whole = cast<RankedTensorType>(x.getType()),
       part = cast<RankedTensorType>(y.getType());
  plan::Shape expected = shapeOf(x);
  if (part.getRank() == whole.getRank())
    expected[axis] = std::min(expected[axis], part.getDimSize(axis));
  if (failed(verifyShape(op, name, expected, y)))
    return failure();
  if (part.getElementType() != whole.getElementType())
    return op->emitOpError("expected ")
           << name << " of " << whole.getElementType() << ", found " << part;
  // Constraint 3.
  auto indices = cast<RankedTensorType>(index.getType());
  if (!indices.getElementType().isInteger(64))
    return op->emitOpError("expected index of i64, found ") << indices;
  return verifyShape(op, "index", expected, index);
}

LogicalResult TopKOp::verify() {
  return verifyTopK(*this, "y", getX(), getY(), getIndex(), getAxis());
}

plan::OpRules TopKOp::getRules() {
  plan::OpRules rules =
      alongAxis(shapeOf(getX()), getAxis(), "top_k", 1, 3, {1, 2}, 4);
  rules.optionalResults = {0, 1};
  return rules;
}

StringRef TopKOp::getFamily() { return "top_k"; }

DictionaryAttr TopKOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("axis", getAxisAttr()),
       builder.getNamedAttr("largest", getLargestAttr())});
}

LogicalResult TopKOp::buildGradient(OpBuilder &builder,
                                    ArrayRef<Value> resultGrads,
                                    ArrayRef<bool> needed,
                                    SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  if (Value dy = resultGrads[0]; dy && needed[0])
    operandGrads[0] =
        TopKBackwardOp::create(builder, gradientLoc(*this), getX().getType(),
                               dy, getIndex(), getAxisAttr());
  return success();
}

LogicalResult TopKBackwardOp::verify() {
  return verifyTopK(*this, "dy", getDx(), getDy(), getIndex(), getAxis());
}

plan::OpRules TopKBackwardOp::getRules() {
  return alongAxis(shapeOf(getDx()), getAxis(), "top_k_backward", 2, 3, {0, 1},
                   0);
}

StringRef TopKBackwardOp::getFamily() { return "top_k_backward"; }

DictionaryAttr TopKBackwardOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(builder.getNamedAttr("axis", getAxisAttr()));
}

//===----------------------------------------------------------------------===//
// Running sums
//===----------------------------------------------------------------------===//

LogicalResult CumSumOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  // Constraint 1; constraint 2 is a trait.
  return verifyAxis(*this, getAxis(), getX());
}

plan::OpRules CumSumOp::getRules() {
  return alongAxis(shapeOf(getX()), getAxis(), "cum_sum", 1, 2, {}, 1);
}

StringRef CumSumOp::getFamily() { return "cum_sum"; }

DictionaryAttr CumSumOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("axis", getAxisAttr()),
       builder.getNamedAttr("exclusive", getExclusiveAttr()),
       builder.getNamedAttr("reverse", getReverseAttr())});
}

LogicalResult CumSumOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> resultGrads,
                                      ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  // x[i] is in the sums from i on.
  if (Value dy = resultGrads[0]; dy && needed[0])
    operandGrads[0] = CumSumOp::create(
        builder, gradientLoc(*this), dy.getType(), dy, getAxisAttr(),
        getExclusiveAttr(), builder.getI64IntegerAttr(getReverse() == 0));
  return success();
}
