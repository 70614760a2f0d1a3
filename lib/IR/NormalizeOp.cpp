//===- NormalizeOp.cpp - ff.normalize and its gradient --------------------===//
//
// Three kinds of tensors: those of x's shape; statistics, which lack the
// dimensions `axes`; and parameters, which have the dimensions `param_dims`.
//
// Groups of samples make dimension 0 of x a number of two digits, the group and
// the sample within it, and the group the leading dimension of statistics.
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

/// The type of a tensor that has only the dimensions `dims` of `x`; it is wide.
static RankedTensorType typeOver(RankedTensorType x, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> shape;
  for (int64_t d : dims)
    shape.push_back(x.getDimSize(d));
  return wideType(x.clone(shape));
}

/// The type of the statistics of an operator.
template <class Op> static RankedTensorType statisticType(Op op) {
  auto x = cast<RankedTensorType>(op.getX().getType());
  RankedTensorType type = typeOver(x, keptDims(op.getAxes(), x.getRank()));
  std::optional<int64_t> groups = op.getSampleGroups();
  if (!groups)
    return type;
  SmallVector<int64_t> shape = {*groups};
  shape.append(type.getShape().begin(), type.getShape().end());
  return type.clone(shape);
}

namespace {
/// The rules of one operator in the making.
struct NormalizeRules {
  plan::OpRules rules;
  plan::Access whole, statistic, parameter;
  std::vector<int> axes; ///< as iteration dimensions
  /// Each statistic has its own scale and bias (batch normalisation).
  bool isPerStatistic;

  template <class Op> explicit NormalizeRules(Op op) {
    auto x = cast<RankedTensorType>(op.getX().getType());
    SmallVector<int64_t> kept = keptDims(op.getAxes(), x.getRank());
    rules.dims = dimsByRank(tensorTypeOf(x).shape);
    rules.internals.assign(2, tensorTypeOf(statisticType(op)));
    whole = identityAccess(static_cast<int>(x.getRank()));
    if (std::optional<int64_t> groups = op.getSampleGroups())
      cutSamples(*groups);
    for (int64_t d : op.getAxes())
      axes.push_back(iterationDim(d));
    append(statistic, kept);
    append(parameter, op.getParamDims());
    // The groups share their parameters.
    isPerStatistic = ArrayRef<int64_t>(kept) == op.getParamDims() && !hasGroups;
  }

  static plan::Phase phase(const char *kernel, double flops,
                           std::vector<plan::SlotRead> reads,
                           std::vector<plan::SlotWrite> writes) {
    return {kernel, std::move(reads), std::move(writes), flops};
  }

private:
  bool hasGroups = false;

  /// Replaces dimension 0 by the group and the sample within it. The group is
  /// called n: where samples are split, whole groups are.
  void cutSamples(int64_t groups) {
    hasGroups = true;
    plan::IterDim within = rules.dims[0];
    within.name = "m";
    within.extent /= groups;
    rules.dims[0] = {"n", groups, plan::DimKind::Sample};
    rules.dims.insert(rules.dims.begin() + 1, std::move(within));
    whole.dims[0] = plan::DimMap::digits({0, 1});
    for (size_t d = 1; d < whole.dims.size(); ++d)
      whole.dims[d] = plan::DimMap::dim(static_cast<int>(d) + 1);
    statistic.dims.push_back(plan::DimMap::dim(0));
  }

  /// Of dimension `d` of x; of dimension 0 the sample within the group.
  int iterationDim(int64_t d) const { return static_cast<int>(d) + hasGroups; }

  void append(plan::Access &access, ArrayRef<int64_t> dims) const {
    for (int64_t d : dims)
      access.dims.push_back(plan::DimMap::dim(iterationDim(d)));
  }
};
} // namespace

template <class Op> static SmallVector<NamedAttribute> normalizeArgs(Op op) {
  Builder builder(op.getContext());
  SmallVector<NamedAttribute> args = {
      builder.getNamedAttr("axes", op.getAxesAttr()),
      builder.getNamedAttr("epsilon", op.getEpsilonAttr()),
      builder.getNamedAttr("param_dims", op.getParamDimsAttr())};
  // Kernels take it as their last argument, which may be left out.
  if (IntegerAttr groups = op.getSampleGroupsAttr())
    args.push_back(builder.getNamedAttr("sample_groups", groups));
  return args;
}

template <class Op> static LogicalResult verifySampleGroups(Op op) {
  std::optional<int64_t> groups = op.getSampleGroups();
  if (!groups)
    return success();
  if (*groups < 2)
    return op.emitOpError("expected at least 2 sample_groups, found ")
           << *groups;
  int64_t samples = cast<RankedTensorType>(op.getX().getType()).getDimSize(0);
  if (samples % *groups != 0)
    return op.emitOpError("expected sample_groups that divide dimension 0 of "
                          "extent ")
           << samples << ", found " << *groups;
  if (!llvm::is_contained(op.getAxes(), 0) ||
      llvm::is_contained(op.getParamDims(), 0))
    return op.emitOpError("expected dimension 0 in axes and not in param_dims "
                          "with sample_groups, found axes [")
           << op.getAxes() << "] and param_dims [" << op.getParamDims() << "]";
  return success();
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
  return verifySampleGroups(op); // constraint 5
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
  RankedTensorType statistic = statisticType(*this);
  return success(
      succeeded(
          verifyOperandType(*this, "scale", getScale(), parameter)) && // 2
      succeeded(verifyOperandType(*this, "bias", getBias(), parameter)) &&
      succeeded(verifyNarrowedType(*this, wideType(x))) && // 3
      succeeded(verifyResultType(*this, statistic, 1)) &&
      succeeded(verifyResultType(*this, statistic, 2)));
}

plan::OpRules NormalizeOp::getRules() {
  NormalizeRules r(*this);
  enum { X, Scale, Bias, Addend, Y, Mean, Var, Sums, Squares };
  std::vector<plan::SlotWrite> results = {{Y, r.whole, Reduction::None},
                                          {Mean, r.statistic, Reduction::None},
                                          {Var, r.statistic, Reduction::None}};
  plan::SlotRead x{X, r.whole}, scale{Scale, r.parameter},
      bias{Bias, r.parameter}, addend{Addend, r.whole}, sums{Sums, r.statistic},
      squares{Squares, r.statistic};
  double finishing = (getAddend() ? 1 : 0) + clampFlops(*this);
  r.rules.schedules = {
      {r.axes,
       {r.phase("normalize_forward", 7 + finishing, {x, scale, bias, addend},
                results)}},
      {{},
       {r.phase("normalize_sum", 1, {x}, {{Sums, r.statistic, Reduction::Sum}}),
        r.phase("normalize_squares", 3, {x, sums},
                {{Squares, r.statistic, Reduction::Sum}}),
        r.phase("normalize_apply", 3 + finishing,
                {x, sums, squares, scale, bias, addend}, results)}}};
  r.rules.optionalResults = {0, 1, 2};
  return std::move(r.rules);
}

StringRef NormalizeOp::getFamily() { return "normalize"; }

DictionaryAttr NormalizeOp::getKernelArgs() {
  SmallVector<NamedAttribute> args = normalizeArgs(*this);
  args.push_back(clampArg(*this));
  return DictionaryAttr::get(getContext(), args);
}

SmallVector<Value> NormalizeOp::getOperandSlots() {
  return {getX(), getScale(), getBias(), getAddend()};
}

SmallVector<OpOperand *> NormalizeOp::getNarrowable() {
  SmallVector<OpOperand *> result = {&getXMutable()};
  for (OpOperand &addend : getAddendMutable())
    result.push_back(&addend);
  return result;
}

LogicalResult NormalizeOp::buildGradient(OpBuilder &builder,
                                         ArrayRef<Value> resultGrads,
                                         ArrayRef<bool> needed,
                                         SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(4, nullptr);
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
      getX(), getMean(), getVar(), getScale(), /*bias=*/nullptr,
      /*addend=*/nullptr, getAxesAttr(), getEpsilonAttr(), getParamDimsAttr(),
      getSampleGroupsAttr(),
      /*clamp=*/nullptr);
  for (auto [i, result] : llvm::enumerate(gradient.getResults()))
    if (needed[i])
      operandGrads[i] = result;
  if (getAddend() && needed[3])
    operandGrads[3] = dy;
  return success();
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

/// Of what the result was cut to.
static LogicalResult verifyCut(NormalizeBackwardOp op) {
  std::optional<ArrayRef<double>> clamp = op.getClamp();
  if (op.getBias() && !clamp)
    return op.emitOpError("expected a bias only with clamp, found one without");
  if (!clamp)
    return success();
  if (clamp->size() != 1 && clamp->size() != 2)
    return op.emitOpError("expected one or two bounds in 'clamp', found ")
           << clamp->size();
  for (int64_t d : op.getParamDims())
    if (llvm::is_contained(op.getAxes(), d))
      return op.emitOpError("expected one parameter per statistic with clamp, "
                            "found axes [")
             << op.getAxes() << "] and param_dims [" << op.getParamDims()
             << "]";
  return success();
}

LogicalResult NormalizeBackwardOp::verify() {
  if (failed(verifyNormalize(*this)) || failed(verifyCut(*this)))
    return failure();
  auto x = cast<RankedTensorType>(getX().getType());
  RankedTensorType parameter = typeOver(x, getParamDims());
  RankedTensorType statistic = statisticType(*this);
  return success(
      succeeded(verifyNarrowable(*this, "dy", getDy(), wideType(x))) &&
      succeeded(verifyOperandType(*this, "mean", getMean(), statistic)) &&
      succeeded(verifyOperandType(*this, "var", getVar(), statistic)) &&
      succeeded(verifyOperandType(*this, "scale", getScale(), parameter)) &&
      succeeded(verifyOperandType(*this, "bias", getBias(), parameter)) &&
      succeeded(verifyNarrowedType(*this, wideType(x))) &&
      succeeded(verifyResultType(*this, parameter, 1)) &&
      succeeded(verifyResultType(*this, parameter, 2)));
}

plan::OpRules NormalizeBackwardOp::getRules() {
  NormalizeRules r(*this);
  enum {
    Dy,
    X,
    Mean,
    Var,
    Scale,
    Bias,
    Addend,
    Dx,
    Dscale,
    Dbias,
    Sums,
    Products
  };
  plan::SlotRead dy{Dy, r.whole}, x{X, r.whole}, mean{Mean, r.statistic},
      var{Var, r.statistic}, scale{Scale, r.parameter}, bias{Bias, r.parameter},
      addend{Addend, r.whole}, sums{Sums, r.statistic},
      products{Products, r.statistic};
  // Each element's bounds are looked at, and sums need no scale for else.
  const double cutting = getClamp() ? 3 : 0;
  const plan::SlotRead channelScale = getClamp() ? scale : bias;
  plan::SlotWrite dx{Dx, r.whole, Reduction::None};
  plan::SlotWrite dscale{Dscale, r.parameter, Reduction::Sum},
      dbias{Dbias, r.parameter, Reduction::Sum};
  plan::SlotWrite sumsPart{Sums, r.statistic, Reduction::Sum},
      productsPart{Products, r.statistic, Reduction::Sum};

  plan::Schedule fused{
      r.axes,
      {r.phase("normalize_backward", 11 + cutting,
               {dy, x, mean, var, scale, bias, addend}, {dx, dscale, dbias})}};
  plan::Schedule general;
  if (r.isPerStatistic) {
    // Sums of dy and dy * h are the gradients of bias and scale at once, so
    // that only these two are added up over the devices.
    plan::SlotWrite dscaleCopy{Dscale, r.parameter, Reduction::None},
        dbiasCopy{Dbias, r.parameter, Reduction::None};
    general.phases = {
        r.phase("normalize_channel_sums", 4 + cutting,
                {dy, x, mean, var, channelScale, bias},
                {sumsPart, productsPart}),
        r.phase("normalize_channel_data", 6 + cutting,
                {dy, x, mean, var, scale, bias, sums, products, addend},
                {dx, dscaleCopy, dbiasCopy})};
  } else {
    general.phases = {
        r.phase("normalize_backward_sums", 7 + cutting,
                {dy, x, mean, var, scale, bias},
                {sumsPart, productsPart, dscale, dbias}),
        r.phase("normalize_backward_data", 7 + cutting,
                {dy, x, mean, var, scale, bias, sums, products, addend}, {dx})};
  }
  r.rules.schedules = {std::move(fused), std::move(general)};
  r.rules.optionalResults = {0, 1, 2};
  return std::move(r.rules);
}

StringRef NormalizeBackwardOp::getFamily() { return "normalize_backward"; }

DictionaryAttr NormalizeBackwardOp::getKernelArgs() {
  SmallVector<NamedAttribute> args = normalizeArgs(*this);
  Builder builder(getContext());
  args.push_back(builder.getNamedAttr(
      kClampArg,
      getClampAttr() ? getClampAttr() : builder.getDenseF64ArrayAttr({})));
  return DictionaryAttr::get(getContext(), args);
}

SmallVector<Value> NormalizeBackwardOp::getOperandSlots() {
  return {getDy(),    getX(),    getMean(),  getVar(),
          getScale(), getBias(), getAddend()};
}

SmallVector<OpOperand *> NormalizeBackwardOp::getNarrowable() {
  SmallVector<OpOperand *> result = {&getDyMutable(), &getXMutable()};
  for (OpOperand &addend : getAddendMutable())
    result.push_back(&addend);
  return result;
}
