//===- BitwiseOp.cpp - ff.bitwise: functions of bits ----------------------===//

#include "Broadcast.h"
#include "RuleHelpers.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

LogicalResult BitwiseOp::verify() { return verifyBroadcast(*this); }

plan::OpRules BitwiseOp::getRules() {
  return broadcastRules(*this, "bitwise", 1);
}

StringRef BitwiseOp::getFamily() { return "bitwise"; }

DictionaryAttr BitwiseOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(builder.getNamedAttr(
      "kind", builder.getI64IntegerAttr(static_cast<int64_t>(getKind()))));
}
