//===- BagOps.cpp - reductions of bags of rows ----------------------------===//
//
// ReduceBags (JoinBags.h) in terms of others. Bags are consecutive rows: the
// number of a row's bag is that of the bounds up to it.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "Positions.h"
#include "TypedNode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

#include <algorithm>
#include <limits>
#include <numeric>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;

namespace {
enum { Rows, BoundList, Count, LastBound };

class Bags {
public:
  explicit Bags(NodeImporter &node) : node(node), made(node) {}

  void run();

private:
  bool read();
  void readKnown();
  std::optional<int64_t> equalSize() const;
  template <class Op> GraphValue *reduce(const Twine &name, GraphValue *x);
  GraphValue *sumsOf(GraphValue *values, GraphValue *ids, int64_t count,
                     const Twine &name);
  GraphValue *knownSums();
  GraphValue *computedSums();
  GraphValue *most();
  GraphValue *sizes(GraphValue *ends);

  NodeImporter &node;
  Expression made;
  StringRef reduction;
  int32_t type = TensorProto::FLOAT;
  /// [numRows, width]; the first rows of bags, those behind their last ones,
  /// and the same with the last bound; all bounds.
  GraphValue *rows = nullptr, *starts = nullptr, *ends = nullptr,
             *lastEnds = nullptr, *bounds = nullptr;
  int64_t numRows = 0, width = 0, bags = 0;
  Shape result;
  /// The bounds if they are known, from 0 to numRows.
  std::optional<std::vector<int64_t>> known;
};
} // namespace

bool Bags::read() {
  reduction = node.text("reduction", "sum");
  const int64_t first = node.integer("first", 0);
  takeNumberType(node, Rows, /*integers=*/false);
  node.expectRank(BoundList, 1);
  if (!isIntegerType(node.operand(BoundList).type))
    node.error("expected integers as operand 1, found type " +
               elementTypeName(node.operand(BoundList).type));
  const Shape count = node.constantList(Count);
  const Shape last =
      node.has(LastBound) ? node.constantList(LastBound) : Shape{0};
  if (node.failed())
    return false;
  const int64_t length = node.shape(BoundList)[0];
  if (count.size() != 1 || last.size() != 1 || count[0] < 1 || first < 0 ||
      first >= length || count[0] >= length - first) {
    node.error("expected bounds of [" + shapeText(count) +
               "] bags, found shape " + shapeText(node.shape(BoundList)));
    return false;
  }
  if (node.rank(Rows) < 1)
    node.expectRank(Rows, 2);
  bags = count[0];
  type = node.operand(Rows).type;
  result = node.failed() ? Shape(1, 1) : Shape(node.shape(Rows));
  numRows = result[0];
  result[0] = bags;
  node.resultType(result);
  if (node.failed())
    return false;
  width = *elementCount(result) / bags;
  rows = made.reshape(&node.operand(Rows), {numRows, width});
  bounds = made.slice(&node.operand(BoundList), 0, first, first + bags + 1);
  if (node.failed())
    return false;
  readKnown();
  starts = made.slice(bounds, 0, 0, bags);
  ends = made.slice(bounds, 0, 1, bags + 1);
  lastEnds = ends;
  if (node.has(LastBound)) {
    // That of a slice counts from behind if it is negative.
    const int64_t behind = reduction == "max" && last[0] < 0 ? numRows : 0;
    GraphValue *end = made.constant(bounds->type, {1}, {last[0] + behind});
    lastEnds = bags == 1
                   ? end
                   : made.concat({made.slice(ends, 0, 0, bags - 1), end}, 0);
  }
  return !node.failed();
}

/// Bounds count from behind if they are negative, and end where the rows do.
void Bags::readKnown() {
  if (bounds->kind != GraphValue::Kind::Constant)
    return;
  known = bounds->constant.ints;
  for (int64_t &bound : *known)
    bound =
        std::clamp<int64_t>(bound < 0 ? bound + numRows : bound, 0, numRows);
  bounds = made.constant(bounds->type, {bags + 1}, *known);
}

/// The number of rows of every bag, if it is known and the same, and all rows
/// are in bags.
std::optional<int64_t> Bags::equalSize() const {
  if (!known || numRows % bags != 0 ||
      (node.has(LastBound) && lastEnds->constant.ints.back() != numRows))
    return std::nullopt;
  const int64_t size = numRows / bags;
  for (int64_t b = 0; b <= bags; ++b)
    if ((*known)[b] != b * size)
      return std::nullopt;
  return size;
}

/// Of [bags, rows, width], over the rows.
template <class Op> GraphValue *Bags::reduce(const Twine &name, GraphValue *x) {
  Value values = x ? node.check(node.importer.floatsOf(*x)) : Value();
  if (node.failed())
    return nullptr;
  return made.computed(
      type, node.part<Op>(name, Shape{bags, width}, values, node.list({1}),
                          node.importer.builder.getI64IntegerAttr(0)));
}

/// [count, width]: sums of the values that have a number each.
GraphValue *Bags::sumsOf(GraphValue *values, GraphValue *ids, int64_t count,
                         const Twine &name) {
  if (node.failed() || !values || !ids)
    return nullptr;
  Value from = node.check(node.importer.floatsOf(*values));
  Value indices = indicesOf(node, *ids, count);
  if (node.failed())
    return nullptr;
  return made.computed(
      values->type,
      node.part<ff::EmbeddingBackwardOp>(
          name, Shape{count, values->shape.back()}, indices, from));
}

/// Bags may leave rows out, and share some.
GraphValue *Bags::knownSums() {
  int64_t count = 0;
  for (int64_t b = 0; b < bags; ++b) {
    count += std::max<int64_t>((*known)[b + 1] - (*known)[b], 0);
    node.expectPositions(count);
    if (node.failed())
      return nullptr;
  }
  std::vector<int64_t> taken, ids;
  for (int64_t b = 0; b < bags; ++b)
    for (int64_t row = (*known)[b]; row < (*known)[b + 1]; ++row) {
      taken.push_back(row);
      ids.push_back(b);
    }
  if (count == 0)
    return made.filled(type, {bags, width}, 0);
  GraphValue *values = rows;
  if (!llvm::equal(taken, llvm::seq(numRows)))
    values = made.apply(
        "Gather", {rows, made.constant(TensorProto::INT64, {count}, taken)},
        "axis", 0);
  return sumsOf(values, made.constant(TensorProto::INT64, {count}, ids), bags,
                "sums");
}

/// The number of bounds up to a row is that of its bag from 1 on; before the
/// first bag it is 0. Bounds may be behind the last row.
GraphValue *Bags::computedSums() {
  GraphValue *begun = sumsOf(made.filled(TensorProto::FLOAT, {bags + 1, 1}, 1),
                             bounds, numRows + 1, "begun");
  begun =
      made.apply("CumSum", {begun, made.constant(TensorProto::INT64, {}, {0})});
  begun = made.reshape(made.slice(begun, 0, 0, numRows), {numRows});
  GraphValue *sums =
      sumsOf(rows, made.apply("Cast", {begun}, "to", TensorProto::INT64),
             bags + 2, "sums");
  return made.slice(sums, 0, 1, bags + 1);
}

/// The largest elements, of all rows that are in the bag.
GraphValue *Bags::most() {
  std::vector<int64_t> all(numRows);
  std::iota(all.begin(), all.end(), 0);
  GraphValue *row = made.constant(bounds->type, {1, numRows, 1}, all);
  GraphValue *isInside = made.apply(
      "And",
      {made.apply("GreaterOrEqual", {row, made.reshape(starts, {bags, 1, 1})}),
       made.apply("Less", {row, made.reshape(lastEnds, {bags, 1, 1})})});
  return reduce<ff::ReduceMaxOp>(
      "most",
      made.apply("Where",
                 {isInside, made.reshape(rows, {1, numRows, width}),
                  made.number(type, std::numeric_limits<float>::lowest())}));
}

/// [bags, 1]: the numbers of rows.
GraphValue *Bags::sizes(GraphValue *ends) {
  GraphValue *sizes = made.apply("Sub", {ends, starts});
  return made.reshape(made.apply("Cast", {sizes}, "to", type), {bags, 1});
}

void Bags::run() {
  if (!read())
    return;
  const bool isMax = reduction == "max", isMean = reduction == "mean";
  GraphValue *one = made.number(type, 1), *y = nullptr;
  if (auto size = equalSize()) {
    GraphValue *grouped = made.reshape(rows, {bags, *size, width});
    y = isMax ? reduce<ff::ReduceMaxOp>("bags", grouped)
              : reduce<ff::ReduceSumOp>("bags", grouped);
    if (isMean)
      y = made.apply("Mul",
                     {y, made.number(type, 1 / static_cast<double>(*size))});
  } else if (isMax) {
    y = made.apply("Where", {made.apply("GreaterOrEqual", {sizes(ends), one}),
                             most(), made.number(type, 0)});
  } else {
    y = known ? knownSums() : computedSums();
    if (isMean)
      y = made.apply("Div", {y, made.apply("Max", {sizes(lastEnds), one})});
  }
  y = made.reshape(y, result);
  if (y)
    node.define(0, y);
}

static void importReduceBags(NodeImporter &node) { Bags(node).run(); }

void ffc::importer::registerBagOps() {
  registerOp("ffc.ReduceBags", {importReduceBags, 3, 4});
}
