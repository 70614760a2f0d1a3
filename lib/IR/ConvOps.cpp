//===- ConvOps.cpp - ff.conv and its gradients ----------------------------===//

#include "Clamp.h"
#include "Epilogue.h"
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
  bool transposed;
  WindowAttributes attributes;

  template <class Op>
  Conv(Op op, Value x, StringRef xName, Value w, StringRef wName, Value y,
       StringRef yName)
      : x(x), w(w), y(y), xName(xName), wName(wName), yName(yName),
        group(op.getGroup()), transposed(op.getTransposed()),
        attributes{spatialExtents(x), spatialExtents(w), op.getDilations(),
                   op.getPads(), op.getStrides()} {}

  LogicalResult verify(Operation *op) const;

  size_t spatial() const { return attributes.image.size(); }
  double taps() const {
    double taps = 1;
    for (int64_t extent : attributes.kernel)
      taps *= static_cast<double>(extent);
    return taps;
  }

  // Dimensions of iteration spaces.
  plan::IterDim n(DimKind kind) const { return {"n", shapeOf(x)[0], kind}; }
  plan::IterDim g() const { return {"g", group, DimKind::Parameter}; }
  /// Channels of y in a group, or of x.
  plan::IterDim c(DimKind kind) const {
    return {transposed ? "k" : "c", shapeOf(w)[0] / group, kind};
  }
  plan::IterDim k(DimKind kind) const {
    return {transposed ? "c" : "k", shapeOf(w)[1], kind};
  }
  /// The spatial dimensions of `image`.
  void append(std::vector<plan::IterDim> &dims, Value image,
              DimKind kind) const {
    for (auto [d, extent] : llvm::enumerate(spatialExtents(image)))
      dims.push_back({spatialName(d, spatial()).str(), extent, kind});
  }
};
} // namespace

LogicalResult Conv::verify(Operation *op) const {
  if (failed(verifyTensors(op)))
    return failure();
  // Constraint 1, the ranks.
  size_t rank = shapeOf(x).size();
  for (auto [name, value] : {std::pair(wName, w), std::pair(yName, y)})
    if (size_t found = shapeOf(value).size(); found != rank)
      return op->emitOpError() << "expected " << name << " of the rank of "
                               << xName << ", " << rank << ", found " << found;
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
  plan::Shape result = {image[0], weights[0]};
  for (const Window &window : attributes.windows())
    result.push_back(window.positions());
  return verifyShape(op, yName, result, y);
}

/// Where every channel is a convolution of its own, nothing is added up but the
/// taps of a kernel, and memory decides.
template <class Op>
static SmallVector<OpOperand *> multipliedOf(Op op, OpOperand &first,
                                             OpOperand &second) {
  if (op.getGroup() > 1)
    return {};
  return {&first, &second};
}

/// Constraint 5 of what may write a result as narrow as its operands, unless it
/// has groups.
template <class Op>
static LogicalResult verifyConvMultiplied(Op op, Value first, Value second,
                                          SmallVector<Value, 2> others) {
  Value result = op->getResult(0);
  if (op.getGroup() > 1 ||
      getElementTypeOrSelf(result) != getElementTypeOrSelf(first))
    others.push_back(result);
  return verifyMultiplied(op, {first, second}, others);
}

/// Kernel arguments of all three operators.
template <class Op> static SmallVector<NamedAttribute> convArgs(Op op) {
  Builder builder(op.getContext());
  return {builder.getNamedAttr("dilations", op.getDilationsAttr()),
          builder.getNamedAttr("group", op.getGroupAttr()),
          builder.getNamedAttr("pads", op.getPadsAttr()),
          builder.getNamedAttr("strides", op.getStridesAttr())};
}

/// Access to an image: `leading` dimensions (batch and channels), then one per
/// spatial dimension.
template <class Spatial>
static plan::Access image(std::vector<DimMap> leading, const Conv &conv,
                          Spatial spatial) {
  for (size_t d = 0; d < conv.spatial(); ++d)
    leading.push_back(spatial(d));
  return {std::move(leading), MemoryOrder::ChannelsLast, {}};
}

/// Access to the weights; kernel positions are not split.
static plan::Access weights(int g, int c, int k, const Conv &conv) {
  std::vector<DimMap> dims = {DimMap::digits({g, c}), DimMap::dim(k)};
  dims.resize(2 + conv.spatial(), DimMap::full());
  return {std::move(dims), MemoryOrder::RowMajor, {}};
}

/// The gradient with respect to `w`, of the location `loc`.
template <class Op>
static Value buildWeightGradient(OpBuilder &builder, Location loc, Op op,
                                 Value x, Value dy) {
  return ConvBackwardWeightsOp::create(builder, loc, op.getW().getType(), x, dy,
                                       op.getDilationsAttr(), op.getGroupAttr(),
                                       op.getPadsAttr(), op.getStridesAttr(),
                                       op.getTransposedAttr());
}

//===----------------------------------------------------------------------===//
// ConvOp
//===----------------------------------------------------------------------===//

static Conv convOf(ConvOp op) {
  return {op, op.getX(), "x", op.getW(), "w", op.getY(), "y"};
}

LogicalResult ConvOp::verify() {
  if (failed(convOf(*this).verify(*this)))
    return failure();
  // Constraint 5.
  SmallVector<Value, 2> others;
  if (Value b = getB())
    others.push_back(b);
  if (failed(verifyConvMultiplied(*this, getX(), getW(), others)))
    return failure();
  // Constraint 1.
  if (Value b = getB())
    return verifyShape(*this, "b", {shapeOf(getW())[0]}, b);
  return success();
}

SmallVector<Value> ConvOp::getOperandSlots() {
  return {getX(), getW(), getB()};
}

SmallVector<OpOperand *> ConvOp::getMultipliedOperands() {
  return multipliedOf(*this, getXMutable(), getWMutable());
}

plan::OpRules ConvOp::getRules() {
  Conv conv = convOf(*this);
  Windows windows = conv.attributes.windows();
  enum { n, g, c, first };
  const int k = first + static_cast<int>(conv.spatial());
  std::vector<plan::IterDim> dims = {conv.n(DimKind::Sample), conv.g(),
                                     conv.c(DimKind::Parameter)};
  conv.append(dims, getY(), DimKind::Attribute);
  dims.push_back(conv.k(DimKind::Reduction));

  plan::Phase phase;
  phase.kernel = "conv_forward";
  phase.reads = {
      {0, image({DimMap::dim(n), DimMap::digits({g, k})}, conv,
                [&](int d) { return windows[d].inputs(first + d); })},
      {1, weights(g, c, k, conv)},
      {2, {{DimMap::digits({g, c})}, MemoryOrder::RowMajor, {k}}}};
  phase.writes = {{3,
                   image({DimMap::dim(n), DimMap::digits({g, c})}, conv,
                         [&](int d) { return DimMap::dim(first + d); }),
                   plan::Reduction::Sum}};
  // A result is clamped once, whatever is contracted.
  phase.flopsPerPoint =
      2 * conv.taps() + clampFlops(*this) / static_cast<double>(dims[k].extent);
  return sumRules(std::move(dims), std::move(phase), {}, {k}, *this);
}

DictionaryAttr ConvOp::getPhaseArgs(plan::PhaseKind part) {
  return sumArgs(*this, part);
}

StringRef ConvOp::getFamily() {
  return byRank(getX(), {"conv1d", "conv2d", "conv3d"});
}

DictionaryAttr ConvOp::getKernelArgs() {
  SmallVector<NamedAttribute> args = convArgs(*this);
  args.push_back(clampArg(*this));
  return DictionaryAttr::get(getContext(), args);
}

LogicalResult ConvOp::buildGradient(OpBuilder &builder,
                                    ArrayRef<Value> resultGrads,
                                    ArrayRef<bool> needed,
                                    SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(3, nullptr);
  if (!resultGrads[0])
    return success();
  Value dy = clampGradient(builder, *this, resultGrads[0]);
  if (needed[0])
    operandGrads[0] = ConvBackwardDataOp::create(
        builder, gradientLoc(*this, "data"), getX().getType(), dy, getW(),
        getDilationsAttr(), getGroupAttr(), getPadsAttr(), getStridesAttr(),
        getTransposedAttr());
  if (needed[1])
    operandGrads[1] = buildWeightGradient(
        builder, gradientLoc(*this, "weights"), *this, getX(), dy);
  if (getB() && needed[2]) {
    auto type = cast<RankedTensorType>(dy.getType());
    SmallVector<int64_t> axes = {0};
    for (int64_t d = 2; d < type.getRank(); ++d)
      axes.push_back(d);
    operandGrads[2] = ReduceSumOp::create(
        builder, gradientLoc(*this, "bias"),
        reducedType(type, axes, /*keepdims=*/false), dy, axes, 0);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ConvBackwardDataOp
//===----------------------------------------------------------------------===//

static Conv convOf(ConvBackwardDataOp op) {
  return {op, op.getDx(), "dx", op.getW(), "w", op.getDy(), "dy"};
}

LogicalResult ConvBackwardDataOp::verify() {
  if (failed(convOf(*this).verify(*this)))
    return failure();
  return verifyConvMultiplied(*this, getDy(), getW(), {});
}

SmallVector<OpOperand *> ConvBackwardDataOp::getMultipliedOperands() {
  return multipliedOf(*this, getDyMutable(), getWMutable());
}

plan::OpRules ConvBackwardDataOp::getRules() {
  Conv conv = convOf(*this);
  Windows windows = conv.attributes.windows();
  enum { n, g, k, first };
  const int c = first + static_cast<int>(conv.spatial());
  std::vector<plan::IterDim> dims = {conv.n(DimKind::Sample), conv.g(),
                                     conv.k(DimKind::Parameter)};
  conv.append(dims, getDx(), DimKind::Attribute);
  dims.push_back(conv.c(DimKind::Reduction));

  plan::Phase phase;
  phase.kernel = "conv_backward_data";
  phase.reads = {
      {0, image({DimMap::dim(n), DimMap::digits({g, c})}, conv,
                [&](int d) { return windows[d].outputs(first + d); })},
      {1, weights(g, c, k, conv)}};
  phase.writes = {{2,
                   image({DimMap::dim(n), DimMap::digits({g, k})}, conv,
                         [&](int d) { return DimMap::dim(first + d); }),
                   plan::Reduction::Sum}};
  phase.flopsPerPoint = 2 * tapsPerInput(windows, spatialExtents(getDy()));
  return sumRules(std::move(dims), std::move(phase), {}, {c}, *this);
}

DictionaryAttr ConvBackwardDataOp::getPhaseArgs(plan::PhaseKind part) {
  return sumArgs(*this, part);
}

StringRef ConvBackwardDataOp::getFamily() {
  if (!getTransposed())
    return "conv_backward_data";
  return byRank(getDx(),
                {"conv_transpose1d", "conv_transpose2d", "conv_transpose3d"});
}

DictionaryAttr ConvBackwardDataOp::getKernelArgs() {
  return DictionaryAttr::get(getContext(), convArgs(*this));
}

LogicalResult ConvBackwardDataOp::buildGradient(
    OpBuilder &builder, ArrayRef<Value> resultGrads, ArrayRef<bool> needed,
    SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(2, nullptr);
  Value grad = resultGrads[0];
  if (!grad)
    return success();
  if (needed[0])
    operandGrads[0] = ConvOp::create(
        builder, gradientLoc(*this, "data"), getDy().getType(), grad, getW(),
        Value(), getDilationsAttr(), getGroupAttr(), getPadsAttr(),
        getStridesAttr(), getTransposedAttr(), /*clamp=*/DenseF64ArrayAttr());
  if (needed[1])
    operandGrads[1] = buildWeightGradient(
        builder, gradientLoc(*this, "weights"), *this, grad, getDy());
  return success();
}

//===----------------------------------------------------------------------===//
// ConvBackwardWeightsOp
//===----------------------------------------------------------------------===//

static Conv convOf(ConvBackwardWeightsOp op) {
  return {op, op.getX(), "x", op.getDw(), "dw", op.getDy(), "dy"};
}

LogicalResult ConvBackwardWeightsOp::verify() {
  if (failed(convOf(*this).verify(*this)))
    return failure();
  return verifyMultiplied(*this, {getX(), getDy()}, {getDw()});
}

SmallVector<OpOperand *> ConvBackwardWeightsOp::getMultipliedOperands() {
  return multipliedOf(*this, getXMutable(), getDyMutable());
}

plan::OpRules ConvBackwardWeightsOp::getRules() {
  Conv conv = convOf(*this);
  Windows windows = conv.attributes.windows();
  enum { g, c, k, n, first };
  std::vector<plan::IterDim> dims = {conv.g(), conv.c(DimKind::Parameter),
                                     conv.k(DimKind::Parameter),
                                     conv.n(DimKind::Reduction)};
  conv.append(dims, getDy(), DimKind::Reduction);

  plan::Phase phase;
  phase.kernel = "conv_backward_weights";
  phase.reads = {
      {0, image({DimMap::dim(n), DimMap::digits({g, k})}, conv,
                [&](int d) { return windows[d].inputs(first + d); })},
      {1, image({DimMap::dim(n), DimMap::digits({g, c})}, conv,
                [&](int d) { return DimMap::dim(first + d); })}};
  phase.writes = {{2, weights(g, c, k, conv), plan::Reduction::Sum}};
  phase.flopsPerPoint = 2 * conv.taps();
  return onePhaseRules(std::move(dims), std::move(phase));
}

StringRef ConvBackwardWeightsOp::getFamily() { return "conv_backward_weights"; }

DictionaryAttr ConvBackwardWeightsOp::getKernelArgs() {
  return DictionaryAttr::get(getContext(), convArgs(*this));
}
