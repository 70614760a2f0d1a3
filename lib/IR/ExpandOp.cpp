//===- ExpandOp.cpp - ff.expand -------------------------------------------===//

#include "RuleHelpers.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

LogicalResult ExpandOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  auto x = cast<RankedTensorType>(getX().getType());
  auto y = cast<RankedTensorType>(getY().getType());
  auto shape = broadcastShapes(x.getShape(), y.getShape());
  if (!shape || ArrayRef<int64_t>(*shape) != y.getShape()) // constraint 1
    return emitOpError("expected an operand that broadcasts to ")
           << y << ", found " << x;
  return success();
}

plan::OpRules ExpandOp::getRules() {
  plan::Shape shape = shapeOf(getY());
  plan::Access x = broadcastAccess(shapeOf(getX()), shape);
  plan::MemoryOrder order = x.order;
  plan::Phase phase;
  phase.kernel = "expand";
  phase.reads = {{0, std::move(x)}};
  phase.writes = {{1, identityAccess(static_cast<int>(shape.size()), order),
                   plan::Reduction::None}};
  phase.flopsPerPoint = 0;
  return onePhaseRules(dimsByRank(shape), std::move(phase));
}

StringRef ExpandOp::getFamily() { return "expand"; }

DictionaryAttr ExpandOp::getKernelArgs() {
  return Builder(getContext()).getDictionaryAttr({});
}

LogicalResult ExpandOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> resultGrads,
                                      ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  if (Value dy = resultGrads[0]; dy && needed[0])
    operandGrads[0] = sumToShape(builder, *this, "", dy,
                                 cast<RankedTensorType>(getX().getType()));
  return success();
}
