//===- RecognizeNormalisation.cpp - layer normalisation -------------------===//

#include "RecognizePatterns.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::recognition;

/// `value` as the mean of x over its last dimensions, which stay with extent 1.
/// Returns the first of these dimensions, or nothing.
static std::optional<int64_t> meanOf(Value value, Value &x, Parts &parts) {
  auto scaled = timesConstant(value);
  auto sum = scaled ? scaled->x.getDefiningOp<ReduceSumOp>() : ReduceSumOp();
  if (!sum || !sum.getKeepdims())
    return std::nullopt;
  x = sum.getX();
  auto type = cast<RankedTensorType>(x.getType());
  int64_t first = sum.getAxes().front(), count = 1;
  if (first + static_cast<int64_t>(sum.getAxes().size()) != type.getRank())
    return std::nullopt;
  for (int64_t axis : sum.getAxes())
    count *= type.getDimSize(axis);
  if (!isNear(scaled->number, 1 / static_cast<double>(count)))
    return std::nullopt;
  parts.insert(value.getDefiningOp());
  parts.insert(sum);
  return first;
}

/// `value` as x - mean(x); the first dimension of the mean.
static std::optional<int64_t> centredOf(Value value, Value &x, Parts &parts) {
  BinaryOp difference = binaryOf(value, BinaryKind::Sub);
  if (!difference)
    return std::nullopt;
  auto first = meanOf(difference.getB(), x, parts);
  if (!first || x != difference.getA())
    return std::nullopt;
  parts.insert(difference);
  return first;
}

/// The value whose square `value` is.
static Value squareRootOf(Value value) {
  if (BinaryOp product = binaryOf(value, BinaryKind::Mul))
    return product.getA() == product.getB() ? product.getA() : Value();
  BinaryOp power = binaryOf(value, BinaryKind::Pow);
  auto exponent = power ? constantOf(power.getB()) : std::nullopt;
  return exponent && *exponent == 2 ? power.getA() : Value();
}

namespace {
struct Normalisation : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BinaryOp last,
                                PatternRewriter &rewriter) const override {
    if (last.getKind() != BinaryKind::Div)
      return failure();
    Parts parts;
    Value x;
    auto first = centredOf(last.getA(), x, parts);
    UnaryOp deviation = unaryOf(last.getB(), UnaryKind::Sqrt);
    auto sum = deviation ? plusConstant(deviation.getX()) : std::nullopt;
    if (!first || !sum || !(sum->number > 0))
      return failure();
    Value square, again;
    if (meanOf(sum->x, square, parts) != first)
      return failure();
    Value centred = squareRootOf(square);
    if (!centred || centredOf(centred, again, parts) != first || again != x)
      return failure();
    parts.insert(square.getDefiningOp());
    parts.insert(deviation.getX().getDefiningOp());
    parts.insert(deviation);
    if (!areInside(parts, last))
      return failure();

    auto type = cast<RankedTensorType>(x.getType());
    RankedTensorType statistic = type.clone(type.getShape().take_front(*first));
    DenseI64ArrayAttr axes = rewriter.getDenseI64ArrayAttr(
        llvm::to_vector(llvm::seq<int64_t>(*first, type.getRank())));
    auto op = NormalizeOp::create(
        rewriter, last.getLoc(), TypeRange{type, statistic, statistic}, x,
        /*scale=*/Value(), /*bias=*/Value(), /*addend=*/Value(), axes,
        rewriter.getF64FloatAttr(sum->number), /*param_dims=*/axes,
        /*sample_groups=*/IntegerAttr(), /*clamp=*/DenseF64ArrayAttr());
    replace(rewriter, last, parts, op.getY(), "layer normalisation");
    return success();
  }
};

/// normalize(x) * scale and normalize(x, scale) + bias.
struct NormalisationParameter : OpRewritePattern<BinaryOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(BinaryOp last,
                                PatternRewriter &rewriter) const override {
    bool isScale = last.getKind() == BinaryKind::Mul;
    if (!isScale && last.getKind() != BinaryKind::Add)
      return failure();
    for (bool first : {true, false}) {
      Value parameter = first ? last.getB() : last.getA();
      auto op =
          (first ? last.getA() : last.getB()).getDefiningOp<NormalizeOp>();
      if (!op || op.getBias() || (isScale && op.getScale()) || op.getAddend() ||
          op.getClampAttr())
        continue;
      auto type = cast<RankedTensorType>(op.getY().getType());
      ArrayRef<int64_t> axes = op.getAxes();
      bool isLast =
          axes.front() + static_cast<int64_t>(axes.size()) == type.getRank();
      Parts parts;
      parts.insert(op);
      if (!isLast || op.getParamDims() != axes ||
          cast<RankedTensorType>(parameter.getType()).getShape() !=
              type.getShape().take_back(axes.size()) ||
          last.getY().getType() != type || !areInside(parts, last) ||
          !op.getMean().use_empty() || !op.getVar().use_empty())
        continue;
      auto made = NormalizeOp::create(
          rewriter, last.getLoc(), op.getResultTypes(), op.getX(),
          isScale ? parameter : op.getScale(), isScale ? Value() : parameter,
          /*addend=*/Value(), op.getAxesAttr(), op.getEpsilonAttr(),
          op.getParamDimsAttr(), op.getSampleGroupsAttr(),
          /*clamp=*/DenseF64ArrayAttr());
      replace(rewriter, last, parts, made.getY(),
              isScale ? "layer normalisation with a scale"
                      : "layer normalisation with a bias");
      return success();
    }
    return failure();
  }
};

} // namespace

void recognition::addNormalisation(RewritePatternSet &patterns) {
  patterns.add<Normalisation, NormalisationParameter>(patterns.getContext());
}
