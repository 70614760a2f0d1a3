//===- ResizeOps.cpp - Resize and Upsample --------------------------------===//

#include "NodeImporter.h"
#include "OpTable.h"

#include <climits>
#include <cmath>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

namespace {
struct Interpolation {
  StringRef coordinates = "asymmetric", mode = "nearest", nearest = "floor";
  SmallVector<double> scales;
  Shape result;
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
  if (!llvm::is_contained<StringRef>(
          {"half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric"},
          way.coordinates))
    node.error("expected " + attribute +
               " to be half_pixel, pytorch_half_pixel, align_corners or "
               "asymmetric, found '" +
               way.coordinates + "'");
  auto expectDefault = [&](StringRef name, double value, double expected) {
    if (value != expected)
      node.error("expected attribute '" + name + "' to be " +
                 numberText(expected) + ", found " + numberText(value));
  };
  double a = node.real("cubic_coeff_a", -0.75);
  int64_t outside = node.integer("exclude_outside", 0);
  if (way.mode == "cubic") {
    expectDefault("cubic_coeff_a", a, -0.75);
    expectDefault("exclude_outside", static_cast<double>(outside), 0);
  }
  node.ignore("extrapolation_value"); // of tf_crop_and_resize
}

static void expectPerDimension(NodeImporter &node, StringRef what,
                               size_t found) {
  if (node.rank(0) != static_cast<int64_t>(found))
    node.error("expected " + Twine(node.rank(0)) + " " + what + ", found " +
               Twine(found));
}

static void applyScales(NodeImporter &node, Interpolation &way,
                        ArrayRef<double> given) {
  expectPerDimension(node, "scales", given.size());
  if (node.failed())
    return;
  ArrayRef<int64_t> from = node.shape(0);
  way.scales.assign(given.begin(), given.end());
  for (auto [extent, scale] : llvm::zip(from, way.scales)) {
    double to = std::floor(static_cast<double>(extent) * scale);
    if (!(scale > 0 && to >= 1 && to <= INT_MAX))
      return node.error("expected scales that leave something, found " +
                        numberText(scale) + " for extent " + Twine(extent));
    way.result.push_back(static_cast<int64_t>(to));
  }
}

static void applySizes(NodeImporter &node, Interpolation &way,
                       ArrayRef<int64_t> given) {
  expectPerDimension(node, "sizes", given.size());
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
    way.scales.push_back(static_cast<double>(way.result[d]) /
                         static_cast<double>(from[d]));
  }
}

static void build(NodeImporter &node, const Interpolation &way) {
  Value x = node.failed() ? Value() : node.tensor(0);
  if (node.failed())
    return;
  for (size_t d = 0; d < way.scales.size(); ++d)
    if (way.scales[d] != 1 && node.isChangedBatch(0, d))
      return node.error(
          "resizes the batch and stands in the way of --batch-size");
  if (llvm::all_of(way.scales, [](double scale) { return scale == 1; }))
    return node.defineSame(node.operand(0));
  Builder &builder = node.importer.builder;
  node.resultType(way.result);
  if (!node.failed())
    node.build<ff::ResizeOp>(
        way.result, x, builder.getStringAttr(way.coordinates),
        builder.getStringAttr(way.mode), builder.getStringAttr(way.nearest),
        builder.getDenseF64ArrayAttr(way.scales));
}

/// Operand `i` as a list of numbers; empty if it is absent.
static SmallVector<double> readScales(NodeImporter &node, int i) {
  if (!node.has(i))
    return {};
  Constant value = node.constant(i);
  if (!node.failed() && (!value.isFloat() || value.shape.size() > 1))
    node.error("expected a list of numbers as operand " + Twine(i) +
               ", found type " + elementTypeName(value.type) + " and shape " +
               shapeText(value.shape));
  return SmallVector<double>(value.floats.begin(), value.floats.end());
}

void ffc::importer::importResize(NodeImporter &node) {
  Interpolation way;
  bool isOld = node.opset() < 11;
  readMode(node, way, /*hasCubic=*/!isOld);
  if (!isOld)
    readCoordinates(node, way);
  SmallVector<double> scales = readScales(node, isOld ? 1 : 2);
  Shape sizes;
  if (!isOld && node.has(3) && !node.failed())
    sizes = node.constantList(3);
  if (node.failed())
    return;
  if (scales.empty() == sizes.empty())
    return node.error(scales.empty() ? "expected scales or sizes, found neither"
                                     : "expected scales or sizes, found both");
  if (scales.empty())
    applySizes(node, way, sizes);
  else
    applyScales(node, way, scales);
  build(node, way);
}

void ffc::importer::importUpsample(NodeImporter &node) {
  Interpolation way;
  readMode(node, way, /*hasCubic=*/false);
  SmallVector<double> scales;
  // Opset 9 turned the attribute into an operand.
  if (node.opset() >= 9) {
    scales = readScales(node, 1);
  } else if (auto *list =
                 node.attribute("scales", onnx::AttributeProto::FLOATS)) {
    scales.assign(list->floats().begin(), list->floats().end());
  }
  if (node.failed())
    return;
  applyScales(node, way, scales);
  build(node, way);
}
