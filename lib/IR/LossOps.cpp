//===- LossOps.cpp - losses and their gradients ---------------------------===//

#include "RuleHelpers.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Rules of a kernel {x, target} -> {loss or dx}. The target has the dimensions
/// of x except `classAxis` (-1: all of them), which cannot be split. The loss
/// is the sum of all tiles' shares of the mean.
static plan::OpRules lossRules(const plan::Shape &shape, StringRef kernel,
                               bool backward, int classAxis,
                               double flopsPerPoint) {
  int rank = static_cast<int>(shape.size());
  plan::Access x = identityAccess(rank, plan::MemoryOrder::RowMajor);
  plan::Access target = x;
  std::vector<int> unsplit;
  int64_t classes = 0;
  if (classAxis >= 0) {
    target.dims.erase(target.dims.begin() + classAxis);
    unsplit.push_back(classAxis);
    classes = shape[classAxis];
  }
  plan::Phase phase;
  phase.kernel = kernel.str();
  phase.reads = {{0, x}, {1, std::move(target), 0, classes}};
  if (backward)
    phase.writes = {{2, std::move(x), plan::Reduction::None}};
  else
    phase.writes = {{2, {}, plan::Reduction::Sum}};
  phase.flopsPerPoint = flopsPerPoint;
  return onePhaseRules(dimsByRank(shape), std::move(phase), std::move(unsplit));
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
  return verifyResultType(*this, lossType(typeOf(getLogits()))); // constraint 3
}

plan::OpRules CrossEntropyOp::getRules() {
  return lossRules(shapeOf(getLogits()), "cross_entropy_forward",
                   /*backward=*/false, static_cast<int>(getAxis()), 10);
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
  return verifyResultType(*this, typeOf(getLogits())); // constraint 3
}

plan::OpRules CrossEntropyBackwardOp::getRules() {
  return lossRules(shapeOf(getLogits()), "cross_entropy_backward",
                   /*backward=*/true, static_cast<int>(getAxis()), 20);
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
  return lossRules(shapeOf(getX()), "mse_forward", /*backward=*/false, -1, 3);
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
  return lossRules(shapeOf(getX()), "mse_backward", /*backward=*/true, -1, 2);
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
  return lossRules(shapeOf(getX()), "bce_forward", /*backward=*/false, -1, 25);
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
  return lossRules(shapeOf(getX()), "bce_backward", /*backward=*/true, -1, 12);
}

StringRef BceBackwardOp::getFamily() { return "bce_backward"; }

DictionaryAttr BceBackwardOp::getKernelArgs() {
  return Builder(getContext()).getDictionaryAttr({});
}
