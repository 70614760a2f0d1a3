//===- CastOp.cpp - ff.cast: another element type -------------------------===//

#include "RuleHelpers.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

LogicalResult CastOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  if (getX().getType() == getY().getType()) // constraint 2
    return emitOpError("expected different element types, found ")
           << getX().getType() << " and " << getY().getType();
  return success();
}

plan::OpRules CastOp::getRules() {
  return pointwiseRules(shapeOf(getX()), 1, "cast", 1);
}

StringRef CastOp::getFamily() { return "cast"; }

DictionaryAttr CastOp::getKernelArgs() {
  Builder builder(getContext());
  // The numbers are those of the runtime's types.
  auto type = static_cast<int64_t>(tensorTypeOf(getY().getType()).type);
  return builder.getDictionaryAttr(
      builder.getNamedAttr("to", builder.getI64IntegerAttr(type)));
}

LogicalResult CastOp::buildGradient(OpBuilder &builder,
                                    ArrayRef<Value> resultGrads,
                                    ArrayRef<bool> needed,
                                    SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  Value dy = resultGrads[0];
  auto isFloat = [](Value value) {
    return isa<FloatType>(getElementTypeOrSelf(value));
  };
  if (dy && needed[0] && isFloat(getX()) && isFloat(getY()))
    operandGrads[0] =
        CastOp::create(builder, gradientLoc(*this), getX().getType(), dy);
  return success();
}
