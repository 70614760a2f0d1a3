//===- ConvOps.cpp - convolution and LRN ----------------------------------===//

#include "OpTable.h"
#include "Window.h"

#include <climits>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

/// The weights' extents without the two channel dimensions.
static Shape kernelOf(NodeImporter &node) {
  return Shape(node.shape(1).drop_front(2));
}

/// Reads the attribute `group`; operand 0 has to be an image, operand 1 weights
/// of the same rank.
static int64_t readGroup(NodeImporter &node) {
  expectImage(node);
  if (!node.failed())
    node.expectRank(1, node.rank(0));
  return node.integer("group", 1);
}

static void expectBias(NodeImporter &node, int64_t channels) {
  if (node.has(2) && node.shape(2) != ArrayRef<int64_t>{channels})
    node.error("expected a bias of shape " + Twine(channels) + ", found " +
               shapeText(node.shape(2)));
}

/// Positions of a kernel: how many elements of a channel a result depends on.
static int64_t tapsOf(const Window &window) {
  int64_t taps = 1;
  for (int64_t extent : window.kernel)
    taps *= extent;
  return taps;
}

static void importConv(NodeImporter &node) {
  int64_t group = readGroup(node);
  if (node.failed())
    return;
  ArrayRef<int64_t> x = node.shape(0), w = node.shape(1);
  if (group < 1 || x[1] % group != 0 || x[1] / group != w[1] ||
      w[0] % group != 0)
    node.error("expected weights of shape (channels) x (" + Twine(x[1]) +
               " / group) x (kernel), found " + shapeText(w) + " and group " +
               Twine(group));
  Window window = readWindow(node, kernelOf(node), /*dilated=*/true,
                             /*ceil=*/false);
  expectBias(node, w[0]);
  if (node.failed())
    return;
  // Initialisation counts the elements that a result (an input) depends on.
  Role weight{Role::Weight, w[1] * tapsOf(window), w[0] * tapsOf(window)};
  Value image = node.tensor(0), weights = node.tensor(1, weight);
  Value bias = node.has(2) ? node.tensor(2, {Role::Bias}) : Value();
  Shape result = imageShape(x[0], w[0], window.out);
  node.resultType(result);
  if (node.failed())
    return;
  node.build<ff::ConvOp>(
      result, image, weights, bias, node.list(window.dilations),
      node.importer.builder.getI64IntegerAttr(group), node.list(window.pads),
      node.list(window.strides), UnitAttr(), /*clamp=*/DenseF64ArrayAttr());
}

/// `image` plus a bias per channel.
static Value addBias(NodeImporter &node, Value image, Value bias) {
  auto type = cast<RankedTensorType>(image.getType());
  Shape column(type.getRank() - 1, 1);
  column[0] = type.getDimSize(1);
  Value reshaped = node.part<ff::ReshapeOp>("bias.reshape", column, bias);
  return node.part<ff::BinaryOp>("bias", type.getShape(), ff::BinaryKind::Add,
                                 image, reshaped);
}

static void importConvTranspose(NodeImporter &node) {
  int64_t group = readGroup(node);
  if (node.failed())
    return;
  ArrayRef<int64_t> x = node.shape(0), w = node.shape(1);
  if (group < 1 || x[1] % group != 0 || x[1] != w[0])
    node.error("expected weights of shape " + Twine(x[1]) +
               " x (channels / group) x (kernel) and a group that divides " +
               Twine(x[1]) + ", found " + shapeText(w) + " and group " +
               Twine(group));
  Window window = readTransposedWindow(node, kernelOf(node));
  if (node.failed())
    return;
  int64_t channels = w[1] * group;
  expectBias(node, channels);
  Role weight{Role::Weight, w[0] / group * tapsOf(window),
              w[1] * tapsOf(window)};
  Value image = node.tensor(0), weights = node.tensor(1, weight);
  Value bias = node.has(2) ? node.tensor(2, {Role::Bias}) : Value();
  Shape extents(window.out);
  for (size_t d = 0; d < extents.size(); ++d)
    extents[d] += window.beyond[d];
  const Shape whole = imageShape(x[0], channels, extents);
  node.resultType(whole);
  if (node.failed())
    return;
  OpBuilder &builder = node.importer.builder;
  const RankedTensorType reached =
      node.partType(imageShape(x[0], channels, window.out));
  const bool isReached = reached.getShape() == ArrayRef<int64_t>(whole);
  Value y = ff::ConvBackwardDataOp::create(
      builder, isReached ? node.location() : node.location("windows"), reached,
      image, weights, node.list(window.dilations),
      builder.getI64IntegerAttr(group), node.list(window.pads),
      node.list(window.strides), builder.getUnitAttr());
  if (!isReached) {
    Shape pads(2 * whole.size(), 0);
    llvm::copy(window.beyond, pads.end() - window.beyond.size());
    y = node.part<ff::PadOp>("beyond", whole, y, node.list(pads),
                             builder.getF64FloatAttr(0));
  }
  node.define((bias ? addBias(node, y, bias) : y).getDefiningOp());
}

//===----------------------------------------------------------------------===//
// Local response normalisation
//===----------------------------------------------------------------------===//

static void importLrn(NodeImporter &node) {
  if (node.rank(0) < 2)
    node.error("expected an operand with a channel dimension, found shape " +
               shapeText(node.shape(0)));
  int64_t size = node.integer("size", 0);
  if (size < 1)
    node.error("expected a positive attribute 'size', found " + Twine(size));
  if (size > INT_MAX)
    node.error("expected an attribute 'size' of at most " + Twine(INT_MAX) +
               ", found " + Twine(size));
  double alpha = node.real("alpha", 1e-4f), beta = node.real("beta", 0.75),
         bias = node.real("bias", 1);
  Value x = node.tensor(0);
  if (node.failed())
    return;
  Builder &builder = node.importer.builder;
  RankedTensorType type = node.resultType(node.shape(0));
  node.define(ff::LrnOp::create(
      node.importer.builder, node.location(), type, type, x,
      builder.getF64FloatAttr(alpha), builder.getF64FloatAttr(beta),
      builder.getF64FloatAttr(bias), builder.getI64IntegerAttr(size)));
}

void ffc::importer::registerConvOps() {
  registerOp("Conv", {importConv, 2, 3, 0b110});
  registerOp("ConvTranspose", {importConvTranspose, 2, 3, 0b110});
  registerOp("LRN", {importLrn, 1, 1});
}
