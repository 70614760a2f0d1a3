//===- LossOps.cpp - losses and their gradients ---------------------------===//

#include "RuleHelpers.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Rules of a kernel {x, target} -> {loss or dx} whose target is shaped as x. A
/// loss is the sum of all tiles' shares of the mean.
/// `targetsBelow`: see plan::SlotRead.
static plan::OpRules lossRules(const plan::Shape &shape, StringRef kernel,
                               bool backward, double flopsPerPoint,
                               int64_t targetsBelow = 0) {
  plan::Access x = identityAccess(static_cast<int>(shape.size()),
                                  plan::MemoryOrder::RowMajor);
  return onePhaseRules(
      dimsByRank(shape),
      {kernel.str(),
       {{0, x}, {1, x, 0, targetsBelow}},
       {backward ? plan::SlotWrite{2, x, plan::Reduction::None}
                 : plan::SlotWrite{2, {}, plan::Reduction::Sum}},
       flopsPerPoint},
      {});
}

/// Builds the gradient of a loss with operands {x, target}, the gradient of the
/// loss itself being `dy`, or 1 if that is null. Targets get none.
template <class BackwardOp>
static void buildLossGradient(OpBuilder &builder, Operation *op, Value dy,
                              ArrayRef<bool> needed,
                              SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(2, nullptr);
  if (!needed[0])
    return;
  Value x = op->getOperand(0);
  Value dx = BackwardOp::create(builder, gradientLoc(op, dy ? "slope" : ""),
                                x.getType(), x, op->getOperand(1));
  if (dy)
    dx = BinaryOp::create(builder, gradientLoc(op, "mul"), x.getType(),
                          BinaryKind::Mul, dx, dy);
  operandGrads[0] = dx;
}

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

namespace {
/// The rules of a cross-entropy in the making: one kernel where classes are
/// whole. Where they are split, behind a head that is split by vocabulary for
/// instance, maxima and sums of a sample's tiles are combined before losses or
/// gradients are computed.
struct CrossEntropyRules {
  plan::OpRules rules;
  plan::Access logits, samples;
  plan::SlotRead all, target;

  CrossEntropyRules(Value x, int axis) : axis(axis) {
    plan::TensorType type = tensorTypeOf(x.getType());
    classes = type.shape[axis];
    samples = identityAccess(static_cast<int>(type.shape.size()),
                             plan::MemoryOrder::RowMajor);
    logits = pitched(samples);
    samples.dims.erase(samples.dims.begin() + axis);
    rules.dims = dimsByRank(type.shape);
    plan::TensorType statistic = tensorTypeOf(wideType(x.getType()));
    statistic.shape.erase(statistic.shape.begin() + axis);
    rules.internals.assign(2, statistic);
    all = {0, logits};
    target = {1, samples, 0, classes};
  }

  /// The part of the logits that a loss needs: one of each sample.
  double touched() const { return 1.0 / static_cast<double>(classes); }

  /// Kernels `whole`, or those of maxima and sums and then `apply`, read the
  /// logits (the latter as `applied`), the target and `others`, and write
  /// `results`. `max` is the slot of maxima, in front of that of sums.
  plan::OpRules finish(const char *whole, double wholeFlops, const char *apply,
                       double applyFlops, const plan::SlotRead &applied,
                       const std::vector<plan::SlotRead> &others,
                       const std::vector<plan::SlotWrite> &results, int max) {
    plan::SlotRead tops{max, samples}, sums{max + 1, samples};
    std::vector<plan::SlotRead> wholeReads = {all, target},
                                applyReads = {applied, target, tops, sums};
    for (std::vector<plan::SlotRead> *reads : {&wholeReads, &applyReads})
      reads->insert(reads->end(), others.begin(), others.end());
    rules.schedules = {{{axis}, {{whole, wholeReads, results, wholeFlops}}},
                       {{},
                        {{"cross_entropy_max",
                          {all},
                          {{max, samples, plan::Reduction::Max}},
                          1},
                         {"cross_entropy_sum",
                          {all, tops},
                          {{max + 1, samples, plan::Reduction::Sum}},
                          10},
                         {apply, applyReads, results, applyFlops}}}};
    return std::move(rules);
  }

private:
  int axis;
  int64_t classes;
};
} // namespace

static LogicalResult verifyLabels(Operation *op, Value logits, Value target,
                                  int64_t axis, double smoothing) {
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
  if (!(smoothing >= 0 && smoothing <= 1)) // constraint 4
    return op->emitOpError("expected a smoothing from 0 to 1, found ")
           << smoothing;
  return success();
}

template <class OpT> static double smoothingOf(OpT op) {
  return op.getSmoothing().convertToDouble();
}

/// Kernels do without a smoothing of 0.
template <class OpT> static DictionaryAttr crossEntropyArgs(OpT op) {
  Builder builder(op.getContext());
  SmallVector<NamedAttribute> args = {
      builder.getNamedAttr("axis", op.getAxisAttr())};
  if (smoothingOf(op) > 0)
    args.push_back(builder.getNamedAttr("smoothing", op.getSmoothingAttr()));
  return builder.getDictionaryAttr(args);
}

LogicalResult CrossEntropyOp::verify() {
  if (failed(verifyLabels(*this, getLogits(), getTarget(), getAxis(),
                          smoothingOf(*this))))
    return failure();
  return verifyResultType(
      *this, lossType(wideType(getLogits().getType()))); // constraint 3
}

SmallVector<OpOperand *> CrossEntropyOp::getNarrowable() {
  return {&getLogitsMutable()};
}

plan::OpRules CrossEntropyOp::getRules() {
  enum { Logits, Target, Loss, Max };
  CrossEntropyRules r(getLogits(), static_cast<int>(getAxis()));
  plan::SlotRead applied = r.all;
  const bool isSmoothed = smoothingOf(*this) > 0;
  if (!isSmoothed)
    applied.touchedPerPoint = r.touched();
  return r.finish("cross_entropy_forward", 10, "cross_entropy_apply",
                  isSmoothed ? 1 : r.touched(), applied, {},
                  {{Loss, {}, plan::Reduction::Sum}}, Max);
}

StringRef CrossEntropyOp::getFamily() { return "cross_entropy"; }

DictionaryAttr CrossEntropyOp::getKernelArgs() {
  return crossEntropyArgs(*this);
}

LogicalResult
CrossEntropyOp::buildGradient(OpBuilder &builder, ArrayRef<Value> resultGrads,
                              ArrayRef<bool> needed,
                              SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(2, nullptr);
  if (needed[0])
    operandGrads[0] = CrossEntropyBackwardOp::create(
                          builder, gradientLoc(*this), getLoss().getType(),
                          getLogits().getType(), getLogits(), getTarget(),
                          resultGrads[0], getAxisAttr(), getSmoothingAttr())
                          .getDx();
  return success();
}

LogicalResult CrossEntropyBackwardOp::verify() {
  if (failed(verifyLabels(*this, getLogits(), getTarget(), getAxis(),
                          smoothingOf(*this))))
    return failure();
  RankedTensorType wide = wideType(getLogits().getType()),
                   loss = lossType(wide);
  if (failed(verifyResultType(*this, loss)) ||    // constraint 3
      failed(verifyNarrowedType(*this, wide, 1))) // constraint 5
    return failure();
  if (getSlope() && getSlope().getType() != loss) // constraint 6
    return emitOpError("expected a slope of type ")
           << loss << ", found " << getSlope().getType();
  return success();
}

SmallVector<OpOperand *> CrossEntropyBackwardOp::getNarrowable() {
  return {&getLogitsMutable()};
}

plan::OpRules CrossEntropyBackwardOp::getRules() {
  enum { Logits, Target, Slope, Loss, Dx, Max };
  CrossEntropyRules r(getLogits(), static_cast<int>(getAxis()));
  r.rules.mayOverwrite = {{Dx - Loss, Logits}};
  r.rules.optionalResults = {0};
  return r.finish(
      "cross_entropy_backward", 20 + r.touched(),
      "cross_entropy_backward_apply", 10 + r.touched(), r.all, {{Slope, {}}},
      {{Loss, {}, plan::Reduction::Sum}, {Dx, r.logits, plan::Reduction::None}},
      Max);
}

SmallVector<Value> CrossEntropyBackwardOp::getOperandSlots() {
  return {getLogits(), getTarget(), getSlope()};
}

bool CrossEntropyBackwardOp::canNarrow(OpResult result) {
  return result == getDx();
}

StringRef CrossEntropyBackwardOp::getFamily() {
  return "cross_entropy_backward";
}

DictionaryAttr CrossEntropyBackwardOp::getKernelArgs() {
  return crossEntropyArgs(*this);
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

/// A target is 0 or 1, or a probability between them.
static constexpr int64_t kBceTargets = 2;

LogicalResult BceOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  return verifyResultType(*this, lossType(typeOf(getX()))); // constraint 2
}

plan::OpRules BceOp::getRules() {
  return lossRules(shapeOf(getX()), "bce_forward", /*backward=*/false, 25,
                   kBceTargets);
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
  return lossRules(shapeOf(getX()), "bce_backward", /*backward=*/true, 12,
                   kBceTargets);
}

StringRef BceBackwardOp::getFamily() { return "bce_backward"; }

DictionaryAttr BceBackwardOp::getKernelArgs() {
  return Builder(getContext()).getDictionaryAttr({});
}
