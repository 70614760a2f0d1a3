//===- SelectOp.cpp - ff.select: one of two operands ----------------------===//

#include "Broadcast.h"
#include "RuleHelpers.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

LogicalResult SelectOp::verify() { return verifyBroadcast(*this); }

plan::OpRules SelectOp::getRules() {
  return broadcastRules(*this, "select", 1);
}

StringRef SelectOp::getFamily() { return "select"; }

DictionaryAttr SelectOp::getKernelArgs() {
  return Builder(getContext()).getDictionaryAttr({});
}

LogicalResult SelectOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> resultGrads,
                                      ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(3, nullptr);
  Value dy = resultGrads[0];
  if (!dy)
    return success();
  // The condition has no gradient.
  for (unsigned i : {1u, 2u}) {
    if (!needed[i])
      continue;
    StringRef prefix = i == 1 ? "a." : "b.";
    Value grad = BinaryOp::create(
        builder, gradientLoc(*this, prefix + "chosen"), dy.getType(),
        i == 1 ? BinaryKind::Keep : BinaryKind::Drop, dy, getCondition());
    operandGrads[i] =
        sumToShape(builder, *this, prefix, grad,
                   cast<RankedTensorType>(getOperand(i).getType()));
  }
  return success();
}
