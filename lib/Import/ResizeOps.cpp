//===- ResizeOps.cpp - Resize and Upsample --------------------------------===//

#include "NodeImporter.h"
#include "OpTable.h"

#include "llvm/ADT/Sequence.h"

#include <climits>
#include <cmath>
#include <tuple>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

namespace {
struct Interpolation {
  StringRef coordinates = "asymmetric", mode = "nearest", nearest = "floor";
  double cubicCoeffA = -0.75;
  int64_t excludeOutside = 0;
  SmallVector<double> scales;
  Shape result;
  /// Of tf_crop_and_resize: all starts, then all ends, in parts of the operand,
  /// and what the result holds beyond it.
  SmallVector<double> roi;
  double extrapolation = 0;
  bool antialiases = false;

  bool crops() const { return coordinates == "tf_crop_and_resize"; }
  /// Is the region of dimension `d` the whole operand?
  bool isWhole(size_t d) const {
    return !crops() || (roi[d] == 0 && roi[result.size() + d] == 1);
  }
};
} // namespace

static void readMode(NodeImporter &node, Interpolation &way, bool hasCubic) {
  way.mode = node.text("mode", "nearest");
  if (way.mode != "nearest" && way.mode != "linear" &&
      (way.mode != "cubic" || !hasCubic))
    node.error(Twine("expected mode 'nearest'") +
               (hasCubic ? ", 'linear' or 'cubic'" : " or 'linear'") +
               ", found '" + way.mode + "'");
}

/// The attributes that opset 11 added.
static void readCoordinates(NodeImporter &node, Interpolation &way) {
  StringRef attribute = "coordinate_transformation_mode";
  way.coordinates = node.text(attribute, "half_pixel");
  way.nearest = node.text("nearest_mode", "round_prefer_floor");
  if (!llvm::is_contained<StringRef>(
          {"floor", "ceil", "round_prefer_floor", "round_prefer_ceil"},
          way.nearest))
    node.error("unknown nearest_mode '" + way.nearest + "'");
  if (way.coordinates == "tf_half_pixel_for_nn" && way.mode == "nearest") {
    // Half a position further: rounding of half_pixel takes that back.
    way.coordinates = "half_pixel";
    if (way.nearest == "floor")
      way.nearest = "round_prefer_ceil";
    else if (way.nearest == "round_prefer_floor")
      way.nearest = "ceil";
    else
      node.error("nearest_mode '" + way.nearest +
                 "' is not supported with tf_half_pixel_for_nn");
  }
  // The second since opset 19.
  if (!llvm::is_contained<StringRef>({"half_pixel", "half_pixel_symmetric",
                                      "pytorch_half_pixel", "align_corners",
                                      "asymmetric", "tf_crop_and_resize"},
                                     way.coordinates))
    node.error("expected " + attribute +
               " to be half_pixel, half_pixel_symmetric, pytorch_half_pixel, "
               "align_corners, asymmetric or tf_crop_and_resize, found '" +
               way.coordinates + "'");
  double a = node.real("cubic_coeff_a", way.cubicCoeffA);
  bool excludes = node.integer("exclude_outside", 0) != 0;
  if (way.mode == "cubic") {
    way.cubicCoeffA = a;
    way.excludeOutside = excludes;
  }
  way.extrapolation = node.real("extrapolation_value", 0);
}

/// Makes `to`, which the scale of dimension `d` leads to, the extent of the
/// result.
static void setResult(NodeImporter &node, Interpolation &way, size_t d,
                      double to) {
  const int64_t from = node.shape(0)[d];
  const double scale = way.scales[d];
  if (!(scale > 0 && to >= 1 && to <= INT_MAX))
    return node.error("expected scales that leave something, found " +
                      numberText(scale) + " for extent " + Twine(from));
  way.result[d] = static_cast<int64_t>(to);
  if (way.result[d] != from)
    node.expectPositions(way.result[d]);
}

static void applyScales(NodeImporter &node, Interpolation &way,
                        ArrayRef<double> given) {
  if (node.failed())
    return;
  ArrayRef<int64_t> from = node.shape(0);
  way.scales.assign(given.begin(), given.end());
  way.result = Shape(from);
  for (size_t d = 0; d < from.size() && !node.failed(); ++d) {
    const double region =
        way.crops() ? way.roi[from.size() + d] - way.roi[d] : 1.0;
    // In floats of 32 bits, as ONNX has the scales: 20 * 0.7f is 14.
    setResult(
        node, way, d,
        std::floor(static_cast<float>(from[d]) * static_cast<float>(region) *
                   static_cast<float>(way.scales[d])));
  }
}

/// The dimensions that roi, scales and sizes are of: all, or since opset 18
/// those of an attribute.
static Shape readResizedAxes(NodeImporter &node) {
  Shape axes = llvm::to_vector(llvm::seq<int64_t>(node.rank(0)));
  if (std::optional<Shape> given = node.integers("axes")) {
    axes = *given;
    for (int64_t &axis : axes)
      axis = node.check(resolveAxis(axis, node.rank(0)));
  }
  return axes;
}

/// `given`, which is of `axes`, for all of the dimensions that `all` has.
template <class T>
static SmallVector<T> spread(NodeImporter &node, StringRef what,
                             ArrayRef<int64_t> axes, ArrayRef<T> given,
                             SmallVector<T> all) {
  if (axes.size() != given.size()) {
    node.error("expected " + Twine(axes.size()) + " " + what + ", found " +
               Twine(given.size()));
    return all;
  }
  for (auto [axis, value] : llvm::zip_equal(axes, given))
    all[axis] = value;
  return all;
}

/// What sizes mean that leave the proportions of `axes` as they are (since
/// opset 18); nothing if they do not.
static std::optional<double> readCommonScale(NodeImporter &node,
                                             ArrayRef<int64_t> axes,
                                             ArrayRef<int64_t> sizes) {
  StringRef policy = node.text("keep_aspect_ratio_policy", "stretch");
  if (policy != "stretch" && policy != "not_larger" && policy != "not_smaller")
    node.error("expected keep_aspect_ratio_policy 'stretch', 'not_larger' or "
               "'not_smaller', found '" +
               policy + "'");
  if (node.failed() || policy == "stretch" || sizes.empty())
    return std::nullopt;
  std::optional<double> common;
  for (int64_t axis : axes) {
    double scale = static_cast<double>(sizes[axis]) /
                   static_cast<double>(node.shape(0)[axis]);
    if (!common)
      common = scale;
    else
      common = policy == "not_larger" ? std::min(*common, scale)
                                      : std::max(*common, scale);
  }
  return common;
}

static void applySizes(NodeImporter &node, Interpolation &way,
                       ArrayRef<int64_t> given) {
  if (node.failed())
    return;
  ArrayRef<int64_t> from = node.shape(0);
  way.result.assign(given.begin(), given.end());
  for (size_t d = 0; d < from.size(); ++d) {
    // A size that was exported as the batch stands for the batch.
    if (node.isChangedBatch(0, d) &&
        way.result[d] == node.importer.exported->lookup(node.node.input(0))[d])
      way.result[d] = from[d];
    if (way.result[d] < 1 || way.result[d] > INT_MAX)
      return node.error("expected positive sizes, found " +
                        Twine(way.result[d]));
    if (way.result[d] != from[d])
      node.expectPositions(way.result[d]);
    way.scales.push_back(static_cast<double>(way.result[d]) /
                         static_cast<double>(from[d]));
  }
}

/// Cuts the region of dimension `d` to what is in the operand; returns how many
/// positions of the result lie before that and behind it.
static std::pair<int64_t, int64_t> cutRegion(NodeImporter &node,
                                             Interpolation &way, size_t d) {
  int64_t &to = way.result[d], from = node.shape(0)[d], whole = to;
  double &begin = way.roi[d], &end = way.roi[way.result.size() + d];
  // A single position is everywhere at once.
  if (from == 1) {
    begin = 0;
    end = 1;
  }
  double start = begin, extent = end - begin;
  auto place = [&](int64_t o) {
    return whole == 1 ? start + extent / 2
                      : start + static_cast<double>(o) * extent /
                                    static_cast<double>(whole - 1);
  };
  auto isInside = [&](int64_t o) { return place(o) >= 0 && place(o) <= 1; };
  int64_t first = 0, last = whole - 1;
  while (first < whole && !isInside(first))
    ++first;
  while (last > first && !isInside(last))
    --last;
  if (first == whole) {
    node.error("expected a roi that meets the operand, found " +
               numberText(begin) + " to " + numberText(end) + " in dimension " +
               Twine(d));
    return {};
  }
  if (!(start == 0 && end == 1)) {
    begin = place(first);
    end = place(last);
  }
  to = last - first + 1;
  // Only the region says where positions are; the scale has to agree with the
  // extents.
  way.scales[d] = static_cast<double>(to) / static_cast<double>(from);
  return {first, whole - 1 - last};
}

static void build(NodeImporter &node, Interpolation &way) {
  Value x = node.failed() ? Value() : node.tensor(0);
  if (node.failed())
    return;
  size_t rank = way.scales.size();
  Shape result = way.result, pads(2 * rank, 0);
  bool copies = true;
  for (size_t d = 0; d < rank; ++d) {
    if (way.crops())
      std::tie(pads[d], pads[rank + d]) = cutRegion(node, way, d);
    bool copied = way.scales[d] == 1 && way.isWhole(d);
    copies &= copied;
    if (!copied && node.isChangedBatch(0, d))
      return node.error(
          "resizes the batch and stands in the way of --batch-size");
  }
  if (node.failed())
    return;
  if (copies && way.result == result)
    return node.defineSame(node.operand(0));
  OpBuilder &builder = node.importer.builder;
  node.resultType(result);
  if (node.failed())
    return;
  Value y = node.part<ff::ResizeOp>(
      "inside", way.result, x, builder.getI64IntegerAttr(way.antialiases),
      builder.getStringAttr(way.coordinates),
      builder.getF64FloatAttr(way.cubicCoeffA),
      builder.getI64IntegerAttr(way.excludeOutside),
      builder.getStringAttr(way.mode), builder.getStringAttr(way.nearest),
      builder.getDenseF64ArrayAttr(way.roi),
      builder.getDenseF64ArrayAttr(way.scales));
  if (way.result != result)
    y = node.part<ff::PadOp>("pad", result, y, node.list(pads),
                             builder.getF64FloatAttr(way.extrapolation));
  node.defineLast(y);
}

/// Operand `i` as a list of numbers; empty if it is absent.
static SmallVector<double> readNumbers(NodeImporter &node, int i) {
  if (!node.has(i))
    return {};
  Constant value = node.constant(i);
  if (!node.failed() && (!value.isFloat() || value.shape.size() > 1))
    node.error("expected a list of numbers as operand " + Twine(i) +
               ", found type " + elementTypeName(value.type) + " and shape " +
               shapeText(value.shape));
  return SmallVector<double>(value.floats.begin(), value.floats.end());
}

static void importResize(NodeImporter &node) {
  Interpolation way;
  bool isOld = node.opset() < 11;
  readMode(node, way, /*hasCubic=*/!isOld);
  if (!isOld)
    readCoordinates(node, way);
  Shape axes = readResizedAxes(node);
  size_t rank = node.shape(0).size();
  SmallVector<double> scales = readNumbers(node, isOld ? 1 : 2);
  if (way.crops()) {
    SmallVector<double> roi = readNumbers(node, 1);
    if (roi.size() != 2 * axes.size())
      return node.error("expected " + Twine(2 * axes.size()) +
                        " numbers in roi, found " + Twine(roi.size()));
    ArrayRef<double> half = ArrayRef(roi).take_front(axes.size());
    way.roi = spread(node, "starts", axes, half, SmallVector<double>(rank, 0));
    half = ArrayRef(roi).drop_front(axes.size());
    way.roi.append(
        spread(node, "ends", axes, half, SmallVector<double>(rank, 1)));
  }
  Shape sizes;
  if (!isOld && node.has(3) && !node.failed())
    sizes = node.constantList(3);
  if (node.failed())
    return;
  if (scales.empty() == sizes.empty())
    return node.error(scales.empty() ? "expected scales or sizes, found neither"
                                     : "expected scales or sizes, found both");
  way.antialiases = node.integer("antialias", 0) != 0 && way.mode != "nearest";
  if (scales.empty()) {
    sizes = spread<int64_t>(node, "sizes", axes, sizes, Shape(node.shape(0)));
    applySizes(node, way, sizes);
  } else {
    scales = spread<double>(node, "scales", axes, scales,
                            SmallVector<double>(rank, 1));
    applyScales(node, way, scales);
  }
  if (std::optional<double> scale = readCommonScale(node, axes, sizes))
    for (int64_t axis : axes) {
      way.scales[axis] = *scale;
      setResult(
          node, way, axis,
          std::floor(static_cast<double>(node.shape(0)[axis]) * *scale + 0.5));
    }
  build(node, way);
}

static void importUpsample(NodeImporter &node) {
  Interpolation way;
  readMode(node, way, /*hasCubic=*/false);
  SmallVector<double> scales;
  // Opset 9 turned the attribute into an operand.
  if (node.opset() >= 9) {
    scales = readNumbers(node, 1);
  } else if (auto *list =
                 node.attribute("scales", onnx::AttributeProto::FLOATS)) {
    scales.assign(list->floats().begin(), list->floats().end());
  }
  if (!node.failed() && scales.size() != node.shape(0).size())
    node.error("expected " + Twine(node.rank(0)) + " scales, found " +
               Twine(scales.size()));
  applyScales(node, way, scales);
  build(node, way);
}

void ffc::importer::registerResizeOps() {
  registerOp("Resize", {importResize, 1, 4});
  registerOp("Upsample", {importUpsample, 1, 2});
}
