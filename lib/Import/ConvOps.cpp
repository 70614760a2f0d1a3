//===- ConvOps.cpp - convolution, pooling, LRN ----------------------------===//

#include "OpTable.h"
#include "Window.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

void ffc::importer::importConv(NodeImporter &node) {
  node.expectRank(0, 4);
  node.expectRank(1, 4);
  if (node.failed())
    return;
  ArrayRef<int64_t> x = node.shape(0), w = node.shape(1);
  int64_t group = node.integer("group", 1);
  if (group < 1 || x[1] % group != 0 || x[1] / group != w[1] ||
      w[0] % group != 0)
    node.error("expected weights of shape (channels) x (" + Twine(x[1]) +
               " / group) x h x w, found " + shapeText(w) + " and group " +
               Twine(group));
  Window window = readWindow(node, Shape(w.drop_front(2)), /*dilated=*/true,
                             /*ceil=*/false);
  if (node.has(2) && node.shape(2) != ArrayRef<int64_t>{w[0]})
    node.error("expected a bias of shape " + Twine(w[0]) + ", found " +
               shapeText(node.shape(2)));
  if (node.failed())
    return;
  // Initialisation counts the elements that a result (an input) depends on.
  Role weight{Role::Weight, w[1] * w[2] * w[3], w[0] * w[2] * w[3]};
  Value image = node.tensor(0), weights = node.tensor(1, weight);
  Value bias = node.has(2) ? node.tensor(2, {Role::Bias}) : Value();
  Shape result = {x[0], w[0], window.out[0], window.out[1]};
  node.resultType(result);
  if (node.failed())
    return;
  node.build<ff::Conv2dOp>(result, image, weights, bias,
                           node.list(window.dilations),
                           node.importer.builder.getI64IntegerAttr(group),
                           node.list(window.pads), node.list(window.strides));
}

/// Reports windows that see no element of the image: their maximum is not
/// defined, nor is their mean.
static void expectPadsBelowWindow(NodeImporter &node, const Window &window) {
  for (size_t d = 0; d < 4 && !node.failed(); ++d) {
    int64_t reach = (window.kernel[d % 2] - 1) * window.dilations[d % 2] + 1;
    if (window.pads[d] >= reach)
      node.error("expected pads smaller than the window of " + Twine(reach) +
                 ", found " + Twine(window.pads[d]));
  }
}

static Shape pooledShape(NodeImporter &node, const Window &window) {
  return {node.shape(0)[0], node.shape(0)[1], window.out[0], window.out[1]};
}

void ffc::importer::importMaxPool(NodeImporter &node) {
  node.expectRank(0, 4);
  if (node.failed())
    return;
  Window window =
      readWindow(node, std::nullopt, /*dilated=*/true, /*ceil=*/true);
  node.ignore("storage_order"); // of the indices
  expectPadsBelowWindow(node, window);
  Value x = node.tensor(0);
  if (node.failed())
    return;
  RankedTensorType y = node.resultType(pooledShape(node, window));
  auto index = y.clone(node.importer.builder.getI32Type());
  if (!node.failed())
    node.define(ff::MaxPoolOp::create(
        node.importer.builder, node.location(), y, index, x,
        node.list(window.dilations), node.list(window.kernel),
        node.list(window.pads), node.list(window.strides)));
}

void ffc::importer::importAveragePool(NodeImporter &node) {
  node.expectRank(0, 4);
  if (node.failed())
    return;
  Window window =
      readWindow(node, std::nullopt, /*dilated=*/false, /*ceil=*/true);
  int64_t countPads = node.integer("count_include_pad", 0);
  expectPadsBelowWindow(node, window);
  Value x = node.tensor(0);
  if (node.failed())
    return;
  Shape result = pooledShape(node, window);
  node.resultType(result);
  if (node.failed())
    return;
  node.build<ff::AveragePoolOp>(
      result, x, node.importer.builder.getI64IntegerAttr(countPads != 0),
      node.list(window.kernel), node.list(window.pads),
      node.list(window.strides));
}

void ffc::importer::importGlobalAveragePool(NodeImporter &node) {
  node.expectRank(0, 4);
  Value x = node.tensor(0);
  if (node.failed())
    return;
  ArrayRef<int64_t> image = node.shape(0);
  node.build<ff::AveragePoolOp>(Shape{image[0], image[1], 1, 1}, x,
                                node.importer.builder.getI64IntegerAttr(0),
                                node.list(image.drop_front(2)),
                                node.list({0, 0, 0, 0}), node.list({1, 1}));
}

void ffc::importer::importLrn(NodeImporter &node) {
  if (node.rank(0) < 2)
    node.error("expected an operand with a channel dimension, found shape " +
               shapeText(node.shape(0)));
  int64_t size = node.integer("size", 0);
  if (size < 1)
    node.error("expected a positive attribute 'size', found " + Twine(size));
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
