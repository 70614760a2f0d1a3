//===- PoolOps.cpp - pooling ----------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "TypedNode.h"
#include "Window.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

/// Reports windows that see no element of the image: their maximum is not
/// defined, nor is their mean.
static void expectPadsBelowWindow(NodeImporter &node, const Window &window) {
  for (size_t d = 0; d < window.pads.size() && !node.failed(); ++d)
    if (int64_t reach = window.reach(d % window.spatial());
        window.pads[d] >= reach)
      node.error("expected pads smaller than the window of " + Twine(reach) +
                 ", found " + Twine(window.pads[d]));
}

/// The result's shape.
static Shape pooledShape(NodeImporter &node, const Window &window) {
  return imageShape(node.shape(0)[0], node.shape(0)[1], window.out);
}

/// Defines result 0; null after an error.
static ff::MaxPoolOp buildMaxPool(NodeImporter &node, const Window &window) {
  expectPadsBelowWindow(node, window);
  takeNumberType(node, 0, /*integers=*/true);
  Value x = node.tensor(0);
  if (node.failed())
    return {};
  RankedTensorType y = node.resultType(pooledShape(node, window));
  auto index = y.clone(node.importer.builder.getI32Type());
  if (node.failed())
    return {};
  auto op = ff::MaxPoolOp::create(
      node.importer.builder, node.location(), y, index, x,
      node.list(window.dilations), node.list(window.kernel),
      node.list(window.pads), node.list(window.strides));
  node.define(0, op);
  return op;
}

/// The numbers of positions of `extents` in row-major order as those in
/// column-major order.
static Value columnMajor(NodeImporter &node, Value number,
                         ArrayRef<int64_t> extents) {
  Value result;
  for (size_t d = extents.size(); d-- > 1;) {
    auto part = [&](StringRef name) { return (name + Twine(d)).str(); };
    auto extent = static_cast<double>(extents[d]);
    // The half keeps the quotient so far from whole numbers that its error does
    // not matter.
    Value half =
        unaryPart(node, part("half"), ff::UnaryKind::Shift, number, 0.5);
    Value quotient = unaryPart(node, part("quotient"), ff::UnaryKind::Scale,
                               half, 1 / extent);
    Value outer =
        unaryPart(node, part("outer"), ff::UnaryKind::Floor, quotient);
    Value start =
        unaryPart(node, part("start"), ff::UnaryKind::Scale, outer, extent);
    Value place =
        binaryPart(node, part("place"), ff::BinaryKind::Sub, number, start);
    if (result) {
      result =
          unaryPart(node, part("column"), ff::UnaryKind::Scale, result, extent);
      place = binaryPart(node, part("sum"), ff::BinaryKind::Add, result, place);
    }
    result = place;
    number = outer;
  }
  if (!result)
    return number;
  result = unaryPart(node, "column", ff::UnaryKind::Scale, result,
                     static_cast<double>(extents.front()));
  return binaryPart(node, "sum", ff::BinaryKind::Add, result, number);
}

/// Result 1 is where in operand 0 the maxima are: `index`, which counts from
/// the start of a channel, as a number of the whole tensor.
static void defineIndices(NodeImporter &node, Value index, bool isColumnMajor) {
  ArrayRef<int64_t> image = node.shape(0);
  int64_t count = *elementCount(image), planes = image[0] * image[1];
  int64_t plane = count / planes;
  // Larger integers are not floats. Of those that are divided, a bit is lost to
  // the half and another one to rounding.
  constexpr int64_t most = 1 << 24, mostDivided = 1 << 22;
  if (count > most)
    return node.error("its result 1 counts " + Twine(count) +
                      " elements, expected at most " + Twine(most));
  if (isColumnMajor && plane > mostDivided)
    return node.error("its result 1 counts " + Twine(plane) +
                      " elements of a channel by columns, expected at most " +
                      Twine(mostDivided));
  Value number = node.part<ff::CastOp>(
      "number", cast<RankedTensorType>(index.getType()).getShape(), index);
  if (isColumnMajor)
    number = columnMajor(node, number, image.drop_front(2));
  if (planes > 1) {
    Constant starts;
    starts.type = onnx::TensorProto::FLOAT;
    starts.shape = Shape(image.size(), 1);
    starts.shape[0] = image[0];
    starts.shape[1] = image[1];
    for (int64_t i = 0; i < planes; ++i)
      starts.floats.push_back(static_cast<double>(i * plane));
    Value offsets = node.knownNumbers("planes", std::move(starts));
    if (node.failed())
      return;
    number = binaryPart(node, "indices", ff::BinaryKind::Add, number, offsets);
  }
  node.setElementType(onnx::TensorProto::INT64);
  node.define(1, number.getDefiningOp());
}

static void buildAveragePool(NodeImporter &node, const Window &window,
                             bool countPads) {
  expectPadsBelowWindow(node, window);
  Value x = node.tensor(0);
  if (node.failed())
    return;
  Shape result = pooledShape(node, window);
  node.resultType(result);
  if (node.failed())
    return;
  node.build<ff::AveragePoolOp>(
      result, x, node.importer.builder.getI64IntegerAttr(countPads),
      node.list(window.kernel), node.list(window.pads),
      node.list(window.strides));
}

/// The means of windows with gaps: sums, by a convolution with ones in every
/// channel, over the numbers of elements, which are known.
static void buildDilatedAverage(NodeImporter &node, const Window &window,
                                bool countPads) {
  takeNumberType(node, 0, /*integers=*/false);
  if (node.failed())
    return;
  const size_t spatial = window.spatial();
  const int64_t channels = node.shape(0)[1];
  node.resultType(pooledShape(node, window));
  const auto places = elementCount(window.out);
  if (!node.failed() && places)
    node.expectPositions(*places);
  if (node.failed())
    return;
  Shape ones = {channels, 1}, pads = window.pads, scales = {1, 1};
  ones.append(window.kernel);
  scales.append(window.out);
  std::vector<double> shares(*places, 1);
  for (size_t d = 0; d < spatial; ++d) {
    const int64_t image = node.shape(0)[d + 2], begin = pads[d],
                  end = image + pads[d + spatial];
    // What counts of every window.
    const int64_t low = countPads ? -begin : 0, high = countPads ? end : image;
    int64_t inner = 1;
    for (size_t e = d + 1; e < spatial; ++e)
      inner *= window.out[e];
    for (size_t i = 0; i < shares.size(); ++i) {
      const int64_t out = static_cast<int64_t>(i) / inner % window.out[d];
      int64_t count = 0;
      for (int64_t tap = 0; tap < window.kernel[d]; ++tap) {
        const int64_t at =
            out * window.strides[d] - begin + tap * window.dilations[d];
        count += at >= low && at < high;
      }
      if (count == 0)
        return node.error("expected windows that see an element, found none in "
                          "dimension " +
                          Twine(d + 2));
      shares[i] /= static_cast<double>(count);
    }
    // Rounded up, windows go beyond the pads.
    pads[d + spatial] = std::max<int64_t>(
        pads[d + spatial], (window.out[d] - 1) * window.strides[d] +
                               window.reach(d) - image - begin);
  }
  Expression made(node);
  const int32_t type = node.operand(0).type;
  GraphValue *sums = made.make(MadeNode("Conv")
                                   .integer("group", channels)
                                   .integers("strides", window.strides)
                                   .integers("dilations", window.dilations)
                                   .integers("pads", pads),
                               {&node.operand(0), made.filled(type, ones, 1)});
  made.define(made.mul(sums, made.floats(type, scales, std::move(shares))));
}

static void importMaxPool(NodeImporter &node) {
  expectImage(node);
  if (node.failed())
    return;
  Window window =
      readWindow(node, std::nullopt, /*dilated=*/true, /*ceil=*/true);
  int64_t order = node.integer("storage_order", 0);
  if (order != 0 && order != 1)
    node.error("expected storage_order 0 or 1, found " + Twine(order));
  ff::MaxPoolOp op = buildMaxPool(node, window);
  if (!node.failed() && node.isUsed(1))
    defineIndices(node, op.getIndex(), order == 1);
}

static void importAveragePool(NodeImporter &node) {
  expectImage(node);
  if (node.failed())
    return;
  Window window =
      readWindow(node, std::nullopt, /*dilated=*/true, /*ceil=*/true);
  const bool countPads = node.integer("count_include_pad", 0) != 0;
  if (llvm::any_of(window.dilations, [](int64_t d) { return d != 1; }))
    buildDilatedAverage(node, window, countPads);
  else
    buildAveragePool(node, window, countPads);
}

/// One window, the image.
static Window globalWindow(NodeImporter &node) {
  expectImage(node);
  if (node.failed())
    return {};
  Window window;
  window.kernel = Shape(node.shape(0).drop_front(2));
  window.strides = window.dilations = window.out = Shape(window.spatial(), 1);
  window.pads = Shape(2 * window.spatial(), 0);
  return window;
}

static void importGlobalMaxPool(NodeImporter &node) {
  buildMaxPool(node, globalWindow(node));
}

static void importGlobalAveragePool(NodeImporter &node) {
  buildAveragePool(node, globalWindow(node), /*countPads=*/false);
}

void ffc::importer::registerPoolOps() {
  registerOp("AveragePool", {importAveragePool, 1, 1});
  registerOp("GlobalAveragePool", {importGlobalAveragePool, 1, 1});
  registerOp("GlobalMaxPool", {importGlobalMaxPool, 1, 1});
  registerOp("MaxPool", {importMaxPool, 1, 1});
}
