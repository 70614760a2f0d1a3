//===- DropoutOp.cpp - ff.dropout -----------------------------------------===//

#include "RuleHelpers.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

LogicalResult DropoutOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  double ratio = getRatio().convertToDouble();
  if (!(ratio > 0 && ratio < 1)) // constraint 1
    return emitOpError("expected a ratio between 0 and 1, found ")
           << getRatioAttr();
  return verifyNarrowedType(*this, wideType(getX().getType())); // constraint 2
}

SmallVector<OpOperand *> DropoutOp::getNarrowable() {
  SmallVector<OpOperand *> operands = {&getXMutable()};
  for (OpOperand &addend : getAddendMutable())
    operands.push_back(&addend);
  return operands;
}

plan::OpRules DropoutOp::getRules() {
  // A quarter of a Philox block, a comparison and a product per element.
  return elementwiseRules(shapeOf(getX()), getAddend() ? 2 : 1, "dropout", 30);
}

StringRef DropoutOp::getFamily() { return "dropout"; }

DictionaryAttr DropoutOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr(kRandomKeyArg, getKeyAttr()),
       builder.getNamedAttr("ratio", getRatioAttr())});
}

LogicalResult DropoutOp::buildGradient(OpBuilder &builder,
                                       ArrayRef<Value> resultGrads,
                                       ArrayRef<bool> needed,
                                       SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  if (Value dy = resultGrads[0]; dy && needed[0])
    // The same key and step give the same mask.
    operandGrads[0] =
        DropoutOp::create(builder, gradientLoc(*this), dy.getType(), dy,
                          /*addend=*/{}, getKeyAttr(), getRatioAttr());
  return success();
}
