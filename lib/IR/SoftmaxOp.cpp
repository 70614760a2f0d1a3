//===- SoftmaxOp.cpp - ff.softmax and its gradient ------------------------===//

#include "RuleHelpers.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using plan::Reduction;

namespace {
/// The rules of one operator in the making. Internal tensors lack `axes`.
struct SoftmaxRules {
  plan::OpRules rules;
  plan::Access whole, kept;
  std::vector<int> axes;

  SoftmaxRules(Value x, ArrayRef<int64_t> axes, int internals)
      : axes(axes.begin(), axes.end()) {
    plan::TensorType type = tensorTypeOf(x.getType()), internal{{}, type.type};
    rules.dims = dimsByRank(type.shape);
    int rank = static_cast<int>(type.shape.size());
    whole = identityAccess(rank, plan::MemoryOrder::RowMajor);
    for (int d = 0; d < rank; ++d)
      if (!llvm::is_contained(axes, d)) {
        kept.dims.push_back(plan::DimMap::dim(d));
        internal.shape.push_back(type.shape[d]);
      }
    rules.internals.assign(internals, internal);
  }
};
} // namespace

template <class Op> static DictionaryAttr softmaxArgs(Op op) {
  Builder builder(op.getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("axes", op.getAxesAttr()),
       builder.getNamedAttr("log", op.getLogAttr())});
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  // Constraint 1; constraint 2 is a trait.
  return verifyAxes(*this, getAxes(), shapeOf(getX()).size());
}

plan::OpRules SoftmaxOp::getRules() {
  SoftmaxRules r(getX(), getAxes(), 2);
  enum { X, Y, Max, Sum };
  plan::SlotRead x{X, r.whole}, max{Max, r.kept}, sum{Sum, r.kept};
  plan::SlotWrite y{Y, r.whole, Reduction::None};
  r.rules.schedules = {
      {r.axes, {{"softmax_forward", {x}, {y}, 10}}},
      {{},
       {{"softmax_max", {x}, {{Max, r.kept, Reduction::Max}}, 1},
        {"softmax_sum", {x, max}, {{Sum, r.kept, Reduction::Sum}}, 10},
        {"softmax_apply", {x, max, sum}, {y}, 10}}}};
  return std::move(r.rules);
}

StringRef SoftmaxOp::getFamily() { return "softmax"; }

DictionaryAttr SoftmaxOp::getKernelArgs() { return softmaxArgs(*this); }

LogicalResult SoftmaxOp::buildGradient(OpBuilder &builder,
                                       ArrayRef<Value> resultGrads,
                                       ArrayRef<bool> needed,
                                       SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  if (Value dy = resultGrads[0]; dy && needed[0])
    operandGrads[0] =
        SoftmaxBackwardOp::create(builder, gradientLoc(*this), dy.getType(), dy,
                                  getY(), getAxesAttr(), getLogAttr());
  return success();
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

LogicalResult SoftmaxBackwardOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  return verifyAxes(*this, getAxes(), shapeOf(getDy()).size());
}

plan::OpRules SoftmaxBackwardOp::getRules() {
  SoftmaxRules r(getDy(), getAxes(), 1);
  enum { Dy, Y, Dx, Sum };
  plan::SlotRead dy{Dy, r.whole}, y{Y, r.whole}, sum{Sum, r.kept};
  plan::SlotWrite dx{Dx, r.whole, Reduction::None};
  double flops = getLog() != 0 ? 10 : 4;
  r.rules.schedules = {
      {r.axes, {{"softmax_backward", {dy, y}, {dx}, flops}}},
      {{},
       {{"softmax_backward_sum", {dy, y}, {{Sum, r.kept, Reduction::Sum}}, 2},
        {"softmax_backward_apply", {dy, y, sum}, {dx}, flops}}}};
  return std::move(r.rules);
}

StringRef SoftmaxBackwardOp::getFamily() { return "softmax_backward"; }

DictionaryAttr SoftmaxBackwardOp::getKernelArgs() { return softmaxArgs(*this); }
