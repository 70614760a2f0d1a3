//===- Positions.cpp - numbers made of positions --------------------------===//

#include "Positions.h"

using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;

/// Positions that count from the end, made to count from the start; `extents`
/// broadcasts to them.
static GraphValue *normalized(Expression &made, GraphValue *positions,
                              GraphValue *extents) {
  GraphValue *zero = made.constant(positions->type, {}, {0});
  return made.apply("Where",
                    {made.apply("Less", {positions, zero}),
                     made.apply("Add", {positions, extents}), positions});
}

int64_t ffc::importer::product(llvm::ArrayRef<int64_t> extents) {
  int64_t result = 1;
  for (int64_t extent : extents)
    result *= extent;
  return result;
}

/// Distances of neighbours along each dimension.
static std::vector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape) {
  std::vector<int64_t> strides(shape.size(), 1);
  for (size_t d = shape.size(); d-- > 1;)
    strides[d - 1] = strides[d] * shape[d];
  return strides;
}

/// Reports positions that are no integers, and that dimensions `first` to `end`
/// of the data, along which they are, are the batch.
static void checkOperands(NodeImporter &node, int64_t first, int64_t end) {
  if (node.failed())
    return;
  const GraphValue &positions = node.operand(1);
  if (!isIntegerType(positions.type))
    return node.error("expected integers as operand 1, found type " +
                      elementTypeName(positions.type));
  for (int64_t d = first; d < end; ++d)
    node.expectNoChangedBatch(0, d);
}

/// `shape` with the dimensions before the axis joined, and those behind it.
static Shape joined(llvm::ArrayRef<int64_t> shape, int64_t axis) {
  return {product(shape.take_front(axis)), shape[axis],
          product(shape.drop_front(axis + 1))};
}

std::optional<ElementPositions>
ffc::importer::elementPositions(NodeImporter &node) {
  constexpr int64_t kMostDimensions = 6; // of indices in the IR
  const int64_t rank = node.rank(0);
  const int64_t axis = node.check(resolveAxis(node.integer("axis", 0), rank));
  node.expectRank(1, rank);
  checkOperands(node, axis, axis + 1);
  if (node.failed())
    return std::nullopt;
  const Shape from(node.shape(0)), shape(node.shape(1));
  ElementPositions result;
  result.lines = shape;
  result.lines[axis] = from[axis];
  for (size_t d = 0; d < from.size(); ++d)
    if (result.lines[d] > from[d]) {
      node.error("expected at most " + llvm::Twine(from[d]) +
                 " positions along dimension " + llvm::Twine(d) + ", found " +
                 llvm::Twine(shape[d]));
      return std::nullopt;
    }
  GraphValue &positions = node.operand(1);
  result.indices = indicesOf(node, positions, from[axis]);
  if (node.failed())
    return std::nullopt;
  result.axis = axis;
  result.shape = shape;
  result.indexed = result.lines;
  if (rank > kMostDimensions) {
    result.axis = 1;
    result.shape = joined(shape, axis);
    result.indexed = joined(result.lines, axis);
    result.indices = ff::ReshapeOp::create(
        node.importer.builder, node.location("positions"),
        node.importer.tensorType(result.shape, positions.type), result.indices);
  }
  return result;
}

Named ffc::importer::namedSlices(NodeImporter &node, Expression &made,
                                 int64_t batches) {
  if (node.failed())
    return {};
  const Shape from(node.shape(0)), ids(node.shape(1));
  const auto rank = static_cast<int64_t>(from.size());
  if (batches < 0 || batches >= std::min<int64_t>(rank, ids.size()) ||
      !std::equal(from.begin(), from.begin() + batches, ids.begin())) {
    node.error("expected batch_dims leading dimensions that both operands "
               "have, found " +
               llvm::Twine(batches) + " of " + shapeText(from) + " and " +
               shapeText(ids));
    return {};
  }
  const int64_t depth = ids.back();
  if (depth < 1 || batches + depth > rank) {
    node.error("expected positions along 1 to " + llvm::Twine(rank - batches) +
               " dimensions, found " + llvm::Twine(depth));
    return {};
  }
  checkOperands(node, batches, batches + depth);
  if (node.failed())
    return {};
  const llvm::ArrayRef<int64_t> all(from);
  const auto leading = all.take_front(batches + depth),
             picked = leading.drop_front(batches);
  // Numbers of slices: of those in a sample, and where the sample's begin.
  const std::vector<int64_t> strides = stridesOf(picked);
  Shape outer(ids.begin(), ids.end() - 1), starts(outer);
  std::fill(starts.begin() + batches, starts.end(), 1);
  std::vector<int64_t> first(product(starts));
  for (size_t i = 0; i < first.size(); ++i)
    first[i] = static_cast<int64_t>(i) * product(picked);

  GraphValue *positions = &node.operand(1);
  const int32_t type = positions->type;
  positions =
      normalized(made, positions, made.constant(type, {depth}, picked.vec()));
  positions =
      made.apply("Mul", {positions, made.constant(type, {depth}, strides)});
  GraphValue *number = nullptr;
  for (int64_t d = 0; d < depth; ++d) {
    GraphValue *part = made.apply(
        "Gather", {positions, made.constant(TensorProto::INT64, {}, {d})},
        "axis", static_cast<int64_t>(outer.size()));
    number = number ? made.apply("Add", {number, part}) : part;
  }
  if (batches)
    number = made.apply("Add", {number, made.constant(type, starts, first)});
  return {number, product(leading), product(all.drop_front(batches + depth))};
}
