//===- SoftmaxOp.cpp - ff.softmax and its gradient ------------------------===//

#include "RuleHelpers.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

static plan::OpRules softmaxRules(const plan::Shape &shape, int operands,
                                  StringRef kernel, ArrayRef<int64_t> axes) {
  plan::OpRules rules = pointwiseRules(shape, operands, kernel, 10);
  plan::Schedule &schedule = rules.schedules.front();
  schedule.unsplit.assign(axes.begin(), axes.end());
  plan::Phase &phase = schedule.phases.front();
  for (plan::SlotRead &read : phase.reads)
    read.access.order = plan::MemoryOrder::RowMajor;
  phase.writes.front().access.order = plan::MemoryOrder::RowMajor;
  return rules;
}

static DictionaryAttr axesArgs(Builder builder, Attribute axes) {
  return builder.getDictionaryAttr(builder.getNamedAttr("axes", axes));
}

LogicalResult SoftmaxOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  return verifyAxes(*this, getAxes(), shapeOf(getX()).size());
}

plan::OpRules SoftmaxOp::getRules() {
  return softmaxRules(shapeOf(getX()), 1, "softmax_forward", getAxes());
}

StringRef SoftmaxOp::getFamily() { return "softmax"; }

DictionaryAttr SoftmaxOp::getKernelArgs() {
  return axesArgs(Builder(getContext()), getAxesAttr());
}

LogicalResult SoftmaxOp::buildGradient(OpBuilder &builder,
                                       ArrayRef<Value> resultGrads,
                                       ArrayRef<bool> needed,
                                       SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  if (Value dy = resultGrads[0]; dy && needed[0])
    operandGrads[0] = SoftmaxBackwardOp::create(
        builder, gradientLoc(*this), dy.getType(), dy, getY(), getAxesAttr());
  return success();
}

LogicalResult SoftmaxBackwardOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  return verifyAxes(*this, getAxes(), shapeOf(getDy()).size());
}

plan::OpRules SoftmaxBackwardOp::getRules() {
  return softmaxRules(shapeOf(getDy()), 2, "softmax_backward", getAxes());
}

StringRef SoftmaxBackwardOp::getFamily() { return "softmax_backward"; }

DictionaryAttr SoftmaxBackwardOp::getKernelArgs() {
  return axesArgs(Builder(getContext()), getAxesAttr());
}
