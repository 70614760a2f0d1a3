//===- NoiseOp.cpp - ff.noise: random numbers -----------------------------===//

#include "RuleHelpers.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

LogicalResult NoiseOp::verify() { return verifyTensors(*this); }

plan::OpRules NoiseOp::getRules() {
  // Normal numbers take a whole Philox block each, and functions.
  return elementwiseRules(shapeOf(getX()), 1, "noise",
                          getKind() == NoiseKind::Normal ? 80 : 30);
}

StringRef NoiseOp::getFamily() { return "noise"; }

DictionaryAttr NoiseOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr(kRandomKeyArg, getKeyAttr()),
       builder.getNamedAttr("kind", builder.getI64IntegerAttr(
                                        static_cast<int64_t>(getKind())))});
}

LogicalResult NoiseOp::buildGradient(OpBuilder &, ArrayRef<Value> resultGrads,
                                     ArrayRef<bool> needed,
                                     SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, needed[0] ? resultGrads[0] : Value());
  return success();
}
