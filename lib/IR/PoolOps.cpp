//===- PoolOps.cpp - ff.max_pool, ff.average_pool and their gradients -----===//

#include "RuleHelpers.h"
#include "Windows.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

using plan::MemoryOrder;

static constexpr int64_t kNoDilation[] = {1, 1};

template <class Op> static ArrayRef<int64_t> dilationsOf(Op) {
  return kNoDilation;
}
static ArrayRef<int64_t> dilationsOf(MaxPoolOp op) { return op.getDilations(); }
static ArrayRef<int64_t> dilationsOf(MaxPoolBackwardOp op) {
  return op.getDilations();
}

/// `x` is the image, whether operand or result.
template <class Op> static WindowAttributes attributesOf(Op op, Value x) {
  return {spatialExtents(x), op.getKernelShape(), dilationsOf(op), op.getPads(),
          op.getStrides()};
}

/// The constraints that all pools share; `x` is called `xName` in `op`, `y`
/// `yName`.
static LogicalResult verifyPool(Operation *op,
                                const WindowAttributes &attributes, Value x,
                                Value y, StringRef yName) {
  if (failed(verifyTensors(op)) || failed(attributes.verify(op)))
    return failure();
  // Constraint 1.
  plan::Shape expected = shapeOf(x), found = shapeOf(y);
  expected[2] = found[2];
  expected[3] = found[3];
  if (failed(verifyShape(op, yName, expected, y)))
    return failure();
  Windows windows = attributes.windows();
  for (int d = 0; d < 2; ++d) {
    const Window &window = windows[d];
    StringRef what = d == 0 ? "row" : "column";
    // Constraint 2.
    int64_t down = window.positions(), up = window.positions(true);
    int64_t extent = found[2 + d];
    if (extent != down && extent != up) {
      InFlightDiagnostic error = op->emitOpError("expected ")
                                 << yName << " with " << down;
      if (up != down)
        error << " or " << up;
      return error << " " << what << "s, found " << extent;
    }
    // Constraint 4.
    for (int64_t o = 0; o < extent; ++o)
      if (!window.touchesImage(o))
        return op->emitOpError("expected a position inside the image in every "
                               "window, found none for ")
               << yName << " " << what << " " << o;
  }
  return success();
}

/// Constraint 1 of the max pools, as far as it concerns the index.
static LogicalResult verifyIndex(Operation *op, Value y, Value index) {
  auto type = cast<RankedTensorType>(index.getType());
  if (!type.getElementType().isInteger(32))
    return op->emitOpError("expected index of type i32, found ")
           << type.getElementType();
  return verifyShape(op, "index", shapeOf(y), index);
}

static LogicalResult verifyElementTypes(Operation *op, Value x, Value y) {
  Type expected = getElementTypeOrSelf(x), found = getElementTypeOrSelf(y);
  if (expected == found)
    return success();
  return op->emitOpError(
             "expected image and result of one element type, found ")
         << expected << " and " << found;
}

/// Rules of a forward pool with `results` results (slots 1, ...).
static plan::OpRules forwardRules(StringRef kernel, const Windows &windows,
                                  const plan::Shape &y, int results) {
  plan::Access read = identityAccess(4, MemoryOrder::ChannelsLast);
  for (int d = 0; d < 2; ++d)
    read.dims[2 + d] = windows[d].inputs(2 + d);
  plan::Phase phase;
  phase.kernel = kernel.str();
  phase.reads = {{0, std::move(read)}};
  for (int result = 0; result < results; ++result)
    phase.writes.push_back({1 + result,
                            identityAccess(4, MemoryOrder::ChannelsLast),
                            plan::Reduction::None});
  phase.flopsPerPoint =
      static_cast<double>(windows[0].kernel * windows[1].kernel);
  return onePhaseRules(dimsByRank(y), std::move(phase));
}

/// Rules of a backward pool over the image `dx`; its operands, slots 0 to
/// `operands`, have the shape of the forward result.
static plan::OpRules backwardRules(StringRef kernel, const Windows &windows,
                                   const plan::Shape &dx, Value dy,
                                   int operands) {
  plan::Access read = identityAccess(4, MemoryOrder::ChannelsLast);
  for (int d = 0; d < 2; ++d)
    read.dims[2 + d] = windows[d].outputs(2 + d);
  plan::Phase phase;
  phase.kernel = kernel.str();
  for (int slot = 0; slot < operands; ++slot)
    phase.reads.push_back({slot, read});
  phase.writes = {{operands, identityAccess(4, MemoryOrder::ChannelsLast),
                   plan::Reduction::None}};
  phase.flopsPerPoint = tapsPerInput(windows, spatialExtents(dy));
  return onePhaseRules(dimsByRank(dx), std::move(phase));
}

//===----------------------------------------------------------------------===//
// MaxPoolOp
//===----------------------------------------------------------------------===//

template <class Op> static DictionaryAttr maxPoolArgs(Op op) {
  Builder builder(op.getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("dilations", op.getDilationsAttr()),
       builder.getNamedAttr("kernel_shape", op.getKernelShapeAttr()),
       builder.getNamedAttr("pads", op.getPadsAttr()),
       builder.getNamedAttr("strides", op.getStridesAttr())});
}

LogicalResult MaxPoolOp::verify() {
  if (failed(verifyPool(*this, attributesOf(*this, getX()), getX(), getY(),
                        "y")) ||
      failed(verifyElementTypes(*this, getX(), getY())))
    return failure();
  return verifyIndex(*this, getY(), getIndex());
}

plan::OpRules MaxPoolOp::getRules() {
  return forwardRules("max_pool_forward", attributesOf(*this, getX()).windows(),
                      shapeOf(getY()), 2);
}

StringRef MaxPoolOp::getFamily() { return "pool2d"; }

DictionaryAttr MaxPoolOp::getKernelArgs() { return maxPoolArgs(*this); }

LogicalResult MaxPoolOp::buildGradient(OpBuilder &builder,
                                       ArrayRef<Value> resultGrads,
                                       ArrayRef<bool> needed,
                                       SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  if (Value dy = resultGrads[0]; dy && needed[0])
    operandGrads[0] = MaxPoolBackwardOp::create(
        builder, gradientLoc(*this), getX().getType(), dy, getIndex(),
        getDilationsAttr(), getKernelShapeAttr(), getPadsAttr(),
        getStridesAttr());
  return success();
}

LogicalResult MaxPoolBackwardOp::verify() {
  if (failed(verifyPool(*this, attributesOf(*this, getDx()), getDx(), getDy(),
                        "dy")) ||
      failed(verifyElementTypes(*this, getDx(), getDy())))
    return failure();
  return verifyIndex(*this, getDy(), getIndex());
}

plan::OpRules MaxPoolBackwardOp::getRules() {
  return backwardRules("max_pool_backward",
                       attributesOf(*this, getDx()).windows(), shapeOf(getDx()),
                       getDy(), 2);
}

StringRef MaxPoolBackwardOp::getFamily() { return "pool2d_backward"; }

DictionaryAttr MaxPoolBackwardOp::getKernelArgs() { return maxPoolArgs(*this); }

//===----------------------------------------------------------------------===//
// AveragePoolOp
//===----------------------------------------------------------------------===//

template <class Op> static DictionaryAttr averagePoolArgs(Op op) {
  Builder builder(op.getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("count_include_pad", op.getCountIncludePadAttr()),
       builder.getNamedAttr("kernel_shape", op.getKernelShapeAttr()),
       builder.getNamedAttr("pads", op.getPadsAttr()),
       builder.getNamedAttr("strides", op.getStridesAttr())});
}

LogicalResult AveragePoolOp::verify() {
  return verifyPool(*this, attributesOf(*this, getX()), getX(), getY(), "y");
}

plan::OpRules AveragePoolOp::getRules() {
  return forwardRules("average_pool_forward",
                      attributesOf(*this, getX()).windows(), shapeOf(getY()),
                      1);
}

StringRef AveragePoolOp::getFamily() { return "pool2d"; }

DictionaryAttr AveragePoolOp::getKernelArgs() { return averagePoolArgs(*this); }

LogicalResult
AveragePoolOp::buildGradient(OpBuilder &builder, ArrayRef<Value> resultGrads,
                             ArrayRef<bool> needed,
                             SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  if (Value dy = resultGrads[0]; dy && needed[0])
    operandGrads[0] = AveragePoolBackwardOp::create(
        builder, gradientLoc(*this), getX().getType(), dy,
        getCountIncludePadAttr(), getKernelShapeAttr(), getPadsAttr(),
        getStridesAttr());
  return success();
}

LogicalResult AveragePoolBackwardOp::verify() {
  return verifyPool(*this, attributesOf(*this, getDx()), getDx(), getDy(),
                    "dy");
}

plan::OpRules AveragePoolBackwardOp::getRules() {
  return backwardRules("average_pool_backward",
                       attributesOf(*this, getDx()).windows(), shapeOf(getDx()),
                       getDy(), 1);
}

StringRef AveragePoolBackwardOp::getFamily() { return "pool2d_backward"; }

DictionaryAttr AveragePoolBackwardOp::getKernelArgs() {
  return averagePoolArgs(*this);
}
