//===- RotaryEmbeddingOp.cpp - RotaryEmbedding ----------------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "TypedNode.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;

namespace {
enum { X, Cosines, Sines, Positions };
} // namespace

/// A table of cosines or sines as it is multiplied with the first half of what
/// is turned, [samples, 1, positions, half], or, if `isFlat`, [samples,
/// positions, 1, half].
static GraphValue *rowsOf(NodeImporter &node, Expression &made, int table,
                          Shape shape, int64_t heads) {
  GraphValue *rows = &node.operand(table);
  if (node.has(Positions)) {
    node.expectRank(table, 2);
    node.expectRank(Positions, 2);
    // Unlike the tables of other look-ups it is not trained, unless it is a
    // parameter.
    if (rows->kind != GraphValue::Kind::Constant ||
        node.operand(Positions).kind != GraphValue::Kind::Constant)
      node.tensor(table);
    rows = made.apply("Gather", {rows, &node.operand(Positions)}, "axis", 0);
  }
  if (node.failed())
    return nullptr;
  Shape expected;
  for (size_t d = 0; d < shape.size(); ++d)
    if (static_cast<int64_t>(d) != heads)
      expected.push_back(shape[d]);
  Shape found(rows->shape);
  // One row of positions may stand for all samples.
  if (found.size() == 3 && found[0] == 1)
    expected[0] = shape[0] = 1;
  if (found != expected) {
    node.error("expected operand " + Twine(table) +
               " to give every position half as many numbers as are turned, " +
               shapeText(expected) + ", found " + shapeText(found));
    return nullptr;
  }
  shape[heads] = 1;
  return made.reshape(rows, shape);
}

static void importRotaryEmbedding(NodeImporter &node) {
  const bool isInterleaved = node.integer("interleaved", 0) != 0;
  const bool isFlat = node.rank(X) == 3;
  int64_t turned = node.integer("rotary_embedding_dim", 0);
  const int64_t numHeads = node.integer("num_heads", 0);
  if (!isFlat)
    node.expectRank(X, 4);
  takeNumberType(node, X, /*integers=*/false);
  if (node.failed())
    return;
  const Shape from(node.shape(X));
  Shape shape = from;
  if (isFlat) {
    if (numHeads < 1 || from[2] % numHeads != 0)
      return node.error("expected an attribute 'num_heads' that divides the "
                        "width of operand 0, " +
                        Twine(from[2]) + ", found " + Twine(numHeads));
    shape = {from[0], from[1], numHeads, from[2] / numHeads};
  }
  const int64_t width = shape[3];
  if (turned == 0)
    turned = width;
  if (turned < 0 || turned > width || turned % 2 != 0)
    return node.error("expected an even number of at most " + Twine(width) +
                      " dimensions to turn, found " + Twine(turned));
  const int64_t half = turned / 2;

  Expression made(node);
  Shape quarter = shape;
  quarter[3] = half;
  const int64_t heads = isFlat ? 2 : 1;
  GraphValue *cosines = rowsOf(node, made, Cosines, quarter, heads),
             *sines = rowsOf(node, made, Sines, quarter, heads);
  GraphValue *whole = made.reshape(&node.operand(X), shape);
  GraphValue *both = made.slice(whole, 3, 0, turned);
  // Neighbours are turned together, or those that are `half` apart.
  Shape pairs = quarter;
  int64_t axis = 3, extent = half;
  if (isInterleaved && cosines && sines) {
    pairs.push_back(2);
    axis = 4;
    extent = 1;
    both = made.reshape(both, pairs);
    Shape column(cosines->shape);
    column.push_back(1);
    cosines = made.reshape(cosines, column);
    sines = made.reshape(sines, column);
  }
  GraphValue *first = made.slice(both, axis, 0, extent),
             *second = made.slice(both, axis, extent, 2 * extent);
  auto product = [&](GraphValue *a, GraphValue *b) {
    return made.apply("Mul", {a, b});
  };
  GraphValue *real =
      made.apply("Sub", {product(first, cosines), product(second, sines)});
  GraphValue *imaginary =
      made.apply("Add", {product(first, sines), product(second, cosines)});
  GraphValue *y = made.concat({real, imaginary}, axis);
  shape[3] = turned;
  y = made.reshape(y, shape);
  if (turned < width)
    y = made.concat({y, made.slice(whole, 3, turned, width)}, 3);
  y = made.reshape(y, from);
  if (!node.failed())
    node.define(0, y);
}

void ffc::importer::registerRotaryEmbeddingOp() {
  registerOp("RotaryEmbedding", {importRotaryEmbedding, 3, 4});
}
