//===- RoiAlignOp.cpp - RoiAlign ------------------------------------------===//

#include "OpTable.h"
#include "Positions.h"
#include "Sampler.h"
#include "TypedNode.h"

#include <climits>

using namespace ffc;
using namespace ffc::importer;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// How a region is cut along one dimension.
struct Bins {
  int64_t count;   ///< of results
  int64_t samples; ///< in each of them
  int64_t extent;  ///< of the image
};

class RoiAligner {
public:
  RoiAligner(NodeImporter &node) : node(node), made(node) {}
  void run();

private:
  enum { X, Rois, Batches };
  bool readAttributes();
  SmallVector<Tap> tapsOf(Sampler &sampler, int64_t coordinate,
                          const Bins &bins, llvm::ArrayRef<int64_t> shape);

  NodeImporter &node;
  Expression made;
  int64_t height = 1, width = 1, ratio = 0;
  double scale = 1;
  bool isHalfPixel = true, isMax = false;
};
} // namespace

bool RoiAligner::readAttributes() {
  const StringRef mode = node.text("mode", "avg"),
                  where = node.text("coordinate_transformation_mode",
                                    node.opset() < 16 ? "output_half_pixel"
                                                      : "half_pixel");
  if (mode != "avg" && mode != "max")
    node.error("expected mode avg or max, found '" + mode + "'");
  if (where != "half_pixel" && where != "output_half_pixel")
    node.error("expected coordinate_transformation_mode half_pixel or "
               "output_half_pixel, found '" +
               where + "'");
  isMax = mode == "max";
  isHalfPixel = where == "half_pixel";
  height = node.integer("output_height", 1);
  width = node.integer("output_width", 1);
  ratio = node.integer("sampling_ratio", 0);
  scale = node.real("spatial_scale", 1);
  for (int64_t extent : {height, width})
    if (extent < 1 || extent > SHRT_MAX)
      node.error("expected results of 1 to " + Twine(SHRT_MAX) +
                 " rows and columns, found " + Twine(height) + " and " +
                 Twine(width));
  if (ratio < 1 || ratio > SHRT_MAX)
    node.error("expected an attribute 'sampling_ratio' from 1 to " +
               Twine(SHRT_MAX) + ", found " + Twine(ratio) +
               ": how many samples regions of their own sizes take is not "
               "known before they are");
  node.expectRank(X, 4);
  node.expectRank(Rois, 2);
  node.expectRank(Batches, 1);
  takeNumberType(node, X, /*integers=*/false);
  if (node.failed())
    return false;
  if (node.shape(Rois)[1] != 4 || node.shape(Rois)[0] != node.shape(Batches)[0])
    node.error("expected four coordinates and an image for every region as "
               "operands 1 and 2, found shapes " +
               shapeText(node.shape(Rois)) + " and " +
               shapeText(node.shape(Batches)));
  if (!isIntegerType(node.operand(Batches).type))
    node.error("expected integers as operand 2, found type " +
               elementTypeName(node.operand(Batches).type));
  return !node.failed();
}

/// `shape`: [regions, ...], where samples are along one dimension.
SmallVector<Tap> RoiAligner::tapsOf(Sampler &sampler, int64_t coordinate,
                                    const Bins &bins,
                                    llvm::ArrayRef<int64_t> shape) {
  const int64_t samples = bins.count * bins.samples;
  const int32_t type = node.operand(X).type;
  GraphValue *rois = made.cast(&node.operand(Rois), type);
  auto at = [&](int64_t i) {
    GraphValue *value = made.mul(made.slice(rois, 1, i, i + 1), scale);
    return isHalfPixel ? made.sub(value, 0.5) : value;
  };
  GraphValue *start = at(coordinate);
  GraphValue *size = made.sub(at(coordinate + 2), start);
  if (!isHalfPixel) // regions that are too small
    size = made.apply("Max", {size, made.number(type, 1)});
  std::vector<double> places(samples);
  for (int64_t i = 0; i < samples; ++i)
    places[i] = (static_cast<double>(i) + 0.5) / static_cast<double>(samples);
  GraphValue *place = made.add(
      made.mul(size, made.floats(type, {1, samples}, std::move(places))),
      start);
  // Further away than one position there are zeros.
  const auto extent = static_cast<double>(bins.extent);
  GraphValue *isNear = made.cast(
      made.apply("Equal", {made.clamp(place, -1, extent), place}), type);
  place = made.clamp(place, 0, extent - 1);
  SmallVector<Tap> taps = sampler.linear(place, bins.extent, /*extends=*/true);
  for (Tap &tap : taps) {
    tap.weight = made.reshape(made.mul(tap.weight, isNear), shape);
    tap.place = made.reshape(tap.place, shape);
  }
  return taps;
}

void RoiAligner::run() {
  if (!readAttributes())
    return;
  const Shape from(node.shape(X));
  const int64_t regions = node.shape(Rois)[0], channels = from[1];
  const Shape result = {regions, channels, height, width};
  const auto samples = elementCount({regions, height * ratio, width * ratio});
  if (!samples || *samples > kMaxPositions)
    return node.error("expected at most " + Twine(kMaxPositions) +
                      " samples, regions * rows * columns * "
                      "sampling_ratio^2, found " +
                      shapeText({regions, height * ratio, width * ratio}));
  node.partType(result);
  Sampler sampler(node, made, &node.operand(X));
  if (node.failed())
    return;
  const Bins rows{height, ratio, from[2]}, columns{width, ratio, from[3]};
  GraphValue *batches = made.reshape(
      made.cast(&node.operand(Batches), node.operand(X).type), {regions, 1, 1});
  const SmallVector<SmallVector<Tap>> taps = {
      tapsOf(sampler, 1, rows, {regions, height * ratio, 1}),
      tapsOf(sampler, 0, columns, {regions, 1, width * ratio})};
  SmallVector<GraphValue *> corners = sampler.read(taps, batches);
  GraphValue *y = isMax && !corners.empty() ? made.apply("Max", corners)
                                            : sampler.sum(corners);
  y = made.reshape(y, {regions, height, ratio, width, ratio, channels});
  const char *reduction = isMax ? "ReduceMax" : "ReduceMean";
  y = made.reduce(reduction, made.reduce(reduction, y, 4), 2);
  made.define(made.transpose(y, {0, 3, 1, 2}));
}

static void importRoiAlign(NodeImporter &node) { RoiAligner(node).run(); }

void ffc::importer::registerRoiAlignOp() {
  registerOp("RoiAlign", {importRoiAlign, 3, 3});
}
