//===- SgdUpdateOp.cpp - ff.sgd_update ------------------------------------===//

#include "RuleHelpers.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

LogicalResult SgdUpdateOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  if ((getV() != nullptr) != (getVOut() != nullptr)) // constraint 1
    return emitOpError("expected v and v_out together, found only ")
           << (getV() ? "v" : "v_out");
  Type type = getW().getType();
  auto isOther = [&](Type other) { return other != type; };
  auto operand = llvm::find_if(getOperandTypes(), isOther);
  auto result = llvm::find_if(getResultTypes(), isOther);
  // Constraint 2.
  if (operand != getOperandTypes().end())
    return emitOpError("expected all operands to be ")
           << type << ", found " << *operand;
  if (result != getResultTypes().end())
    return emitOpError("expected all results to be ")
           << type << ", found " << *result;
  return success();
}

plan::OpRules SgdUpdateOp::getRules() {
  plan::Shape shape = shapeOf(getW());
  std::vector<plan::IterDim> dims(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    dims[d].name = "d" + std::to_string(d);
    dims[d].extent = shape[d];
    dims[d].kind = plan::DimKind::Parameter;
  }
  plan::Access access = identityAccess(static_cast<int>(shape.size()),
                                       plan::MemoryOrder::RowMajor);
  plan::Phase phase;
  phase.kernel = "sgd_update";
  phase.reads = {{0, access}, {1, access}, {2, access}};
  phase.writes = {{3, access, plan::Reduction::None},
                  {4, access, plan::Reduction::None}};
  phase.flopsPerPoint = getV() ? 6 : 4;
  plan::OpRules rules = onePhaseRules(std::move(dims), std::move(phase));
  rules.inPlace = {{0, 0}, {1, 2}};
  return rules;
}

StringRef SgdUpdateOp::getFamily() { return "sgd_update"; }

DictionaryAttr SgdUpdateOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("momentum", getMomentumAttr()),
       builder.getNamedAttr("nesterov", getNesterovAttr())});
}

SmallVector<Value> SgdUpdateOp::getOperandSlots() {
  return {getW(), getG(), getV()};
}

SmallVector<Value> SgdUpdateOp::getResultSlots() {
  return {getWOut(), getVOut()};
}
