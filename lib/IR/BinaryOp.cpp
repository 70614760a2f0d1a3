//===- BinaryOp.cpp - ff.binary: functions of two operands ----------------===//

#include "RuleHelpers.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

LogicalResult BinaryOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  auto a = cast<RankedTensorType>(getA().getType());
  auto b = cast<RankedTensorType>(getB().getType());
  // Constraint 1.
  auto shape = broadcastShapes(a.getShape(), b.getShape());
  if (!shape)
    return emitOpError("expected operands that broadcast to one shape, found ")
           << a << " and " << b;
  return verifyResultType(*this, a.clone(*shape));
}

plan::OpRules BinaryOp::getRules() {
  plan::Shape shape = shapeOf(getY());
  plan::Phase phase;
  phase.kernel = getFamily().str();
  phase.reads = {{0, broadcastAccess(shapeOf(getA()), shape)},
                 {1, broadcastAccess(shapeOf(getB()), shape)}};
  // Without an operand to follow (outer products), the result is row-major.
  bool follows = shapeOf(getA()) == shape || shapeOf(getB()) == shape;
  phase.writes = {{2,
                   identityAccess(static_cast<int>(shape.size()),
                                  follows ? plan::MemoryOrder::Follow
                                          : plan::MemoryOrder::RowMajor),
                   plan::Reduction::None}};
  return onePhaseRules(dimsByRank(shape), std::move(phase));
}

StringRef BinaryOp::getFamily() { return stringifyBinaryKind(getKind()); }

DictionaryAttr BinaryOp::getKernelArgs() {
  return Builder(getContext()).getDictionaryAttr({});
}

LogicalResult BinaryOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> resultGrads,
                                      ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(2, nullptr);
  Value dy = resultGrads[0];
  if (!dy)
    return success();
  const StringRef prefixes[] = {"a.", "b."};
  for (unsigned i = 0; i < 2; ++i) {
    if (!needed[i])
      continue;
    Value grad = dy;
    if (getKind() == BinaryKind::Mul)
      grad = BinaryOp::create(builder, gradientLoc(*this, prefixes[i] + "mul"),
                              dy.getType(), BinaryKind::Mul, dy,
                              getOperand(1 - i));
    // On the result's shape, so that the configuration carries over by name.
    if (getKind() == BinaryKind::Sub && i == 1)
      grad = UnaryOp::create(
          builder, gradientLoc(*this, prefixes[i] + "negate"), grad.getType(),
          UnaryKind::Scale, grad, builder.getF64FloatAttr(-1));
    auto type = cast<RankedTensorType>(getOperand(i).getType());
    operandGrads[i] = sumToShape(builder, *this, prefixes[i], grad, type);
  }
  return success();
}
