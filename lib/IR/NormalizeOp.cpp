//===- NormalizeOp.cpp - ff.normalize and its gradient --------------------===//
//
// Three kinds of tensors: those of x's shape; statistics, which lack the
// dimensions `axes`; and parameters, which have the dimensions `param_dims`.
//
//===----------------------------------------------------------------------===//

#include "Clamp.h"
#include "RuleHelpers.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using plan::Reduction;

//===----------------------------------------------------------------------===//
// Common to both
//===----------------------------------------------------------------------===//

/// The dimensions of a tensor of rank `rank` that are not in `axes`.
static SmallVector<int64_t> keptDims(ArrayRef<int64_t> axes, int64_t rank) {
  SmallVector<int64_t> kept;
  for (int64_t d = 0; d < rank; ++d)
    if (!llvm::is_contained(axes, d))
      kept.push_back(d);
  return kept;
}

/// The type of a tensor that has only the dimensions `dims` of `x`.
static RankedTensorType typeOver(RankedTensorType x, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape;
  for (int64_t d : dims)
    shape.push_back(x.getDimSize(d));
  return x.clone(shape);
}

static plan::Access accessOver(ArrayRef<int64_t> dims) {
  plan::Access access;
  for (int64_t d : dims)
    access.dims.push_back(plan::DimMap::dim(static_cast<int>(d)));
  return access;
}

namespace {
/// The rules of one operator in the making.
struct NormalizeRules {
  plan::OpRules rules;
  plan::Access whole, statistic, parameter;
  std::vector<int> axes;
  /// Each statistic has its own scale and bias (batch normalisation).
  bool isPerStatistic;

  NormalizeRules(RankedTensorType x, ArrayRef<int64_t> axes,
                 ArrayRef<int64_t> paramDims)
      : whole(identityAccess(static_cast<int>(x.getRank()))),
        parameter(accessOver(paramDims)), axes(axes.begin(), axes.end()) {
    SmallVector<int64_t> kept = keptDims(axes, x.getRank());
    rules.dims = dimsByRank(tensorTypeOf(x).shape);
    rules.internals.assign(2, tensorTypeOf(typeOver(x, kept)));
    statistic = accessOver(kept);
    isPerStatistic = ArrayRef<int64_t>(kept) == paramDims;
  }

  static plan::Phase phase(const char *kernel, double flops,
                           std::vector<plan::SlotRead> reads,
                           std::vector<plan::SlotWrite> writes) {
    return {kernel, std::move(reads), std::move(writes), flops};
  }
};
} // namespace

template <class Op> static SmallVector<NamedAttribute> normalizeArgs(Op op) {
  Builder builder(op.getContext());
  return {builder.getNamedAttr("axes", op.getAxesAttr()),
          builder.getNamedAttr("epsilon", op.getEpsilonAttr()),
          builder.getNamedAttr("param_dims", op.getParamDimsAttr())};
}

template <class Op> static LogicalResult verifyNormalize(Op op) {
  if (failed(verifyTensors(op)))
    return failure();
  auto x = cast<RankedTensorType>(op.getX().getType());
  if (failed(verifyAxes(op, op.getAxes(), x.getRank()))) // constraint 1
    return failure();
  if (failed(verifyAxes(op, op.getParamDims(), x.getRank(), "param_dims")))
    return failure();
  double epsilon = op.getEpsilon().convertToDouble();
  if (!(epsilon > 0)) // constraint 4
    return op.emitOpError("expected a positive epsilon, found ") << epsilon;
  return success();
}

static LogicalResult verifyOperandType(Operation *op, StringRef name,
                                       Value operand,
                                       RankedTensorType expected) {
  if (!operand || operand.getType() == expected)
    return success();
  return op->emitOpError("expected ")
         << name << " of type " << expected << ", found " << operand.getType();
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

LogicalResult NormalizeOp::verify() {
  if (failed(verifyNormalize(*this)))
    return failure();
  auto x = cast<RankedTensorType>(getX().getType());
  RankedTensorType parameter = typeOver(x, getParamDims());
  RankedTensorType statistic = typeOver(x, keptDims(getAxes(), x.getRank()));
  return success(
      succeeded(
          verifyOperandType(*this, "scale", getScale(), parameter)) && // 2
      succeeded(verifyOperandType(*this, "bias", getBias(), parameter)) &&
      succeeded(verifyResultType(*this, x, 0)) && // 3
      succeeded(verifyResultType(*this, statistic, 1)) &&
      succeeded(verifyResultType(*this, statistic, 2)));
}

plan::OpRules NormalizeOp::getRules() {
  NormalizeRules r(cast<RankedTensorType>(getX().getType()), getAxes(),
                   getParamDims());
  enum { X, Scale, Bias, Y, Mean, Var, Sums, Squares };
  std::vector<plan::SlotWrite> results = {{Y, r.whole, Reduction::None},
                                          {Mean, r.statistic, Reduction::None},
                                          {Var, r.statistic, Reduction::None}};
  plan::SlotRead x{X, r.whole}, scale{Scale, r.parameter},
      bias{Bias, r.parameter}, sums{Sums, r.statistic},
      squares{Squares, r.statistic};
  double clamping = clampFlops(*this);
  r.rules.schedules = {
      {r.axes,
       {r.phase("normalize_forward", 7 + clamping, {x, scale, bias}, results)}},
      {{},
       {r.phase("normalize_sum", 1, {x}, {{Sums, r.statistic, Reduction::Sum}}),
        r.phase("normalize_squares", 3, {x, sums},
                {{Squares, r.statistic, Reduction::Sum}}),
        r.phase("normalize_apply", 3 + clamping,
                {x, sums, squares, scale, bias}, results)}}};
  return std::move(r.rules);
}

StringRef NormalizeOp::getFamily() { return "normalize"; }

DictionaryAttr NormalizeOp::getKernelArgs() {
  SmallVector<NamedAttribute> args = normalizeArgs(*this);
  args.push_back(clampArg(*this));
  return DictionaryAttr::get(getContext(), args);
}

SmallVector<Value> NormalizeOp::getOperandSlots() {
  return {getX(), getScale(), getBias()};
}

LogicalResult NormalizeOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> resultGrads,
                                         ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(3, nullptr);
  // The statistics only feed running statistics, which nothing is trained by.
  if (resultGrads[1] || resultGrads[2])
    return emitOpError("expected no gradient of its mean and variance");
  if (!resultGrads[0])
    return success();
  Value dy = clampGradient(builder, *this, resultGrads[0]);
  auto x = cast<RankedTensorType>(getX().getType());
  RankedTensorType parameter = typeOver(x, getParamDims());
  auto gradient = NormalizeBackwardOp::create(
      builder, gradientLoc(*this), TypeRange{x, parameter, parameter}, dy,
      getX(), getMean(), getVar(), getScale(), getAxesAttr(), getEpsilonAttr(),
      getParamDimsAttr());
  for (auto [i, result] : llvm::enumerate(gradient.getResults()))
    if (needed[i])
      operandGrads[i] = result;
  return success();
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

LogicalResult NormalizeBackwardOp::verify() {
  if (failed(verifyNormalize(*this)))
    return failure();
  auto x = cast<RankedTensorType>(getX().getType());
  RankedTensorType parameter = typeOver(x, getParamDims());
  RankedTensorType statistic = typeOver(x, keptDims(getAxes(), x.getRank()));
  return success(
      succeeded(verifyOperandType(*this, "dy", getDy(), x)) &&
      succeeded(verifyOperandType(*this, "mean", getMean(), statistic)) &&
      succeeded(verifyOperandType(*this, "var", getVar(), statistic)) &&
      succeeded(verifyOperandType(*this, "scale", getScale(), parameter)) &&
      succeeded(verifyResultType(*this, x, 0)) &&
      succeeded(verifyResultType(*this, parameter, 1)) &&
      succeeded(verifyResultType(*this, parameter, 2)));
}

plan::OpRules NormalizeBackwardOp::getRules() {
  NormalizeRules r(cast<RankedTensorType>(getX().getType()), getAxes(),
                   getParamDims());
  enum { Dy, X, Mean, Var, Scale, Dx, Dscale, Dbias, Sums, Products };
  plan::SlotRead dy{Dy, r.whole}, x{X, r.whole}, mean{Mean, r.statistic},
      var{Var, r.statistic}, scale{Scale, r.parameter}, sums{Sums, r.statistic},
      products{Products, r.statistic};
  plan::SlotWrite dx{Dx, r.whole, Reduction::None};
  plan::SlotWrite dscale{Dscale, r.parameter, Reduction::Sum},
      dbias{Dbias, r.parameter, Reduction::Sum};
  plan::SlotWrite sumsPart{Sums, r.statistic, Reduction::Sum},
      productsPart{Products, r.statistic, Reduction::Sum};

  plan::Schedule fused{
      r.axes,
      {r.phase("normalize_backward", 11, {dy, x, mean, var, scale},
               {dx, dscale, dbias})}};
  plan::Schedule general;
  if (r.isPerStatistic) {
    // Sums of dy and dy * h are the gradients of bias and scale at once, so
    // that only these two are added up over the devices.
    plan::SlotWrite dscaleCopy{Dscale, r.parameter, Reduction::None},
        dbiasCopy{Dbias, r.parameter, Reduction::None};
    general.phases = {r.phase("normalize_channel_sums", 4, {dy, x, mean, var},
                              {sumsPart, productsPart}),
                      r.phase("normalize_channel_data", 6,
                              {dy, x, mean, var, scale, sums, products},
                              {dx, dscaleCopy, dbiasCopy})};
  } else {
    general.phases = {r.phase("normalize_backward_sums", 7,
                              {dy, x, mean, var, scale},
                              {sumsPart, productsPart, dscale, dbias}),
                      r.phase("normalize_backward_data", 7,
                              {dy, x, mean, var, scale, sums, products}, {dx})};
  }
  r.rules.schedules = {std::move(fused), std::move(general)};
  return std::move(r.rules);
}

StringRef NormalizeBackwardOp::getFamily() { return "normalize_backward"; }

DictionaryAttr NormalizeBackwardOp::getKernelArgs() {
  return DictionaryAttr::get(getContext(), normalizeArgs(*this));
}

SmallVector<Value> NormalizeBackwardOp::getOperandSlots() {
  return {getDy(), getX(), getMean(), getVar(), getScale()};
}
