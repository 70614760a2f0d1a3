//===- UnaryOps.cpp - ff.unary and its gradient ---------------------------===//

#include "RuleHelpers.h"
#include "UnaryTable.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

/// Constraint 1: `alpha` exactly for the functions that have it.
static LogicalResult verifyAlpha(Operation *op, UnaryKind kind, bool given) {
  const UnaryFunction &function = unaryFunction(kind);
  if (function.hasAlpha == given)
    return success();
  return op->emitOpError() << "'" << function.name << "': expected "
                           << (function.hasAlpha ? "" : "no ")
                           << "alpha, found " << (given ? "one" : "none");
}

static DictionaryAttr alphaArgs(Builder builder, FloatAttr alpha) {
  if (!alpha)
    return builder.getDictionaryAttr({});
  return builder.getDictionaryAttr(builder.getNamedAttr("alpha", alpha));
}

//===----------------------------------------------------------------------===//
// UnaryOp
//===----------------------------------------------------------------------===//

LogicalResult UnaryOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  return verifyAlpha(*this, getKind(), getAlphaAttr() != nullptr);
}

plan::OpRules UnaryOp::getRules() {
  const UnaryFunction &function = unaryFunction(getKind());
  return pointwiseRules(shapeOf(getX()), 1, function.forward,
                        function.forwardFlops);
}

StringRef UnaryOp::getFamily() { return unaryFunction(getKind()).name; }

DictionaryAttr UnaryOp::getKernelArgs() {
  return alphaArgs(Builder(getContext()), getAlphaAttr());
}

LogicalResult UnaryOp::buildGradient(OpBuilder &builder,
                                     ArrayRef<Value> resultGrads,
                                     ArrayRef<bool> needed,
                                     SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  Value dy = resultGrads[0];
  if (!dy || !needed[0])
    return success();
  const UnaryFunction &function = unaryFunction(getKind());
  Location loc = gradientLoc(*this);
  if (!function.backward)
    operandGrads[0] = UnaryOp::create(builder, loc, dy.getType(), getKindAttr(),
                                      dy, getAlphaAttr());
  else
    operandGrads[0] = UnaryBackwardOp::create(
        builder, loc, dy.getType(), getKindAttr(), dy,
        function.savesOperand ? getX() : getY(), getAlphaAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// UnaryBackwardOp
//===----------------------------------------------------------------------===//

LogicalResult UnaryBackwardOp::verify() {
  if (failed(verifyTensors(*this)) ||
      failed(verifyAlpha(*this, getKind(), getAlphaAttr() != nullptr)))
    return failure();
  const UnaryFunction &function = unaryFunction(getKind());
  if (!function.backward) // constraint 3
    return emitOpError() << "'" << function.name
                         << "': expected a function with a backward kernel";
  return success();
}

plan::OpRules UnaryBackwardOp::getRules() {
  const UnaryFunction &function = unaryFunction(getKind());
  return pointwiseRules(shapeOf(getDy()), 2, function.backward,
                        function.backwardFlops);
}

StringRef UnaryBackwardOp::getFamily() {
  return unaryFunction(getKind()).backward;
}

DictionaryAttr UnaryBackwardOp::getKernelArgs() {
  return alphaArgs(Builder(getContext()), getAlphaAttr());
}
