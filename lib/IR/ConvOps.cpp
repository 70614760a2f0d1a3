//===- ConvOps.cpp - ff.conv2d and its gradients --------------------------===//

#include "RuleHelpers.h"
#include "Windows.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

using plan::DimKind;
using plan::DimMap;
using plan::MemoryOrder;

namespace {
/// What the three operators have in common: the tensors of the forward
/// convolution, whichever of them are operands here.
struct Conv {
  Value x, w, y;
  /// Their names in this operator, for messages.
  StringRef xName, wName, yName;
  int64_t group;
  WindowAttributes attributes;

  template <class Op>
  Conv(Op op, Value x, StringRef xName, Value w, StringRef wName, Value y,
       StringRef yName)
      : x(x), w(w), y(y), xName(xName), wName(wName), yName(yName),
        group(op.getGroup()), attributes{spatialExtents(x), spatialExtents(w),
                                         op.getDilations(), op.getPads(),
                                         op.getStrides()} {}

  LogicalResult verify(Operation *op) const;

  int64_t channelsOut() const { return shapeOf(w)[0] / group; }
  int64_t channelsIn() const { return shapeOf(w)[1]; }
  double taps() const {
    return static_cast<double>(attributes.kernel[0] * attributes.kernel[1]);
  }
};
} // namespace

LogicalResult Conv::verify(Operation *op) const {
  if (failed(verifyTensors(op)))
    return failure();
  // Constraint 3.
  if (group < 1)
    return op->emitOpError("expected a positive group, found ") << group;
  if (failed(attributes.verify(op)))
    return failure();
  // Constraint 1.
  plan::Shape image = shapeOf(x), weights = shapeOf(w);
  if (image[1] != group * weights[1])
    return op->emitOpError()
           << "expected " << xName << " with " << group * weights[1]
           << " channels, the group times the channels of " << wName
           << ", found " << image[1];
  if (weights[0] % group != 0)
    return op->emitOpError() << "expected output channels of " << wName
                             << " in a multiple of the group " << group
                             << ", found " << weights[0];
  // Constraint 2.
  Windows windows = attributes.windows();
  return verifyShape(
      op, yName,
      {image[0], weights[0], windows[0].positions(), windows[1].positions()},
      y);
}

/// Kernel arguments of all three operators.
template <class Op> static DictionaryAttr convArgs(Op op) {
  Builder builder(op.getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("dilations", op.getDilationsAttr()),
       builder.getNamedAttr("group", op.getGroupAttr()),
       builder.getNamedAttr("pads", op.getPadsAttr()),
       builder.getNamedAttr("strides", op.getStridesAttr())});
}

static plan::Access image(std::vector<DimMap> dims) {
  return {std::move(dims), MemoryOrder::ChannelsLast, {}};
}
static plan::Access rowMajor(std::vector<DimMap> dims) {
  return {std::move(dims), MemoryOrder::RowMajor, {}};
}

//===----------------------------------------------------------------------===//
// Conv2dOp
//===----------------------------------------------------------------------===//

static Conv convOf(Conv2dOp op) {
  return {op, op.getX(), "x", op.getW(), "w", op.getY(), "y"};
}

LogicalResult Conv2dOp::verify() {
  if (failed(convOf(*this).verify(*this)))
    return failure();
  // Constraint 1.
  if (Value b = getB())
    return verifyShape(*this, "b", {shapeOf(getW())[0]}, b);
  return success();
}

SmallVector<Value> Conv2dOp::getOperandSlots() {
  return {getX(), getW(), getB()};
}

plan::OpRules Conv2dOp::getRules() {
  Conv conv = convOf(*this);
  Windows windows = conv.attributes.windows();
  plan::Shape y = shapeOf(getY());
  enum { n, g, c, h, w, k };
  plan::Phase phase;
  phase.kernel = "conv2d_forward";
  phase.reads = {{0, image({DimMap::dim(n), DimMap::digits({g, k}),
                            windows[0].inputs(h), windows[1].inputs(w)})},
                 {1, rowMajor({DimMap::digits({g, c}), DimMap::dim(k),
                               DimMap::full(), DimMap::full()})},
                 {2, {{DimMap::digits({g, c})}, MemoryOrder::RowMajor, {k}}}};
  phase.writes = {{3,
                   image({DimMap::dim(n), DimMap::digits({g, c}),
                          DimMap::dim(h), DimMap::dim(w)}),
                   plan::Reduction::Sum}};
  phase.flopsPerPoint = 2 * conv.taps();
  return onePhaseRules({{"n", y[0], DimKind::Sample},
                        {"g", conv.group, DimKind::Parameter},
                        {"c", conv.channelsOut(), DimKind::Parameter},
                        {"h", y[2], DimKind::Attribute},
                        {"w", y[3], DimKind::Attribute},
                        {"k", conv.channelsIn(), DimKind::Reduction}},
                       std::move(phase));
}

StringRef Conv2dOp::getFamily() { return "conv2d"; }

DictionaryAttr Conv2dOp::getKernelArgs() { return convArgs(*this); }

LogicalResult Conv2dOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> resultGrads,
                                      ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(3, nullptr);
  Value dy = resultGrads[0];
  if (!dy)
    return success();
  if (needed[0])
    operandGrads[0] = Conv2dBackwardDataOp::create(
        builder, gradientLoc(*this, "data"), getX().getType(), dy, getW(),
        getDilationsAttr(), getGroupAttr(), getPadsAttr(), getStridesAttr());
  if (needed[1])
    operandGrads[1] = Conv2dBackwardWeightsOp::create(
        builder, gradientLoc(*this, "weights"), getW().getType(), getX(), dy,
        getDilationsAttr(), getGroupAttr(), getPadsAttr(), getStridesAttr());
  if (getB() && needed[2]) {
    const int64_t axes[] = {0, 2, 3};
    auto type = cast<RankedTensorType>(dy.getType());
    operandGrads[2] = ReduceSumOp::create(
        builder, gradientLoc(*this, "bias"),
        reducedType(type, axes, /*keepdims=*/false), dy, axes, 0);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Conv2dBackwardDataOp
//===----------------------------------------------------------------------===//

static Conv convOf(Conv2dBackwardDataOp op) {
  return {op, op.getDx(), "dx", op.getW(), "w", op.getDy(), "dy"};
}

LogicalResult Conv2dBackwardDataOp::verify() {
  return convOf(*this).verify(*this);
}

plan::OpRules Conv2dBackwardDataOp::getRules() {
  Conv conv = convOf(*this);
  Windows windows = conv.attributes.windows();
  plan::Shape dx = shapeOf(getDx());
  enum { n, g, k, h, w, c };
  plan::Phase phase;
  phase.kernel = "conv2d_backward_data";
  phase.reads = {{0, image({DimMap::dim(n), DimMap::digits({g, c}),
                            windows[0].outputs(h), windows[1].outputs(w)})},
                 {1, rowMajor({DimMap::digits({g, c}), DimMap::dim(k),
                               DimMap::full(), DimMap::full()})}};
  phase.writes = {{2,
                   image({DimMap::dim(n), DimMap::digits({g, k}),
                          DimMap::dim(h), DimMap::dim(w)}),
                   plan::Reduction::Sum}};
  phase.flopsPerPoint = 2 * tapsPerInput(windows, spatialExtents(getDy()));
  return onePhaseRules({{"n", dx[0], DimKind::Sample},
                        {"g", conv.group, DimKind::Parameter},
                        {"k", conv.channelsIn(), DimKind::Parameter},
                        {"h", dx[2], DimKind::Attribute},
                        {"w", dx[3], DimKind::Attribute},
                        {"c", conv.channelsOut(), DimKind::Reduction}},
                       std::move(phase));
}

StringRef Conv2dBackwardDataOp::getFamily() { return "conv2d_backward_data"; }

DictionaryAttr Conv2dBackwardDataOp::getKernelArgs() { return convArgs(*this); }

//===----------------------------------------------------------------------===//
// Conv2dBackwardWeightsOp
//===----------------------------------------------------------------------===//

static Conv convOf(Conv2dBackwardWeightsOp op) {
  return {op, op.getX(), "x", op.getDw(), "dw", op.getDy(), "dy"};
}

LogicalResult Conv2dBackwardWeightsOp::verify() {
  return convOf(*this).verify(*this);
}

plan::OpRules Conv2dBackwardWeightsOp::getRules() {
  Conv conv = convOf(*this);
  Windows windows = conv.attributes.windows();
  plan::Shape dy = shapeOf(getDy());
  enum { g, c, k, n, h, w };
  plan::Phase phase;
  phase.kernel = "conv2d_backward_weights";
  phase.reads = {{0, image({DimMap::dim(n), DimMap::digits({g, k}),
                            windows[0].inputs(h), windows[1].inputs(w)})},
                 {1, image({DimMap::dim(n), DimMap::digits({g, c}),
                            DimMap::dim(h), DimMap::dim(w)})}};
  phase.writes = {{2,
                   rowMajor({DimMap::digits({g, c}), DimMap::dim(k),
                             DimMap::full(), DimMap::full()}),
                   plan::Reduction::Sum}};
  phase.flopsPerPoint = 2 * conv.taps();
  return onePhaseRules({{"g", conv.group, DimKind::Parameter},
                        {"c", conv.channelsOut(), DimKind::Parameter},
                        {"k", conv.channelsIn(), DimKind::Parameter},
                        {"n", dy[0], DimKind::Reduction},
                        {"h", dy[2], DimKind::Reduction},
                        {"w", dy[3], DimKind::Reduction}},
                       std::move(phase));
}

StringRef Conv2dBackwardWeightsOp::getFamily() {
  return "conv2d_backward_weights";
}

DictionaryAttr Conv2dBackwardWeightsOp::getKernelArgs() {
  return convArgs(*this);
}
