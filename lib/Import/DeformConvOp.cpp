//===- DeformConvOp.cpp - DeformConv --------------------------------------===//
//
// Images between their positions, where every element of a window is moved by
// an offset, times weights.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "Positions.h"
#include "Sampler.h"
#include "TypedNode.h"
#include "Window.h"

using namespace ffc;
using namespace ffc::importer;
using llvm::SmallVector;
using llvm::Twine;

namespace {
class DeformConvImporter {
public:
  DeformConvImporter(NodeImporter &node) : node(node), made(node) {}
  void run();

private:
  enum { X, W, Offset, Bias, Mask };
  bool readShapes();
  GraphValue *sampled();
  std::vector<double> placesAlong(size_t d) const;

  NodeImporter &node;
  Expression made;
  Window window;
  int64_t group = 1, offsetGroup = 1;
  int64_t taps = 1, windows = 1; ///< elements of a window; windows of an image
};
} // namespace

bool DeformConvImporter::readShapes() {
  expectImage(node);
  if (!node.failed())
    node.expectRank(W, node.rank(X));
  if (!node.failed())
    node.expectRank(Offset, node.rank(X));
  if (node.failed())
    return false;
  takeNumberType(node, X, /*integers=*/false);
  group = node.integer("group", 1);
  offsetGroup = node.integer("offset_group", 1);
  const Shape x(node.shape(X)), w(node.shape(W));
  if (group < 1 || x[1] % group != 0 || x[1] / group != w[1] ||
      w[0] % group != 0)
    node.error("expected weights of shape (channels) x (" + Twine(x[1]) +
               " / group) x (kernel), found " + shapeText(w) + " and group " +
               Twine(group));
  if (offsetGroup < 1 || x[1] % offsetGroup != 0)
    node.error("expected an attribute 'offset_group' that divides " +
               Twine(x[1]) + " channels, found " + Twine(offsetGroup));
  window = readWindow(node, Shape(node.shape(W).drop_front(2)),
                      /*dilated=*/true, /*ceil=*/false);
  if (node.failed())
    return false;
  taps = product(window.kernel);
  windows = product(window.out);
  const auto spatial = static_cast<int64_t>(window.spatial());
  if (node.operand(Offset).shape !=
      imageShape(x[0], offsetGroup * taps * spatial, window.out))
    node.error(
        "expected offsets of shape " +
        shapeText(imageShape(x[0], offsetGroup * taps * spatial, window.out)) +
        " as operand 2, found " + shapeText(node.shape(Offset)));
  if (node.has(Bias) && node.shape(Bias) != llvm::ArrayRef<int64_t>{w[0]})
    node.error("expected a bias of shape " + Twine(w[0]) + ", found " +
               shapeText(node.shape(Bias)));
  if (node.has(Mask) && node.operand(Mask).shape !=
                            imageShape(x[0], offsetGroup * taps, window.out))
    node.error("expected a mask of shape " +
               shapeText(imageShape(x[0], offsetGroup * taps, window.out)) +
               " as operand 4, found " + shapeText(node.shape(Mask)));
  node.expectPositions(taps * windows);
  return !node.failed();
}

/// Where the elements of all windows are along dimension `d`, window by window
/// for each of them.
std::vector<double> DeformConvImporter::placesAlong(size_t d) const {
  std::vector<double> places;
  auto at = [d](int64_t i, llvm::ArrayRef<int64_t> extents) {
    for (size_t e = extents.size(); --e > d;)
      i /= extents[e];
    return i % extents[d];
  };
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t i = 0; i < windows; ++i)
      places.push_back(static_cast<double>(
          at(i, window.out) * window.strides[d] - window.pads[d] +
          at(tap, window.kernel) * window.dilations[d]));
  return places;
}

/// [images * offset groups, taps * windows, channels of a group].
GraphValue *DeformConvImporter::sampled() {
  const Shape x(node.shape(X));
  const int32_t type = node.operand(X).type;
  const auto spatial = static_cast<int64_t>(window.spatial());
  const int64_t images = x[0] * offsetGroup, count = taps * windows;
  Shape image = {images, x[1] / offsetGroup};
  image.append(x.begin() + 2, x.end());
  Sampler sampler(node, made, made.reshape(&node.operand(X), image));
  GraphValue *offsets =
      made.reshape(&node.operand(Offset), {images, taps, spatial, windows});
  SmallVector<SmallVector<Tap>> along;
  for (int64_t d = 0; d < spatial && !node.failed(); ++d) {
    GraphValue *own =
        made.reshape(made.slice(offsets, 2, d, d + 1), {images, count});
    GraphValue *place =
        made.add(own, made.floats(type, {1, count}, placesAlong(d)));
    along.push_back(sampler.linear(place, x[d + 2], /*extends=*/false));
  }
  if (node.failed())
    return nullptr;
  std::vector<double> numbers(images);
  for (size_t i = 0; i < numbers.size(); ++i)
    numbers[i] = static_cast<double>(i);
  GraphValue *y = sampler.sum(
      sampler.read(along, made.floats(type, {images, 1}, std::move(numbers))));
  if (node.has(Mask))
    y = made.mul(y, made.reshape(&node.operand(Mask), {images, count, 1}));
  return y;
}

void DeformConvImporter::run() {
  if (!readShapes())
    return;
  const Shape x(node.shape(X)), w(node.shape(W));
  GraphValue *columns = sampled();
  if (!columns)
    return;
  // [images, groups, channels of one and taps, windows] by the weights.
  columns = made.transpose(columns, {0, 2, 1});
  columns = made.reshape(columns, {x[0], group, w[1] * taps, windows});
  GraphValue *weights =
      made.reshape(&node.operand(W), {1, group, w[0] / group, w[1] * taps});
  GraphValue *y = made.apply("MatMul", {weights, columns});
  y = made.reshape(y, imageShape(x[0], w[0], window.out));
  if (node.has(Bias)) {
    Shape column(window.spatial() + 1, 1);
    column[0] = w[0];
    y = made.add(y, made.reshape(&node.operand(Bias), column));
  }
  made.define(y);
}

static void importDeformConv(NodeImporter &node) {
  DeformConvImporter(node).run();
}

void ffc::importer::registerDeformConvOp() {
  registerOp("DeformConv", {importDeformConv, 3, 5, 0b1010});
}
