//===- RecognizeGates.cpp - gelu, silu and hard_swish ---------------------===//

#include "RecognizePatterns.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::recognition;

namespace {
/// number * x * gate(x), which is the function `kind`.
struct Gate {
  UnaryKind kind;
  Value x, gate;
  double number;
  SmallVector<Operation *> parts;
};
} // namespace

//===----------------------------------------------------------------------===//
// Polynomials, as what tanh is applied to in the approximation of gelu
//===----------------------------------------------------------------------===//

namespace {
/// Of powers 0 to 3 of a value the numbers that they are multiplied with.
using Cubic = std::array<double, 4>;
} // namespace

/// Most operators from a polynomial to its variable.
static constexpr int kMaxTerms = 8;

/// `value` as a polynomial of x, and the operators that compute it.
static std::optional<Cubic> cubicOf(Value value, Value x,
                                    SmallVectorImpl<Operation *> &parts,
                                    int depth = 0) {
  if (value == x)
    return Cubic{0, 1, 0, 0};
  if (value.getType() != x.getType() || depth == kMaxTerms)
    return std::nullopt;
  auto take = [&](Value part) { return cubicOf(part, x, parts, depth + 1); };
  std::optional<Cubic> result;
  if (auto product = timesConstant(value)) {
    if ((result = take(product->x)))
      for (double &number : *result)
        number *= product->number;
  } else if (auto sum = plusConstant(value)) {
    if ((result = take(sum->x)))
      result->front() += sum->number;
  } else if (BinaryOp sum = binaryOf(value, BinaryKind::Add)) {
    auto a = take(sum.getA()), b = take(sum.getB());
    if ((result = a) && b)
      for (auto [number, more] : llvm::zip(*result, *b))
        number += more;
    else
      return std::nullopt;
  } else if (BinaryOp product = binaryOf(value, BinaryKind::Mul)) {
    auto a = take(product.getA()), b = take(product.getB());
    if (!a || !b)
      return std::nullopt;
    result.emplace();
    for (size_t i = 0; i < a->size(); ++i)
      for (size_t j = 0; j < b->size(); ++j)
        if (double number = (*a)[i] * (*b)[j]; i + j < result->size())
          (*result)[i + j] += number;
        else if (number != 0)
          return std::nullopt;
  }
  if (result)
    parts.push_back(value.getDefiningOp());
  return result;
}

/// What `value` may be a polynomial of.
static void findVariables(Value value, llvm::SmallSetVector<Value, 16> &found,
                          int depth = 0) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<UnaryOp, BinaryOp>(op) || depth == kMaxTerms)
    return;
  for (Value operand : op->getOperands())
    if (found.insert(operand))
      findVariables(operand, found, depth + 1);
}

/// 1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)), however it is factored.
static std::optional<Gate> gateOfTanh(Value value, UnaryOp tanh) {
  llvm::SmallSetVector<Value, 16> variables;
  findVariables(tanh.getX(), variables);
  const double slope = 2 / std::sqrt(std::acos(-1.0) * 2);
  for (Value x : variables) {
    Gate gate{
        UnaryKind::GeluTanh, x, value, 0.5, {value.getDefiningOp(), tanh}};
    auto cubic = cubicOf(tanh.getX(), x, gate.parts);
    if (cubic && (*cubic)[0] == 0 && isNear((*cubic)[1], slope) &&
        (*cubic)[2] == 0 && isNear((*cubic)[3], slope * 0.044715))
      return gate;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Gates
//===----------------------------------------------------------------------===//

/// `value` as the gate of a function.
static std::optional<Gate> gateOf(Value value) {
  Operation *op = value.getDefiningOp();
  if (UnaryOp sigmoid = unaryOf(value, UnaryKind::Sigmoid))
    return Gate{UnaryKind::Silu, sigmoid.getX(), value, 1, {op}};
  if (UnaryOp hard = unaryOf(value, UnaryKind::HardSigmoid)) {
    if (isNear(hard.getAlpha()->convertToDouble(), 1.0 / 6) &&
        isNear(hard.getBeta()->convertToDouble(), 0.5))
      return Gate{UnaryKind::HardSwish, hard.getX(), value, 1, {op}};
    return std::nullopt;
  }
  if (UnaryOp clip = unaryOf(value, UnaryKind::Clip)) {
    auto sum = plusConstant(clip.getX());
    if (sum && isNear(sum->number, 3) && clip.getAlpha()->isZero() &&
        isNear(clip.getBeta()->convertToDouble(), 6))
      return Gate{UnaryKind::HardSwish,
                  sum->x,
                  value,
                  1.0 / 6,
                  {op, clip.getX().getDefiningOp()}};
    return std::nullopt;
  }
  if (auto sum = plusConstant(value); sum && isNear(sum->number, 1)) {
    if (UnaryOp tanh = unaryOf(sum->x, UnaryKind::Tanh))
      return gateOfTanh(value, tanh);
    if (UnaryOp erf = unaryOf(sum->x, UnaryKind::Erf))
      if (auto product = timesConstant(erf.getX());
          product && isNear(product->number, std::sqrt(0.5)))
        return Gate{UnaryKind::Gelu,
                    product->x,
                    value,
                    0.5,
                    {op, erf, erf.getX().getDefiningOp()}};
  }
  return std::nullopt;
}

/// Most factors that a product is searched for.
static constexpr int kMaxDepth = 4;

/// The gates among the factors of `value`.
static void findGates(Value value, SmallVectorImpl<Gate> &gates,
                      int depth = 0) {
  if (auto gate = gateOf(value))
    gates.push_back(std::move(*gate));
  else if (depth == kMaxDepth)
    return;
  else if (auto product = timesConstant(value))
    findGates(product->x, gates, depth + 1);
  else if (BinaryOp product = binaryOf(value, BinaryKind::Mul))
    for (Value factor : {product.getA(), product.getB()})
      findGates(factor, gates, depth + 1);
}

namespace {
/// A product taken apart as far as x, a gate and numbers.
struct Factors {
  int x = 0, gates = 0;
  double number = 1;
  Parts parts;

  /// False if there is another factor.
  bool collect(Value value, const Gate &gate, int depth = 0) {
    if (value == gate.x)
      return ++x == 1;
    if (value == gate.gate)
      return ++gates == 1;
    if (value.getType() != gate.x.getType() || depth > kMaxDepth)
      return false;
    if (auto product = timesConstant(value)) {
      number *= product->number;
      parts.insert(value.getDefiningOp());
      return collect(product->x, gate, depth + 1);
    }
    BinaryOp product = binaryOf(value, BinaryKind::Mul);
    if (!product)
      return false;
    parts.insert(product);
    return collect(product.getA(), gate, depth + 1) &&
           collect(product.getB(), gate, depth + 1);
  }
};

/// Starts at the last multiplication, whatever operator that is.
template <class Op> struct GatedProduct : OpRewritePattern<Op> {
  using OpRewritePattern<Op>::OpRewritePattern;

  LogicalResult matchAndRewrite(Op last,
                                PatternRewriter &rewriter) const override {
    SmallVector<Gate> gates;
    findGates(last->getResult(0), gates);
    for (const Gate &gate : gates) {
      Factors factors;
      if (gate.gate == last->getResult(0) ||
          !factors.collect(last->getResult(0), gate) || factors.x != 1 ||
          factors.gates != 1 || !isNear(factors.number, gate.number))
        continue;
      Parts parts = factors.parts;
      parts.remove(last);
      parts.insert(gate.parts.begin(), gate.parts.end());
      if (!areInside(parts, last))
        continue;
      Value result =
          UnaryOp::create(rewriter, last->getLoc(), gate.x.getType(), gate.kind,
                          gate.x, FloatAttr(), FloatAttr());
      replace(rewriter, last, parts, result, stringifyUnaryKind(gate.kind));
      return success();
    }
    return failure();
  }
};
} // namespace

void recognition::addGates(RewritePatternSet &patterns) {
  patterns.add<GatedProduct<BinaryOp>, GatedProduct<UnaryOp>>(
      patterns.getContext());
}
