//===- GatherOp.cpp - ff.gather and its gradient --------------------------===//

#include "RuleHelpers.h"
#include "Windows.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

/// `x` is the tensor that is indexed and `y` has an entry per index; the latter
/// is called `yName` in `op`.
template <class Op>
static LogicalResult verifyGather(Op op, Value x, Value y, StringRef yName) {
  if (failed(verifyTensors(op)))
    return failure();
  plan::Shape shape = shapeOf(x);
  auto rank = static_cast<int64_t>(shape.size());
  int64_t axis = op.getAxis();
  // Constraint 1.
  if (axis < 0 || axis >= rank)
    return op.emitOpError("expected axis within a tensor of rank ")
           << rank << ", found " << axis;
  if (op.getIndices().empty())
    return op.emitOpError("expected at least one index");
  for (int64_t index : op.getIndices())
    if (index < 0 || index >= shape[axis])
      return op.emitOpError("expected indices from 0 to ")
             << shape[axis] - 1 << ", found " << index;
  // Constraint 2.
  shape[axis] = static_cast<int64_t>(op.getIndices().size());
  return verifyShape(op, yName, shape, y);
}

/// The operand is read whole along `axis`.
static plan::OpRules gatherRules(const plan::Shape &result, StringRef kernel,
                                 int64_t axis, double flopsPerPoint) {
  plan::OpRules rules = pointwiseRules(result, 1, kernel, flopsPerPoint);
  rules.schedules.front().phases.front().reads[0].access.dims[axis] =
      plan::DimMap::full();
  return rules;
}

template <class Op> static DictionaryAttr gatherArgs(Op op) {
  Builder builder(op.getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("axis", op.getAxisAttr()),
       builder.getNamedAttr("indices", op.getIndicesAttr())});
}

LogicalResult GatherOp::verify() {
  return verifyGather(*this, getX(), getY(), "y");
}

plan::OpRules GatherOp::getRules() {
  return gatherRules(shapeOf(getY()), "gather", getAxis(), 0);
}

StringRef GatherOp::getFamily() { return "gather"; }

DictionaryAttr GatherOp::getKernelArgs() { return gatherArgs(*this); }

LogicalResult GatherOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> resultGrads,
                                      ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  if (Value dy = resultGrads[0]; dy && needed[0])
    operandGrads[0] =
        GatherBackwardOp::create(builder, gradientLoc(*this), getX().getType(),
                                 dy, getAxisAttr(), getIndicesAttr());
  return success();
}

LogicalResult GatherBackwardOp::verify() {
  return verifyGather(*this, getDx(), getDy(), "dy");
}

plan::OpRules GatherBackwardOp::getRules() {
  plan::Shape shape = shapeOf(getDx());
  return gatherRules(shape, "gather_backward", getAxis(),
                     static_cast<double>(getIndices().size()) /
                         static_cast<double>(shape[getAxis()]));
}

StringRef GatherBackwardOp::getFamily() { return "gather_backward"; }

DictionaryAttr GatherBackwardOp::getKernelArgs() { return gatherArgs(*this); }
