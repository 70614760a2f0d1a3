//===- ReduceOps.cpp - ff.reduce_sum and ff.expand ------------------------===//

#include "RuleHelpers.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// ReduceSumOp
//===----------------------------------------------------------------------===//

LogicalResult ReduceSumOp::verify() {
  // Constraint 1.
  if (failed(verifyTensors(*this)) ||
      failed(verifyAxes(*this, getAxes(), typeOf(getX()).getRank())))
    return failure();
  // Constraint 2.
  return verifyResultType(
      *this, reducedType(typeOf(getX()), getAxes(), getKeepdims() != 0));
}

plan::OpRules ReduceSumOp::getRules() {
  plan::Shape shape = shapeOf(getX());
  std::vector<plan::IterDim> dims = dimsByRank(shape);
  for (int64_t axis : getAxes())
    dims[axis].kind = plan::DimKind::Reduction;
  plan::Access y;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (dims[d].kind != plan::DimKind::Reduction)
      y.dims.push_back(plan::DimMap::dim(static_cast<int>(d)));
    else if (getKeepdims())
      y.dims.push_back(plan::DimMap::full());
  }
  plan::Phase phase;
  phase.kernel = "reduce_sum";
  phase.reads = {{0, identityAccess(static_cast<int>(shape.size()))}};
  phase.writes = {{1, std::move(y), plan::Reduction::Sum}};
  return onePhaseRules(std::move(dims), std::move(phase));
}

StringRef ReduceSumOp::getFamily() { return "reduce_sum"; }

DictionaryAttr ReduceSumOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("axes", getAxesAttr()),
       builder.getNamedAttr("keepdims", getKeepdimsAttr())});
}

LogicalResult ReduceSumOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> resultGrads,
                                         ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  Value dy = resultGrads[0];
  if (!dy || !needed[0])
    return success();
  RankedTensorType kept = reducedType(typeOf(getX()), getAxes(), true);
  if (dy.getType() != kept)
    dy = ReshapeOp::create(builder, gradientLoc(*this, "reshape"), kept, dy);
  operandGrads[0] = ExpandOp::create(builder, gradientLoc(*this, "expand"),
                                     getX().getType(), dy);
  return success();
}

//===----------------------------------------------------------------------===//
// ExpandOp
//===----------------------------------------------------------------------===//

LogicalResult ExpandOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  RankedTensorType x = typeOf(getX()), y = typeOf(getY());
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
    operandGrads[0] = sumToShape(builder, *this, "", dy, typeOf(getX()));
  return success();
}
