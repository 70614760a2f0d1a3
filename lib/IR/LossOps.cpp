//===- LossOps.cpp - losses and their gradients ---------------------------===//

#include "RuleHelpers.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The result of a loss: the sum of all tiles' shares of the mean; or that of
/// its gradient, as `x` is.
static plan::SlotWrite lossResult(const plan::Access &x, bool backward) {
  if (backward)
    return {2, x, plan::Reduction::None};
  return {2, {}, plan::Reduction::Sum};
}

/// Rules of a kernel {x, target} -> {loss or dx} whose target is shaped as x.
static plan::OpRules lossRules(const plan::Shape &shape, StringRef kernel,
                               bool backward, double flopsPerPoint) {
  plan::Access x = identityAccess(static_cast<int>(shape.size()),
                                  plan::MemoryOrder::RowMajor);
  return onePhaseRules(dimsByRank(shape),
                       {kernel.str(),
                        {{0, x}, {1, x}},
                        {lossResult(x, backward)},
                        flopsPerPoint},
                       {});
}

/// Builds the gradient of a loss with operands {x, target}, the gradient of the
/// loss itself being `dy`, or 1 if that is null. Targets get none.
template <class BackwardOp, class... Attributes>
static void buildLossGradient(OpBuilder &builder, Operation *op, Value dy,
                              ArrayRef<bool> needed,
                              SmallVectorImpl<Value> &operandGrads,
                              Attributes... attributes) {
  operandGrads.assign(2, nullptr);
  if (!needed[0])
    return;
  Value x = op->getOperand(0);
  Value dx =
      BackwardOp::create(builder, gradientLoc(op, dy ? "slope" : ""),
                         x.getType(), x, op->getOperand(1), attributes...);
  if (dy)
    dx = BinaryOp::create(builder, gradientLoc(op, "mul"), x.getType(),
                          BinaryKind::Mul, dx, dy);
  operandGrads[0] = dx;
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

/// One kernel where classes are whole. Where they are split, behind a head that
/// is split by vocabulary for instance, maxima and sums of a sample's tiles are
/// combined before losses or gradients are computed.
static plan::OpRules crossEntropyRules(Value logits, int axis, bool backward) {
  enum { Logits, Target, Result, Max, Sum };
  plan::TensorType type = tensorTypeOf(logits.getType());
  int64_t classes = type.shape[axis];
  plan::Access x = identityAccess(static_cast<int>(type.shape.size()),
                                  plan::MemoryOrder::RowMajor);
  plan::Access samples = x;
  samples.dims.erase(samples.dims.begin() + axis);

  plan::OpRules rules;
  rules.dims = dimsByRank(type.shape);
  plan::TensorType statistic = tensorTypeOf(wideType(logits.getType()));
  statistic.shape.erase(statistic.shape.begin() + axis);
  rules.internals.assign(2, statistic);

  plan::SlotRead all{Logits, x}, target{Target, samples, 0, classes};
  plan::SlotRead max{Max, samples}, sum{Sum, samples};
  plan::SlotWrite result = lossResult(x, backward);
  // A loss needs one logit of a sample.
  plan::SlotRead applied = all;
  if (!backward)
    applied.touchedPerPoint = 1.0 / static_cast<double>(classes);
  std::string name = backward ? "cross_entropy_backward" : "cross_entropy";
  rules.schedules = {
      {{axis},
       {{backward ? name : name + "_forward",
         {all, target},
         {result},
         backward ? 20.0 : 10.0}}},
      {{},
       {{"cross_entropy_max", {all}, {{Max, samples, plan::Reduction::Max}}, 1},
        {"cross_entropy_sum",
         {all, max},
         {{Sum, samples, plan::Reduction::Sum}},
         10},
        {name + "_apply",
         {applied, target, max, sum},
         {result},
         backward ? 10.0 : applied.touchedPerPoint}}}};
  return rules;
}

static LogicalResult verifyLabels(Operation *op, Value logits, Value target,
                                  int64_t axis) {
  if (failed(verifyTensors(op)))
    return failure();
  int64_t rank = typeOf(logits).getRank();
  if (axis < 0 || axis >= rank) // constraint 1
    return op->emitOpError("expected axis within logits of rank ")
           << rank << ", found " << axis;
  RankedTensorType expected = labelType(typeOf(logits), axis);
  if (target.getType() != expected) // constraint 2
    return op->emitOpError("expected a target of type ")
           << expected << ", found " << target.getType();
  return success();
}

static DictionaryAttr axisArgs(Builder builder, Attribute axis) {
  return builder.getDictionaryAttr(builder.getNamedAttr("axis", axis));
}

LogicalResult CrossEntropyOp::verify() {
  if (failed(verifyLabels(*this, getLogits(), getTarget(), getAxis())))
    return failure();
  return verifyResultType(
      *this, lossType(wideType(getLogits().getType()))); // constraint 3
}

SmallVector<OpOperand *> CrossEntropyOp::getNarrowable() {
  return {&getLogitsMutable()};
}

plan::OpRules CrossEntropyOp::getRules() {
  return crossEntropyRules(getLogits(), static_cast<int>(getAxis()),
                           /*backward=*/false);
}

StringRef CrossEntropyOp::getFamily() { return "cross_entropy"; }

DictionaryAttr CrossEntropyOp::getKernelArgs() {
  return axisArgs(Builder(getContext()), getAxisAttr());
}

LogicalResult
CrossEntropyOp::buildGradient(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> needed,
                              SmallVectorImpl<Value> &operandGrads) {
  buildLossGradient<CrossEntropyBackwardOp>(
      builder, *this, resultGrads[0], needed, operandGrads, getAxisAttr());
  return success();
}

LogicalResult CrossEntropyBackwardOp::verify() {
  if (failed(verifyLabels(*this, getLogits(), getTarget(), getAxis())))
    return failure();
  return verifyNarrowedType(*this,
                            wideType(getLogits().getType())); // constraint 3
}

SmallVector<OpOperand *> CrossEntropyBackwardOp::getNarrowable() {
  return {&getLogitsMutable()};
}

plan::OpRules CrossEntropyBackwardOp::getRules() {
  return crossEntropyRules(getLogits(), static_cast<int>(getAxis()),
                           /*backward=*/true);
}

StringRef CrossEntropyBackwardOp::getFamily() {
  return "cross_entropy_backward";
}

DictionaryAttr CrossEntropyBackwardOp::getKernelArgs() {
  return axisArgs(Builder(getContext()), getAxisAttr());
}

//===----------------------------------------------------------------------===//
// Mean squared error
//===----------------------------------------------------------------------===//

LogicalResult MseOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  return verifyResultType(*this, lossType(typeOf(getX()))); // constraint 2
}

plan::OpRules MseOp::getRules() {
  return lossRules(shapeOf(getX()), "mse_forward", /*backward=*/false, 3);
}

StringRef MseOp::getFamily() { return "mse"; }

DictionaryAttr MseOp::getKernelArgs() {
  return Builder(getContext()).getDictionaryAttr({});
}

LogicalResult MseOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> resultGrads,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGrads) {
  buildLossGradient<MseBackwardOp>(builder, *this, resultGrads[0], needed,
                                   operandGrads);
  return success();
}

LogicalResult MseBackwardOp::verify() { return verifyTensors(*this); }

plan::OpRules MseBackwardOp::getRules() {
  return lossRules(shapeOf(getX()), "mse_backward", /*backward=*/true, 2);
}

StringRef MseBackwardOp::getFamily() { return "mse_backward"; }

DictionaryAttr MseBackwardOp::getKernelArgs() {
  return Builder(getContext()).getDictionaryAttr({});
}

//===----------------------------------------------------------------------===//
// Binary cross-entropy
//===----------------------------------------------------------------------===//

LogicalResult BceOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  return verifyResultType(*this, lossType(typeOf(getX()))); // constraint 2
}

plan::OpRules BceOp::getRules() {
  return lossRules(shapeOf(getX()), "bce_forward", /*backward=*/false, 25);
}

StringRef BceOp::getFamily() { return "bce"; }

DictionaryAttr BceOp::getKernelArgs() {
  return Builder(getContext()).getDictionaryAttr({});
}

LogicalResult BceOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> resultGrads,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGrads) {
  buildLossGradient<BceBackwardOp>(builder, *this, resultGrads[0], needed,
                                   operandGrads);
  return success();
}

LogicalResult BceBackwardOp::verify() { return verifyTensors(*this); }

plan::OpRules BceBackwardOp::getRules() {
  return lossRules(shapeOf(getX()), "bce_backward", /*backward=*/true, 12);
}

StringRef BceBackwardOp::getFamily() { return "bce_backward"; }

DictionaryAttr BceBackwardOp::getKernelArgs() {
  return Builder(getContext()).getDictionaryAttr({});
}
