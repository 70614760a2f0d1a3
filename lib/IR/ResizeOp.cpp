//===- ResizeOp.cpp - ff.resize and its gradient --------------------------===//

#include "RuleHelpers.h"
#include "ffc/IR/ResizeTaps.h"

#include "llvm/ADT/StringExtras.h"

#include <cmath>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

/// The dimensions; `x` is the small tensor of an enlargement, `y` the other,
/// whichever is the operand.
template <class Op>
static SmallVector<ResizeDim> dimsOf(Op op, Value x, Value y) {
  SmallVector<ResizeDim> dims;
  ArrayRef<double> roi = op.getRoi(), scales = op.getScales();
  plan::Shape from = shapeOf(x), to = shapeOf(y);
  for (size_t d = 0, rank = from.size(); d < rank; ++d)
    dims.push_back({from[d], to[d], scales[d], op.getCoordinates(),
                    op.getMode(), op.getNearest(),
                    op.getCubicCoeffA().convertToDouble(),
                    op.getExcludeOutside() != 0, roi.empty() ? 0 : roi[d],
                    roi.empty() ? 1 : roi[rank + d], op.getAntialias() != 0});
  return dims;
}

static LogicalResult verifyWord(Operation *op, StringRef attribute,
                                StringRef word, ArrayRef<StringRef> words) {
  if (llvm::is_contained(words, word))
    return success();
  return op->emitOpError("expected ")
         << attribute << " to be one of " << llvm::join(words, ", ")
         << ", found '" << word << "'";
}

template <class Op> static LogicalResult verifyResize(Op op, Value x, Value y) {
  if (failed(verifyTensors(op)))
    return failure();
  plan::Shape from = shapeOf(x), to = shapeOf(y);
  ArrayRef<double> scales = op.getScales();
  // Constraint 1.
  if (from.size() != to.size())
    return op.emitOpError("expected operand and result of one rank, found ")
           << from.size() << " and " << to.size();
  if (scales.size() != from.size() ||
      llvm::any_of(scales, [](double scale) { return !(scale > 0); }))
    return op.emitOpError("expected ")
           << from.size() << " positive scales, found [" << scales << "]";
  // Constraint 2.
  if (failed(verifyWord(op, "coordinates", op.getCoordinates(),
                        {"half_pixel", "half_pixel_symmetric",
                         "pytorch_half_pixel", "align_corners", "asymmetric",
                         "tf_crop_and_resize"})) ||
      failed(verifyWord(op, "mode", op.getMode(),
                        {"nearest", "linear", "cubic"})) ||
      failed(verifyWord(
          op, "nearest", op.getNearest(),
          {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"})))
    return failure();
  // Constraint 3.
  for (size_t d = 0; d < from.size(); ++d) {
    double exact = static_cast<double>(from[d]) * scales[d];
    if (std::fabs(exact - static_cast<double>(to[d])) >= 1)
      return op.emitOpError("expected extent ")
             << static_cast<int64_t>(exact) << " in dimension " << d
             << " after scaling, found " << to[d];
  }
  // Constraint 4.
  ArrayRef<double> roi = op.getRoi();
  size_t expected =
      op.getCoordinates() == "tf_crop_and_resize" ? 2 * from.size() : 0;
  if (roi.size() != expected ||
      llvm::any_of(roi, [](double part) { return !(part >= 0 && part <= 1); }))
    return op.emitOpError("expected a roi of ")
           << expected << " numbers from 0 to 1, found [" << roi << "]";
  return success();
}

namespace {
/// How a tile of one side of a dimension's resize sees the other.
struct ResizeAccess {
  plan::DimMap forward, backward;
  bool splits = true;
};
} // namespace

/// Where one extent is a multiple of the other, blocks of positions correspond,
/// except for some positions that interpolation reaches beyond.
static ResizeAccess accessOf(const ResizeDim &dim, int d) {
  if (dim.isCopied())
    return {plan::DimMap::dim(d), plan::DimMap::dim(d)};
  bool grows = dim.to % dim.from == 0;
  if (!grows && dim.from % dim.to != 0)
    return {plan::DimMap::full(), plan::DimMap::full(), false};
  int64_t factor = grows ? dim.to / dim.from : dim.from / dim.to;
  int64_t below = 0, above = 0;
  for (int64_t o = 0; o < dim.to; ++o)
    for (const ResizeTap &tap : dim.taps(o)) {
      int64_t start = grows ? o / factor : o * factor;
      below = std::max(below, start - tap.position);
      above = std::max(above, tap.position - start);
    }
  int64_t reach = below + 1 + above;
  if (!grows)
    return {plan::DimMap::window(d, factor, reach, below),
            plan::DimMap::inverse(d, factor, reach, below)};
  // Operand position i is a window of results.
  reach *= factor;
  int64_t pad = above * factor;
  return {plan::DimMap::inverse(d, factor, reach, pad),
          plan::DimMap::window(d, factor, reach, pad)};
}

static plan::OpRules resizeRules(ArrayRef<ResizeDim> resized,
                                 const plan::Shape &result, StringRef kernel,
                                 bool isForward) {
  int rank = static_cast<int>(resized.size());
  // Lines of channels are copied as they are.
  bool copiesChannels =
      rank >= 3 && resized[0].isCopied() && resized[1].isCopied();
  plan::Access write =
      identityAccess(rank, copiesChannels ? plan::MemoryOrder::ChannelsLast
                                          : plan::MemoryOrder::RowMajor);
  plan::Access read = write;
  std::vector<int> unsplit;
  double taps = 1;
  for (int d = 0; d < rank; ++d) {
    const ResizeDim &dim = resized[d];
    ResizeAccess access = accessOf(dim, d);
    read.dims[d] = isForward ? access.forward : access.backward;
    if (!access.splits)
      unsplit.push_back(d);
    if (!dim.isCopied())
      taps *= dim.mode == "nearest"
                  ? 1
                  : (dim.mode == "linear" ? 2 : 4) * dim.spread();
    if (!isForward)
      taps *= static_cast<double>(dim.to) / static_cast<double>(dim.from);
  }
  plan::Phase phase;
  phase.kernel = kernel.str();
  phase.reads = {{0, std::move(read)}};
  phase.writes = {{1, std::move(write), plan::Reduction::None}};
  phase.flopsPerPoint = 2 * taps;
  return onePhaseRules(dimsByRank(result), std::move(phase),
                       std::move(unsplit));
}

template <class Op> static DictionaryAttr resizeArgs(Op op) {
  Builder builder(op.getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("antialias", op.getAntialiasAttr()),
       builder.getNamedAttr("coordinates", op.getCoordinatesAttr()),
       builder.getNamedAttr("cubic_coeff_a", op.getCubicCoeffAAttr()),
       builder.getNamedAttr("exclude_outside", op.getExcludeOutsideAttr()),
       builder.getNamedAttr("mode", op.getModeAttr()),
       builder.getNamedAttr("nearest", op.getNearestAttr()),
       builder.getNamedAttr("roi", op.getRoiAttr()),
       builder.getNamedAttr("scales", op.getScalesAttr())});
}

LogicalResult ResizeOp::verify() { return verifyResize(*this, getX(), getY()); }

plan::OpRules ResizeOp::getRules() {
  return resizeRules(dimsOf(*this, getX(), getY()), shapeOf(getY()), "resize",
                     /*isForward=*/true);
}

StringRef ResizeOp::getFamily() { return "resize"; }

DictionaryAttr ResizeOp::getKernelArgs() { return resizeArgs(*this); }

LogicalResult ResizeOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> resultGrads,
                                      ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  if (Value dy = resultGrads[0]; dy && needed[0])
    operandGrads[0] = ResizeBackwardOp::create(
        builder, gradientLoc(*this), getX().getType(), dy, getAntialiasAttr(),
        getCoordinatesAttr(), getCubicCoeffAAttr(), getExcludeOutsideAttr(),
        getModeAttr(), getNearestAttr(), getRoiAttr(), getScalesAttr());
  return success();
}

LogicalResult ResizeBackwardOp::verify() {
  return verifyResize(*this, getDx(), getDy());
}

plan::OpRules ResizeBackwardOp::getRules() {
  return resizeRules(dimsOf(*this, getDx(), getDy()), shapeOf(getDx()),
                     "resize_backward", /*isForward=*/false);
}

StringRef ResizeBackwardOp::getFamily() { return "resize_backward"; }

DictionaryAttr ResizeBackwardOp::getKernelArgs() { return resizeArgs(*this); }
