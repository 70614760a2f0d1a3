//===- ShapeOps.cpp - operators that give elements another shape ----------===//

#include "NodeImporter.h"
#include "OpTable.h"

#include "ffc/IR/ShapeInference.h"

#include "llvm/ADT/Sequence.h"

#include <climits>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

/// Result 0 is operand 0 with another shape.
static void buildReshape(NodeImporter &node, llvm::Expected<Shape> plain) {
  Shape shape = node.reshaped(std::move(plain));
  if (node.failed())
    return;
  if (ArrayRef<int64_t>(shape) == node.shape(0))
    return node.defineSame(node.operand(0));
  Value x = node.tensor(0);
  node.resultType(shape);
  if (!node.failed())
    node.build<ff::ReshapeOp>(shape, x);
}

static void importReshape(NodeImporter &node) {
  bool allowZero = node.integer("allowzero", 0) != 0;
  Shape target = node.constantList(1);
  if (!node.failed())
    buildReshape(node, resolveReshape(node.shape(0), target, allowZero));
}

static void importFlatten(NodeImporter &node) {
  int64_t given = node.integer("axis", 1), rank = node.rank(0);
  int64_t axis = given == rank ? rank : node.check(resolveAxis(given, rank));
  if (node.failed())
    return;
  ArrayRef<int64_t> shape = node.shape(0);
  Shape target = {*elementCount(shape.take_front(axis)),
                  *elementCount(shape.drop_front(axis))};
  // With one sample, flattening everything and flattening the sample look the
  // same; with more they do not.
  for (int64_t d = axis; d < rank; ++d)
    if (node.isChangedBatch(0, d))
      return node.error("merges the batch with what is in a sample and stands "
                        "in the way of --batch-size");
  buildReshape(node, target);
}

/// The axes of Squeeze and Unsqueeze, an operand since opset 13.
static std::optional<Shape> readAxes(NodeImporter &node) {
  if (node.opset() < 13)
    return node.integers("axes");
  if (!node.has(1))
    return std::nullopt;
  return node.constantList(1);
}

static void importSqueeze(NodeImporter &node) {
  std::optional<Shape> axes = readAxes(node);
  if (!node.failed())
    buildReshape(node, squeezedShape(node.shape(0), axes));
}

static void importUnsqueeze(NodeImporter &node) {
  std::optional<Shape> axes = readAxes(node);
  if (!axes)
    node.error("expected axes");
  if (!node.failed())
    buildReshape(node, unsqueezedShape(node.shape(0), *axes));
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

static void importTranspose(NodeImporter &node) {
  int64_t rank = node.rank(0);
  Shape perm = node.integers("perm").value_or(
      llvm::to_vector(llvm::reverse(llvm::seq<int64_t>(rank))));
  Shape sorted = perm;
  llvm::sort(sorted);
  if (!llvm::equal(sorted, llvm::seq<int64_t>(rank)))
    node.error("expected attribute 'perm' to be a permutation of " +
               Twine(rank) + " dimensions");
  Value x = node.tensor(0);
  if (node.failed())
    return;
  Shape shape;
  for (int64_t d : perm)
    shape.push_back(node.shape(0)[d]);
  node.build<ff::TransposeOp>(shape, x, node.list(perm));
}

static void importExpand(NodeImporter &node) {
  Shape target = node.constantList(1);
  if (node.failed())
    return;
  auto shape = ff::broadcastShapes(node.shape(0), target);
  if (!shape)
    return node.error("cannot expand " + shapeText(node.shape(0)) + " to " +
                      shapeText(target));
  if (ArrayRef<int64_t>(*shape) == node.shape(0))
    return node.defineSame(node.operand(0));
  Value x = node.tensor(0);
  node.resultType(*shape);
  if (!node.failed())
    node.build<ff::ExpandOp>(*shape, x);
}

static void importTile(NodeImporter &node) {
  Shape repeats = node.constantList(1), from(node.shape(0));
  if (!node.failed() && repeats.size() != from.size())
    node.error("expected " + Twine(from.size()) + " repeats, found " +
               Twine(repeats.size()));
  Value x = node.tensor(0);
  if (node.failed())
    return;
  // A dimension of several elements gets one for the repeats before it, which
  // is expanded and joined with it again.
  Shape apart, expanded, result;
  for (auto [d, extent] : llvm::enumerate(from)) {
    int64_t repeat = repeats[d];
    if (repeat < 1 || repeat > INT_MAX)
      return node.error("expected repeats over 0, found " + Twine(repeat));
    if (repeat != 1 && node.isChangedBatch(0, d))
      return node.error(
          "repeats the batch and stands in the way of --batch-size");
    if (repeat != 1 && extent != 1) {
      apart.push_back(1);
      expanded.push_back(repeat);
    }
    apart.push_back(extent);
    expanded.push_back(extent == 1 ? repeat : extent);
  }
  node.partType(expanded);
  if (node.failed())
    return;
  for (auto [repeat, extent] : llvm::zip_equal(repeats, from))
    result.push_back(repeat * extent);
  if (result == from)
    return node.defineSame(node.operand(0));
  if (apart != from)
    x = node.part<ff::ReshapeOp>("apart", apart, x);
  x = node.part<ff::ExpandOp>("expand", expanded, x);
  if (expanded != result)
    x = node.part<ff::ReshapeOp>("joined", result, x);
  node.defineLast(x);
}

/// Result 0 is operand 0 in `apart`, its dimensions permuted, in `result`.
static void buildShuffle(NodeImporter &node, ArrayRef<int64_t> apart,
                         ArrayRef<int64_t> perm, ArrayRef<int64_t> result) {
  Value x = node.tensor(0);
  if (node.failed())
    return;
  Shape permuted;
  for (int64_t d : perm)
    permuted.push_back(apart[d]);
  x = node.part<ff::ReshapeOp>("apart", apart, x);
  x = node.part<ff::TransposeOp>("transpose", permuted, x, node.list(perm));
  node.build<ff::ReshapeOp>(result, x);
}

/// The attribute 'blocksize' of an operator on images.
static int64_t readBlockSize(NodeImporter &node) {
  node.expectRank(0, 4);
  int64_t size = node.integer("blocksize", 0);
  if (size < 1 || size > INT_MAX)
    node.error("expected a positive attribute 'blocksize', found " +
               Twine(size));
  return node.failed() ? 1 : size;
}

/// Do channels count the blocks' positions first (DCR)?
static bool readDepthFirst(NodeImporter &node) {
  StringRef mode = node.text("mode", "DCR");
  if (mode != "DCR" && mode != "CRD")
    node.error("expected mode 'DCR' or 'CRD', found '" + mode + "'");
  return mode == "DCR";
}

static void importDepthToSpace(NodeImporter &node) {
  int64_t b = readBlockSize(node);
  bool isDepthFirst = readDepthFirst(node);
  if (node.failed())
    return;
  ArrayRef<int64_t> x = node.shape(0);
  int64_t c = x[1] / (b * b);
  if (c * b * b != x[1])
    return node.error("expected a multiple of " + Twine(b * b) +
                      " channels, found shape " + shapeText(x));
  Shape result = {x[0], c, x[2] * b, x[3] * b};
  if (isDepthFirst)
    buildShuffle(node, {x[0], b, b, c, x[2], x[3]}, {0, 3, 4, 1, 5, 2}, result);
  else
    buildShuffle(node, {x[0], c, b, b, x[2], x[3]}, {0, 1, 4, 2, 5, 3}, result);
}

static void importSpaceToDepth(NodeImporter &node) {
  int64_t b = readBlockSize(node);
  bool isDepthFirst = readDepthFirst(node);
  if (node.failed())
    return;
  ArrayRef<int64_t> x = node.shape(0);
  int64_t h = x[2] / b, w = x[3] / b;
  if (h * b != x[2] || w * b != x[3])
    return node.error("expected rows and columns in multiples of " + Twine(b) +
                      ", found shape " + shapeText(x));
  Shape apart = {x[0], x[1], h, b, w, b}, result = {x[0], x[1] * b * b, h, w};
  if (isDepthFirst)
    buildShuffle(node, apart, {0, 3, 5, 1, 2, 4}, result);
  else
    buildShuffle(node, apart, {0, 1, 3, 5, 2, 4}, result);
}

void ffc::importer::registerShapeOps() {
  registerOp("DepthToSpace", {importDepthToSpace, 1, 1, 0, true});
  registerOp("Expand", {importExpand, 2, 2, 0, true});
  registerOp("Flatten", {importFlatten, 1, 1, 0, true});
  registerOp("Reshape", {importReshape, 2, 2, 0, true});
  registerOp("SpaceToDepth", {importSpaceToDepth, 1, 1, 0, true});
  registerOp("Squeeze", {importSqueeze, 1, 2, 0, true});
  registerOp("Tile", {importTile, 2, 2, 0, true});
  registerOp("Transpose", {importTranspose, 1, 1, 0, true});
  registerOp("Unsqueeze", {importUnsqueeze, 1, 2, 0, true});
}
