//===- PoolOps.cpp - ff.max_pool, ff.average_pool and their gradients -----===//

#include "RuleHelpers.h"
#include "Windows.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

using plan::MemoryOrder;

/// Average pools have none.
template <class Op> static ArrayRef<int64_t> dilationsOf(Op, size_t spatial) {
  static constexpr int64_t kNoDilation[] = {1, 1, 1};
  return ArrayRef(kNoDilation).take_front(spatial);
}
static ArrayRef<int64_t> dilationsOf(MaxPoolOp op, size_t) {
  return op.getDilations();
}
static ArrayRef<int64_t> dilationsOf(MaxPoolBackwardOp op, size_t) {
  return op.getDilations();
}

/// `x` is the image, whether operand or result.
template <class Op> static WindowAttributes attributesOf(Op op, Value x) {
  ArrayRef<int64_t> image = spatialExtents(x);
  return {image, op.getKernelShape(), dilationsOf(op, image.size()),
          op.getPads(), op.getStrides()};
}

/// The constraints that all pools share; `x` is the image, `y` is called
/// `yName` in `op`.
static LogicalResult verifyPool(Operation *op,
                                const WindowAttributes &attributes, Value x,
                                Value y, StringRef yName) {
  if (failed(verifyTensors(op)) || failed(attributes.verify(op)))
    return failure();
  // Constraint 1.
  plan::Shape expected = shapeOf(x), found = shapeOf(y);
  for (size_t d = 2; d < expected.size() && d < found.size(); ++d)
    expected[d] = found[d];
  if (failed(verifyShape(op, yName, expected, y)))
    return failure();
  for (auto [d, window] : llvm::enumerate(attributes.windows())) {
    StringRef name = spatialName(d, attributes.image.size());
    // Constraint 2.
    int64_t down = window.positions(), up = window.positions(true);
    int64_t extent = found[2 + d];
    if (extent != down && extent != up) {
      InFlightDiagnostic error = op->emitOpError("expected ")
                                 << yName << " with an extent of " << down;
      if (up != down)
        error << " or " << up;
      return error << " in " << name << ", found " << extent;
    }
    // Constraint 4.
    for (int64_t o = 0; o < extent; ++o)
      if (!window.touchesImage(o))
        return op->emitOpError("expected a position inside the image in every "
                               "window, found none for ")
               << name << " = " << o << " of " << yName;
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

/// Image and result have one element type, but that each may be narrow.
static LogicalResult verifyElementTypes(Operation *op, Value x, Value y) {
  Type expected = wideType(x.getType()).getElementType(),
       found = wideType(y.getType()).getElementType();
  if (expected == found)
    return success();
  return op->emitOpError(
             "expected image and result of one element type, found ")
         << expected << " and " << found;
}

/// Batch, channels, and the spatial dimensions of `image`.
static std::vector<plan::IterDim> poolSpace(Value image) {
  plan::Shape shape = shapeOf(image);
  std::vector<plan::IterDim> dims = {{"n", shape[0], plan::DimKind::Sample},
                                     {"c", shape[1], plan::DimKind::Attribute}};
  for (size_t d = 2; d < shape.size(); ++d)
    dims.push_back({spatialName(d - 2, shape.size() - 2).str(), shape[d],
                    plan::DimKind::Attribute});
  return dims;
}

/// Rules of a forward pool with `results` results (slots 1, ...).
static plan::OpRules forwardRules(StringRef kernel, const Windows &windows,
                                  Value y, int results) {
  int rank = static_cast<int>(windows.size()) + 2;
  plan::Access write = identityAccess(rank, MemoryOrder::ChannelsLast);
  plan::Access read = write;
  plan::Phase phase;
  phase.flopsPerPoint = 1;
  for (auto [d, window] : llvm::enumerate(windows)) {
    read.dims[2 + d] = window.inputs(static_cast<int>(2 + d));
    phase.flopsPerPoint *= static_cast<double>(window.kernel);
  }
  phase.kernel = kernel.str();
  phase.reads = {{0, std::move(read)}};
  for (int result = 0; result < results; ++result)
    phase.writes.push_back({1 + result, write, plan::Reduction::None});
  return onePhaseRules(poolSpace(y), std::move(phase));
}

/// Rules of a backward pool over the image `dx`; its operands, slots 0 to
/// `operands`, have the shape of the forward result.
static plan::OpRules backwardRules(StringRef kernel, const Windows &windows,
                                   Value dx, Value dy, int operands) {
  int rank = static_cast<int>(windows.size()) + 2;
  plan::Access write = identityAccess(rank, MemoryOrder::ChannelsLast);
  plan::Access read = write;
  for (auto [d, window] : llvm::enumerate(windows))
    read.dims[2 + d] = window.outputs(static_cast<int>(2 + d));
  plan::Phase phase;
  phase.kernel = kernel.str();
  for (int slot = 0; slot < operands; ++slot)
    phase.reads.push_back({slot, read});
  phase.writes = {{operands, std::move(write), plan::Reduction::None}};
  phase.flopsPerPoint = tapsPerInput(windows, spatialExtents(dy));
  return onePhaseRules(poolSpace(dx), std::move(phase));
}

static StringRef forwardFamily(Value image) {
  return byRank(image, {"pool1d", "pool2d", "pool3d"});
}
static StringRef backwardFamily(Value image) {
  return byRank(image,
                {"pool1d_backward", "pool2d_backward", "pool3d_backward"});
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
  plan::OpRules rules = forwardRules(
      "max_pool_forward", attributesOf(*this, getX()).windows(), getY(), 2);
  rules.optionalResults = {1};
  return rules;
}

SmallVector<OpOperand *> MaxPoolOp::getNarrowable() { return {&getXMutable()}; }

StringRef MaxPoolOp::getFamily() { return forwardFamily(getX()); }

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
                       attributesOf(*this, getDx()).windows(), getDx(), getDy(),
                       2);
}

SmallVector<OpOperand *> MaxPoolBackwardOp::getNarrowable() {
  return {&getDyMutable()};
}

StringRef MaxPoolBackwardOp::getFamily() { return backwardFamily(getDx()); }

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
  return success(succeeded(verifyPool(*this, attributesOf(*this, getX()),
                                      getX(), getY(), "y")) &&
                 succeeded(verifyElementTypes(*this, getX(), getY())));
}

plan::OpRules AveragePoolOp::getRules() {
  return forwardRules("average_pool_forward",
                      attributesOf(*this, getX()).windows(), getY(), 1);
}

SmallVector<OpOperand *> AveragePoolOp::getNarrowable() {
  return {&getXMutable()};
}

StringRef AveragePoolOp::getFamily() { return forwardFamily(getX()); }

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
  return success(succeeded(verifyPool(*this, attributesOf(*this, getDx()),
                                      getDx(), getDy(), "dy")) &&
                 succeeded(verifyElementTypes(*this, getDx(), getDy())));
}

plan::OpRules AveragePoolBackwardOp::getRules() {
  return backwardRules("average_pool_backward",
                       attributesOf(*this, getDx()).windows(), getDx(), getDy(),
                       1);
}

SmallVector<OpOperand *> AveragePoolBackwardOp::getNarrowable() {
  return {&getDyMutable()};
}

StringRef AveragePoolBackwardOp::getFamily() { return backwardFamily(getDx()); }

DictionaryAttr AveragePoolBackwardOp::getKernelArgs() {
  return averagePoolArgs(*this);
}
