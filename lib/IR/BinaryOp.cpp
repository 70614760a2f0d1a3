//===- BinaryOp.cpp - ff.binary: functions of two operands ----------------===//

#include "Broadcast.h"
#include "RuleHelpers.h"

#include <limits>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

LogicalResult BinaryOp::verify() { return verifyBroadcast(*this); }

/// Flops per element.
static double flopsOf(BinaryKind kind) {
  switch (kind) {
  case BinaryKind::Div:
    return 4;
  case BinaryKind::Pow:
    return 40;
  case BinaryKind::Prelu:
    return 2;
  case BinaryKind::Fmod:
    return 20;
  default:
    return 1;
  }
}

plan::OpRules BinaryOp::getRules() {
  return broadcastRules(*this, getFamily(), flopsOf(getKind()));
}

StringRef BinaryOp::getFamily() { return stringifyBinaryKind(getKind()); }

DictionaryAttr BinaryOp::getKernelArgs() {
  return Builder(getContext()).getDictionaryAttr({});
}

//===----------------------------------------------------------------------===//
// Gradients
//===----------------------------------------------------------------------===//

namespace {
/// The gradient of one operand, made of operators of this file and ff.unary,
/// before it is summed to the operand's shape. What does not depend on dy is
/// computed on the shapes of the operands, which may be small.
class OperandGradient {
public:
  OperandGradient(OpBuilder &builder, BinaryOp op, Value dy, unsigned operand)
      : builder(builder), op(op), a(op.getA()), b(op.getB()), y(op.getY()),
        dy(dy), isFirst(operand == 0), prefix(isFirst ? "a." : "b.") {}

  /// Null if there is none.
  Value build() {
    switch (op.getKind()) {
    case BinaryKind::Add:
      return dy;
    case BinaryKind::Sub:
      return isFirst ? dy : unary(UnaryKind::Scale, dy, "negate", -1);
    case BinaryKind::Mul:
      return binary(BinaryKind::Mul, dy, isFirst ? b : a, "mul");
    case BinaryKind::Div:
      return buildDiv();
    case BinaryKind::Pow:
      return isFirst ? buildBase() : buildExponent();
    case BinaryKind::Min:
    case BinaryKind::Max:
      return buildExtremum();
    case BinaryKind::Prelu:
      return isFirst ? buildPrelu() : buildSlope();
    case BinaryKind::Fmod:
      return isFirst ? dy : buildModulus();
    case BinaryKind::Keep:
    case BinaryKind::Drop:
      return isFirst ? binary(op.getKind(), dy, b, "chosen") : Value();
    default: // comparisons
      return {};
    }
  }

private:
  OpBuilder &builder;
  BinaryOp op;
  Value a, b, y, dy;
  bool isFirst;
  StringRef prefix;

  Location loc(StringRef part) { return gradientLoc(op, prefix + part); }

  Value unary(UnaryKind kind, Value x, StringRef part,
              std::optional<double> alpha = std::nullopt,
              std::optional<double> beta = std::nullopt) {
    auto attr = [&](std::optional<double> value) {
      return value ? builder.getF64FloatAttr(*value) : FloatAttr();
    };
    return UnaryOp::create(builder, loc(part), x.getType(), kind, x,
                           attr(alpha), attr(beta));
  }
  Value binary(BinaryKind kind, Value left, Value right, StringRef part) {
    return BinaryOp::create(builder, loc(part), broadcastType({left, right}),
                            kind, left, right);
  }
  Value select(Value condition, Value left, Value right, StringRef part) {
    return SelectOp::create(builder, loc(part),
                            broadcastType({condition, left, right}), condition,
                            left, right);
  }

  /// dy / b, and -dy y / b.
  Value buildDiv() {
    Value quotient = binary(BinaryKind::Div, dy, b, "div");
    if (isFirst)
      return quotient;
    Value product = binary(BinaryKind::Mul, quotient, y, "mul");
    return unary(UnaryKind::Scale, product, "negate", -1);
  }

  /// dy b pow(a, b - 1), and 0 where b is, whatever a is.
  Value buildBase() {
    Value less = unary(UnaryKind::Shift, b, "shift", -1);
    Value power = binary(BinaryKind::Pow, a, less, "pow");
    Value slope = binary(BinaryKind::Mul, power, b, "slope");
    return binary(BinaryKind::Mul, dy,
                  binary(BinaryKind::Keep, slope, b, "keep"), "mul");
  }

  /// dy y log(a), and 0 where a is not positive.
  Value buildExponent() {
    Value positive = unary(UnaryKind::Relu, a, "relu");
    Value slope =
        binary(BinaryKind::Mul, y, unary(UnaryKind::Log, a, "log"), "slope");
    return binary(BinaryKind::Mul, dy,
                  binary(BinaryKind::Keep, slope, positive, "keep"), "mul");
  }

  /// -dy times the whole b's in a.
  Value buildModulus() {
    Value whole = binary(BinaryKind::Sub, y, a, "whole");
    Value count = unary(UnaryKind::Round,
                        binary(BinaryKind::Div, whole, b, "div"), "count");
    return binary(BinaryKind::Mul, dy, count, "mul");
  }

  /// dy where the operand was chosen; ties go to a.
  Value buildExtremum() {
    bool isMax = op.getKind() == BinaryKind::Max;
    BinaryKind chosen =
        isFirst ? (isMax ? BinaryKind::GreaterOrEqual : BinaryKind::LessOrEqual)
                : (isMax ? BinaryKind::Less : BinaryKind::Greater);
    return binary(BinaryKind::Mul, dy, binary(chosen, a, b, "compare"), "mul");
  }

  /// dy where x is positive, dy slope elsewhere.
  Value buildPrelu() {
    Value scaled = binary(BinaryKind::Mul, dy, b, "mul");
    return select(unary(UnaryKind::Relu, a, "relu"), dy, scaled, "select");
  }

  /// dy min(x, 0)
  Value buildSlope() {
    Value negative = unary(UnaryKind::Clip, a, "clip",
                           std::numeric_limits<float>::lowest(), 0);
    return binary(BinaryKind::Mul, dy, negative, "mul");
  }
};
} // namespace

LogicalResult BinaryOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> resultGrads,
                                      ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(2, nullptr);
  Value dy = resultGrads[0];
  if (!dy)
    return success();
  for (unsigned i = 0; i < 2; ++i) {
    if (!needed[i])
      continue;
    if (Value grad = OperandGradient(builder, *this, dy, i).build())
      operandGrads[i] =
          sumToShape(builder, *this, i == 0 ? "a." : "b.", grad,
                     cast<RankedTensorType>(getOperand(i).getType()));
  }
  return success();
}
