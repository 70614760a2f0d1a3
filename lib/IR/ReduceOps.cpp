//===- ReduceOps.cpp - ff.reduce_sum, ff.reduce_max and ff.reduce_prod ----===//

#include "RuleHelpers.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// What they have in common
//===----------------------------------------------------------------------===//

template <class Op> static LogicalResult verifyReduce(Op op) {
  // Constraint 1.
  if (failed(verifyTensors(op)) ||
      failed(verifyAxes(op, op.getAxes(), typeOf(op.getX()).getRank())))
    return failure();
  // Constraint 2.
  RankedTensorType type =
      reducedType(typeOf(op.getX()), op.getAxes(), op.getKeepdims() != 0);
  if (type.getElementTypeBitWidth() < 32)
    type = type.clone(Float32Type::get(op.getContext()));
  return verifyResultType(op, type);
}

/// Tiles of split axes hold partial values under `reduction`; if that is None,
/// axes cannot be split.
template <class Op>
static plan::OpRules reduceRules(Op op, StringRef kernel,
                                 plan::Reduction reduction) {
  plan::Shape shape = shapeOf(op.getX());
  std::vector<plan::IterDim> dims = dimsByRank(shape);
  std::vector<int> unsplit;
  for (int64_t axis : op.getAxes()) {
    dims[axis].kind = plan::DimKind::Reduction;
    if (reduction == plan::Reduction::None)
      unsplit.push_back(static_cast<int>(axis));
  }
  plan::Access y;
  for (size_t d = 0; d < shape.size(); ++d) {
    if (dims[d].kind != plan::DimKind::Reduction)
      y.dims.push_back(plan::DimMap::dim(static_cast<int>(d)));
    else if (op.getKeepdims())
      y.dims.push_back(plan::DimMap::full());
  }
  plan::Phase phase;
  phase.kernel = kernel.str();
  phase.reads = {{0, identityAccess(static_cast<int>(shape.size()))}};
  phase.writes = {{1, std::move(y), reduction}};
  return onePhaseRules(std::move(dims), std::move(phase), std::move(unsplit));
}

template <class Op> static DictionaryAttr reduceArgs(Op op) {
  Builder builder(op.getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("axes", op.getAxesAttr()),
       builder.getNamedAttr("keepdims", op.getKeepdimsAttr())});
}

/// `value`, of the result's shape, with the axes in place: it broadcasts to the
/// operand.
template <class Op>
static Value withAxes(OpBuilder &builder, Op op, StringRef part, Value value) {
  RankedTensorType kept = reducedType(typeOf(op.getX()), op.getAxes(), true);
  if (value.getType() == kept)
    return value;
  return ReshapeOp::create(builder, gradientLoc(op, part), kept, value);
}

//===----------------------------------------------------------------------===//
// ReduceSumOp
//===----------------------------------------------------------------------===//

LogicalResult ReduceSumOp::verify() { return verifyReduce(*this); }

SmallVector<OpOperand *> ReduceSumOp::getNarrowable() {
  return {&getXMutable()};
}

plan::OpRules ReduceSumOp::getRules() {
  return reduceRules(*this, "reduce_sum", plan::Reduction::Sum);
}

StringRef ReduceSumOp::getFamily() { return "reduce_sum"; }

DictionaryAttr ReduceSumOp::getKernelArgs() { return reduceArgs(*this); }

LogicalResult ReduceSumOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> resultGrads,
                                         ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  if (Value dy = resultGrads[0]; dy && needed[0])
    operandGrads[0] = ExpandOp::create(builder, gradientLoc(*this, "expand"),
                                       getX().getType(),
                                       withAxes(builder, *this, "reshape", dy));
  return success();
}

//===----------------------------------------------------------------------===//
// ReduceMaxOp
//===----------------------------------------------------------------------===//

LogicalResult ReduceMaxOp::verify() { return verifyReduce(*this); }

plan::OpRules ReduceMaxOp::getRules() {
  return reduceRules(*this, "reduce_max", plan::Reduction::Max);
}

StringRef ReduceMaxOp::getFamily() { return "reduce_max"; }

DictionaryAttr ReduceMaxOp::getKernelArgs() { return reduceArgs(*this); }

LogicalResult ReduceMaxOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> resultGrads,
                                         ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  Value dy = resultGrads[0];
  if (!dy || !needed[0])
    return success();
  RankedTensorType type = typeOf(getX());
  RankedTensorType kept = reducedType(type, getAxes(), true);
  dy = withAxes(builder, *this, "reshape", dy);
  Value y = withAxes(builder, *this, "maximum", getY());
  // 1 where the maximum is, and how often it is there.
  Value where = BinaryOp::create(builder, gradientLoc(*this, "equal"), type,
                                 BinaryKind::Equal, getX(), y);
  Value count =
      ReduceSumOp::create(builder, gradientLoc(*this, "count"), kept, where,
                          getAxesAttr(), builder.getI64IntegerAttr(1));
  Value share = BinaryOp::create(builder, gradientLoc(*this, "share"), kept,
                                 BinaryKind::Div, dy, count);
  operandGrads[0] = BinaryOp::create(builder, gradientLoc(*this, "mul"), type,
                                     BinaryKind::Mul, where, share);
  return success();
}

//===----------------------------------------------------------------------===//
// ReduceProdOp
//===----------------------------------------------------------------------===//

LogicalResult ReduceProdOp::verify() { return verifyReduce(*this); }

plan::OpRules ReduceProdOp::getRules() {
  return reduceRules(*this, "reduce_prod", plan::Reduction::None);
}

StringRef ReduceProdOp::getFamily() { return "reduce_prod"; }

DictionaryAttr ReduceProdOp::getKernelArgs() { return reduceArgs(*this); }

LogicalResult
ReduceProdOp::buildGradient(OpBuilder &builder, ArrayRef<Value> resultGrads,
                            ArrayRef<bool> needed,
                            SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  Value dy = resultGrads[0];
  if (!dy || !needed[0])
    return success();
  RankedTensorType type = typeOf(getX());
  RankedTensorType kept = reducedType(type, getAxes(), true);
  dy = withAxes(builder, *this, "reshape", dy);
  auto binary = [&](StringRef part, RankedTensorType of, BinaryKind kind,
                    Value a, Value b) -> Value {
    return BinaryOp::create(builder, gradientLoc(*this, part), of, kind, a, b);
  };
  // Of the other factors the product is that of those that are not 0, divided
  // by the own one; unless one of them is 0.
  Value zero = UnaryOp::create(builder, gradientLoc(*this, "zero"), type,
                               UnaryKind::Scale, getX(),
                               builder.getF64FloatAttr(0), FloatAttr());
  Value isZero = binary("is_zero", type, BinaryKind::Equal, getX(), zero);
  Value zeros =
      ReduceSumOp::create(builder, gradientLoc(*this, "zeros"), kept, isZero,
                          getAxesAttr(), builder.getI64IntegerAttr(1));
  Value factors = binary("factors", type, BinaryKind::Add, getX(), isZero);
  Value product = ReduceProdOp::create(builder, gradientLoc(*this, "product"),
                                       kept, factors, getAxesAttr(),
                                       builder.getI64IntegerAttr(1));
  Value whole = binary("mul", kept, BinaryKind::Mul, dy, product);
  Value others = binary("div", type, BinaryKind::Div, whole, factors);
  Value counts = binary("counts", type, BinaryKind::Equal, zeros, isZero);
  operandGrads[0] = binary("others", type, BinaryKind::Mul, counts, others);
  return success();
}
