//===- GridSampleOps.cpp - GridSample and AffineGrid ----------------------===//

#include "OpTable.h"
#include "Positions.h"
#include "Sampler.h"
#include "TypedNode.h"

#include <cmath>

using namespace ffc;
using namespace ffc::importer;
using llvm::SmallVector;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// Samples along one dimension.
class Axis {
public:
  Axis(Expression &made, Sampler &sampler, int64_t extent, bool alignsCorners,
       StringRef padding)
      : made(made), sampler(sampler), extent(extent),
        alignsCorners(alignsCorners), padding(padding) {}

  /// What samples at `grid`, from -1 to 1, read.
  SmallVector<Tap> taps(GraphValue *grid, StringRef mode) const;

private:
  GraphValue *reflected(GraphValue *place) const;
  Tap tap(GraphValue *place, GraphValue *weight) const;

  Expression &made;
  Sampler &sampler;
  int64_t extent;
  bool alignsCorners;
  StringRef padding;

  double first() const { return alignsCorners ? 0 : -0.5; }
  double last() const {
    return static_cast<double>(extent) - (alignsCorners ? 1 : 0.5);
  }
};
} // namespace

/// Turned back at the borders, as often as it takes.
GraphValue *Axis::reflected(GraphValue *place) const {
  const double range = last() - first();
  if (range == 0)
    return made.mul(place, 0.0);
  GraphValue *from = made.sub(place, first());
  // Distances within a way there and back.
  GraphValue *ways = made.apply("Floor", {made.mul(from, 0.5 / range)});
  GraphValue *rest = made.sub(from, made.mul(ways, 2 * range));
  GraphValue *back = made.sub(made.mul(rest, -1), -2 * range);
  return made.add(made.apply("Min", {rest, back}), first());
}

/// Of a whole position.
Tap Axis::tap(GraphValue *place, GraphValue *weight) const {
  if (padding == "zeros")
    return sampler.inside(place, weight, extent);
  if (padding == "reflection")
    place = reflected(place);
  // What is reflected may be half a position off.
  place = made.clamp(place, 0, static_cast<double>(extent - 1));
  return {made.apply("Floor", {place}), weight};
}

SmallVector<Tap> Axis::taps(GraphValue *grid, StringRef mode) const {
  const auto size = static_cast<double>(extent);
  GraphValue *place =
      alignsCorners ? made.mul(made.add(grid, 1), (size - 1) / 2)
                    : made.add(made.mul(made.add(grid, 1), size / 2), -0.5);
  if (mode == "nearest")
    place = made.apply("Round", {place});
  // Of what is beyond a border each tap is moved to it, as PyTorch and ONNX
  // Runtime do, which is not the same for cubic weights.
  if (padding == "reflection")
    place = reflected(place);
  if (mode == "nearest")
    return {tap(place, nullptr)};
  GraphValue *low = made.apply("Floor", {place});
  GraphValue *t = made.sub(place, low);
  if (mode == "linear")
    return {tap(low, made.sub(made.mul(t, -1), -1)), tap(made.add(low, 1), t)};
  // Keys' cubic convolution.
  constexpr double a = -0.75;
  auto polynomial = [&](GraphValue *x, std::initializer_list<double> factors) {
    GraphValue *y = nullptr;
    for (double factor : factors)
      y = y ? made.add(made.mul(y, x), factor)
            : made.add(made.mul(x, 0.0), factor);
    return y;
  };
  auto near = [&](GraphValue *x) {
    return polynomial(x, {a + 2, -(a + 3), 0, 1});
  };
  auto far = [&](GraphValue *x) {
    return polynomial(x, {a, -5 * a, 8 * a, -4 * a});
  };
  GraphValue *other = made.sub(made.mul(t, -1), -1);
  return {tap(made.add(low, -1), far(made.add(t, 1))), tap(low, near(t)),
          tap(made.add(low, 1), near(other)),
          tap(made.add(low, 2), far(made.add(other, 1)))};
}

/// The mode by its name since opset 20.
static StringRef readMode(NodeImporter &node) {
  StringRef mode = node.text("mode", node.opset() < 20 ? "bilinear" : "linear");
  if (node.opset() < 20 && mode == "bilinear")
    return "linear";
  if (node.opset() < 20 && mode == "bicubic")
    return "cubic";
  if (mode == "nearest" ||
      (node.opset() >= 20 && (mode == "linear" || mode == "cubic")))
    return mode;
  node.error(
      "expected mode nearest, " +
      Twine(node.opset() < 20 ? "bilinear or bicubic" : "linear or cubic") +
      ", found '" + mode + "'");
  return "nearest";
}

static void importGridSample(NodeImporter &node) {
  const StringRef mode = readMode(node),
                  padding = node.text("padding_mode", "zeros");
  const bool alignsCorners = node.integer("align_corners", 0) != 0;
  if (padding != "zeros" && padding != "border" && padding != "reflection")
    node.error("expected padding_mode zeros, border or reflection, found '" +
               padding + "'");
  takeNumberType(node, 0, /*integers=*/false);
  const int64_t rank = node.rank(0);
  if (rank < 3 || rank > 5)
    node.error("expected an operand 0 of batch, channels and one to three "
               "spatial dimensions, found shape " +
               shapeText(node.shape(0)));
  node.expectRank(1, rank);
  if (node.failed())
    return;
  const Shape from(node.shape(0)), grid(node.shape(1));
  if (grid[0] != from[0] || grid.back() != rank - 2)
    return node.error("expected a grid of " + Twine(from[0]) + " samples and " +
                      Twine(rank - 2) + " coordinates, found shape " +
                      shapeText(grid));
  Shape result = {from[0], from[1]};
  result.append(grid.begin() + 1, grid.end() - 1);
  node.partType(result);
  if (node.failed())
    return;
  Expression made(node);
  Sampler sampler(node, made, &node.operand(0));
  const int64_t samples =
      product(llvm::ArrayRef<int64_t>(result).drop_front(2));
  GraphValue *places =
      made.reshape(made.cast(&node.operand(1), node.operand(0).type),
                   {from[0], samples, rank - 2});
  SmallVector<SmallVector<Tap>> taps;
  for (int64_t d = 0; d < rank - 2 && !node.failed(); ++d) {
    // Coordinates count dimensions from the last one.
    GraphValue *own = made.reshape(
        made.slice(places, 2, rank - 3 - d, rank - 2 - d), {from[0], samples});
    taps.push_back(Axis(made, sampler, from[d + 2], alignsCorners, padding)
                       .taps(own, mode));
  }
  if (node.failed())
    return;
  std::vector<double> numbers(from[0]);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<double>(i);
  GraphValue *y = sampler.sum(sampler.read(
      taps, made.floats(node.operand(0).type, {from[0], 1}, numbers)));
  made.define(made.reshape(made.transpose(y, {0, 2, 1}), result));
}

/// A product with the positions of all elements, from -1 to 1, and 1.
static void importAffineGrid(NodeImporter &node) {
  const bool alignsCorners = node.integer("align_corners", 0) != 0;
  node.expectRank(0, 3);
  takeNumberType(node, 0, /*integers=*/false);
  const Shape size = node.constantList(1);
  if (node.failed())
    return;
  const auto spatial = static_cast<int64_t>(size.size()) - 2;
  const Shape theta(node.shape(0));
  if ((spatial != 2 && spatial != 3) ||
      theta != Shape{size[0], spatial, spatial + 1})
    return node.error("expected extents of 4 or 5 dimensions as operand 1 and "
                      "matrices of a row per spatial dimension for them as "
                      "operand 0, found [" +
                      shapeText(size) + "] and " + shapeText(theta));
  const auto extents = llvm::ArrayRef<int64_t>(size).drop_front(2);
  const auto count = elementCount(extents);
  if (!count || *count < 1 || *count > kMaxPositions / (spatial + 1))
    return node.error("expected positive extents of together at most " +
                      Twine(kMaxPositions / (spatial + 1)) +
                      " elements as operand 1, found " + shapeText(extents));
  // [spatial + 1, count], coordinates from that of the last dimension on.
  std::vector<double> numbers((spatial + 1) * *count, 1);
  for (int64_t i = 0; i < *count; ++i) {
    int64_t rest = i;
    for (int64_t d = spatial; d-- > 0; rest /= extents[d]) {
      const auto at = static_cast<double>(rest % extents[d]),
                 extent = static_cast<double>(extents[d]);
      // Of one element ONNX says 0 / 0; PyTorch takes the middle.
      numbers[(spatial - 1 - d) * *count + i] =
          !alignsCorners  ? (2 * at + 1) / extent - 1
          : extent == 1.0 ? 0
                          : 2 * at / (extent - 1) - 1;
    }
  }
  Expression made(node);
  GraphValue *grid =
      made.apply("MatMul", {&node.operand(0), made.floats(node.operand(0).type,
                                                          {spatial + 1, *count},
                                                          std::move(numbers))});
  Shape result = {size[0]};
  result.append(extents.begin(), extents.end());
  result.push_back(spatial);
  made.define(made.reshape(made.transpose(grid, {0, 2, 1}), result));
}

void ffc::importer::registerGridSampleOps() {
  registerOp("AffineGrid", {importAffineGrid, 2, 2});
  registerOp("GridSample", {importGridSample, 2, 2});
}
