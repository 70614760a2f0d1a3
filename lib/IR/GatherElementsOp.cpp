//===- GatherElementsOp.cpp - ff.gather_elements and its gradient ---------===//

#include "RuleHelpers.h"
#include "Windows.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

/// `x` is the tensor that is indexed and `y` has an element per index; the
/// latter is called `yName` in `op`.
template <class Op>
static LogicalResult verifyGatherElements(Op op, Value x, Value y,
                                          StringRef yName) {
  if (failed(verifyTensors(op)))
    return failure();
  const plan::Shape ids = shapeOf(op.getIndices());
  plan::Shape expected = shapeOf(x);
  const auto rank = static_cast<int64_t>(expected.size());
  const int64_t axis = op.getAxis();
  // Constraint 1.
  if (axis < 0 || axis >= rank)
    return op.emitOpError("expected axis within a tensor of rank ")
           << rank << ", found " << axis;
  if (static_cast<int64_t>(ids.size()) == rank)
    expected[axis] = ids[axis];
  if (failed(verifyShape(op, "indices", expected, op.getIndices())) ||
      failed(verifyShape(op, yName, ids, y))) // constraint 2
    return failure();
  Type element = getElementTypeOrSelf(x);
  if (getElementTypeOrSelf(y) != element) // constraint 3
    return op.emitOpError("expected ") << yName << " with elements of type "
                                       << element << ", found " << y.getType();
  return success();
}

/// `access` of what is read whole along `axis`.
static plan::Access wholeAlong(plan::Access access, int64_t axis) {
  access.dims[axis] = plan::DimMap::full();
  return access;
}

template <class Op> static DictionaryAttr axisArgs(Op op) {
  Builder builder(op.getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("axis", op.getAxisAttr())});
}

LogicalResult GatherElementsOp::verify() {
  return verifyGatherElements(*this, getX(), getY(), "y");
}

plan::OpRules GatherElementsOp::getRules() {
  const plan::Shape shape = shapeOf(getY());
  const plan::Access own = identityAccess(static_cast<int>(shape.size()),
                                          plan::MemoryOrder::RowMajor);
  plan::Phase phase;
  phase.kernel = "gather_elements";
  // A point touches one element of its line, of which it reads all.
  phase.reads = {{0, wholeAlong(own, getAxis()), 1},
                 {1, own, 0, shapeOf(getX())[getAxis()]}};
  phase.writes = {{2, own, plan::Reduction::None}};
  phase.flopsPerPoint = 0;
  return onePhaseRules(dimsByRank(shape), std::move(phase));
}

StringRef GatherElementsOp::getFamily() { return "gather_elements"; }

DictionaryAttr GatherElementsOp::getKernelArgs() { return axisArgs(*this); }

LogicalResult
GatherElementsOp::buildGradient(OpBuilder &builder, ArrayRef<Value> resultGrads,
                                ArrayRef<bool> needed,
                                SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(2, nullptr);
  if (Value dy = resultGrads[0]; dy && needed[0])
    operandGrads[0] = GatherElementsBackwardOp::create(
        builder, gradientLoc(*this), getX().getType(), getIndices(), dy,
        getAxisAttr());
  return success();
}

LogicalResult GatherElementsBackwardOp::verify() {
  return verifyGatherElements(*this, getDx(), getDy(), "dy");
}

plan::OpRules GatherElementsBackwardOp::getRules() {
  const plan::Shape shape = shapeOf(getDx());
  const int64_t axis = getAxis();
  const plan::Access own = identityAccess(static_cast<int>(shape.size()),
                                          plan::MemoryOrder::RowMajor),
                     whole = wholeAlong(own, axis);
  plan::Phase phase;
  phase.kernel = "gather_elements_backward";
  phase.reads = {{0, whole, 0, shape[axis]}, {1, whole}};
  phase.writes = {{2, own, plan::Reduction::None}};
  phase.flopsPerPoint = static_cast<double>(shapeOf(getDy())[axis]) /
                        static_cast<double>(shape[axis]);
  return onePhaseRules(dimsByRank(shape), std::move(phase));
}

StringRef GatherElementsBackwardOp::getFamily() {
  return "gather_elements_backward";
}

DictionaryAttr GatherElementsBackwardOp::getKernelArgs() {
  return axisArgs(*this);
}

LogicalResult GatherElementsBackwardOp::buildGradient(
    OpBuilder &builder, ArrayRef<Value> resultGrads, ArrayRef<bool> needed,
    SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(2, nullptr);
  if (Value grad = resultGrads[0]; grad && needed[1])
    operandGrads[1] =
        GatherElementsOp::create(builder, gradientLoc(*this), getDy().getType(),
                                 grad, getIndices(), getAxisAttr());
  return success();
}
