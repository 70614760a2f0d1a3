//===- RecognizeGates.cpp - gelu, silu and hard_swish ---------------------===//

#include "RecognizePatterns.h"

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
  if (auto sum = plusConstant(value); sum && isNear(sum->number, 1))
    if (UnaryOp erf = unaryOf(sum->x, UnaryKind::Erf))
      if (auto product = timesConstant(erf.getX());
          product && isNear(product->number, std::sqrt(0.5)))
        return Gate{UnaryKind::Gelu,
                    product->x,
                    value,
                    0.5,
                    {op, erf, erf.getX().getDefiningOp()}};
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
