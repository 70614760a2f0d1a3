//===- UnaryOps.cpp - ff.unary and its gradient ---------------------------===//

#include "RuleHelpers.h"
#include "ffc/IR/UnaryTable.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

/// Constraint 1: `alpha` and `beta` exactly for the functions that have them.
template <class Op> static LogicalResult verifyParameters(Op op) {
  const UnaryFunction &function = unaryFunction(op.getKind());
  FloatAttr given[] = {op.getAlphaAttr(), op.getBetaAttr()};
  for (int i = 0; i < 2; ++i)
    if ((function.parameters > i) != (given[i] != nullptr))
      return op.emitOpError() << "'" << function.name << "': expected "
                              << (function.parameters > i ? "" : "no ")
                              << (i == 0 ? "alpha" : "beta") << ", found "
                              << (given[i] ? "one" : "none");
  return success();
}

template <class Op> static DictionaryAttr parameterArgs(Op op) {
  Builder builder(op.getContext());
  SmallVector<NamedAttribute> args;
  if (FloatAttr alpha = op.getAlphaAttr())
    args.push_back(builder.getNamedAttr("alpha", alpha));
  if (FloatAttr beta = op.getBetaAttr())
    args.push_back(builder.getNamedAttr("beta", beta));
  return builder.getDictionaryAttr(args);
}

//===----------------------------------------------------------------------===//
// UnaryOp
//===----------------------------------------------------------------------===//

LogicalResult UnaryOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  return verifyParameters(*this);
}

plan::OpRules UnaryOp::getRules() {
  const UnaryFunction &function = unaryFunction(getKind());
  return elementwiseRules(shapeOf(getX()), 1, function.forward,
                          function.forwardFlops);
}

StringRef UnaryOp::getFamily() { return unaryFunction(getKind()).name; }

DictionaryAttr UnaryOp::getKernelArgs() { return parameterArgs(*this); }

/// The bounds of a function that does nothing else, one or two, or null.
template <class Op> static DenseF64ArrayAttr boundsOf(Op op) {
  Builder builder(op.getContext());
  switch (op.getKind()) {
  case UnaryKind::Relu:
    return builder.getDenseF64ArrayAttr({0.0});
  case UnaryKind::Clip: {
    const double lower = op.getAlphaAttr().getValueAsDouble(),
                 upper = op.getBetaAttr().getValueAsDouble();
    if (std::isinf(upper))
      return builder.getDenseF64ArrayAttr({lower});
    return builder.getDenseF64ArrayAttr({lower, upper});
  }
  default:
    return {};
  }
}

DenseF64ArrayAttr UnaryOp::asClamp() { return boundsOf(*this); }

DenseF64ArrayAttr UnaryBackwardOp::asClamp() { return boundsOf(*this); }

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
  switch (function.gradient) {
  case UnaryGradient::Kernel:
    operandGrads[0] = UnaryBackwardOp::create(
        builder, loc, dy.getType(), getKindAttr(), dy,
        function.savesOperand ? getX() : getY(), getAlphaAttr(), getBetaAttr());
    break;
  case UnaryGradient::Itself:
    operandGrads[0] = UnaryOp::create(builder, loc, dy.getType(), getKindAttr(),
                                      dy, getAlphaAttr(), getBetaAttr());
    break;
  case UnaryGradient::Identity:
    operandGrads[0] = dy;
    break;
  case UnaryGradient::Zero:
    break;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// UnaryBackwardOp
//===----------------------------------------------------------------------===//

LogicalResult UnaryBackwardOp::verify() {
  if (failed(verifyTensors(*this)) || failed(verifyParameters(*this)))
    return failure();
  const UnaryFunction &function = unaryFunction(getKind());
  if (!function.backward) // constraint 3
    return emitOpError() << "'" << function.name
                         << "': expected a function with a backward kernel";
  return success();
}

plan::OpRules UnaryBackwardOp::getRules() {
  const UnaryFunction &function = unaryFunction(getKind());
  return elementwiseRules(shapeOf(getDy()), 2, function.backward,
                          function.backwardFlops);
}

StringRef UnaryBackwardOp::getFamily() {
  return unaryFunction(getKind()).backward;
}

DictionaryAttr UnaryBackwardOp::getKernelArgs() { return parameterArgs(*this); }
