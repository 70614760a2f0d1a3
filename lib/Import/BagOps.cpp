//===- BagOps.cpp - reductions of bags of rows ----------------------------===//
//
// ReduceBags (JoinBags.h) in terms of others. Bags are consecutive rows: the
// number of a row's bag is that of the bags that begin before it.
//
//===----------------------------------------------------------------------===//

#include "Expression.h"
#include "OpTable.h"
#include "Positions.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;

namespace {
class Bags {
public:
  explicit Bags(NodeImporter &node) : node(node), made(node) {}

  void run();

private:
  std::optional<int64_t> equalSize();
  GraphValue *numbers();
  GraphValue *sumsOf(GraphValue *values, GraphValue *ids, int64_t count,
                     const Twine &name);
  GraphValue *most();
  GraphValue *floats(GraphValue *value) {
    return made.apply("Cast", {value}, "to", TensorProto::FLOAT);
  }

  NodeImporter &node;
  Expression made;
  GraphValue *rows = nullptr, *starts = nullptr, *ends = nullptr;
  int64_t numRows = 0, width = 0, bags = 0;
};
} // namespace

/// The number of rows of every bag, if it is known and the same.
std::optional<int64_t> Bags::equalSize() {
  if (starts->kind != GraphValue::Kind::Constant ||
      ends->kind != GraphValue::Kind::Constant || numRows % bags != 0)
    return std::nullopt;
  const int64_t size = numRows / bags;
  for (int64_t b = 0; b < bags; ++b)
    if (starts->constant.ints[b] != b * size ||
        ends->constant.ints[b] != (b + 1) * size)
      return std::nullopt;
  return size;
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
      TensorProto::FLOAT,
      node.part<ff::EmbeddingBackwardOp>(
          name, Shape{count, values->shape.back()}, indices, from));
}

/// The bag of every row. Bags may begin behind the last row.
GraphValue *Bags::numbers() {
  if (starts->kind == GraphValue::Kind::Constant) {
    const std::vector<int64_t> &first = starts->constant.ints;
    std::vector<int64_t> ids(numRows);
    for (int64_t row = 0; row < numRows; ++row)
      ids[row] =
          std::upper_bound(first.begin(), first.end(), row) - first.begin() - 1;
    return made.constant(TensorProto::INT64, {numRows}, std::move(ids));
  }
  GraphValue *begun = sumsOf(made.filled(TensorProto::FLOAT, {bags, 1}, 1),
                             starts, numRows + 1, "begun");
  begun =
      made.apply("CumSum", {begun, made.constant(TensorProto::INT64, {}, {0})});
  begun = made.slice(begun, 0, 0, numRows);
  begun = made.apply("Sub", {begun, made.number(TensorProto::FLOAT, 1)});
  return made.apply("Cast", {made.reshape(begun, {numRows})}, "to",
                    TensorProto::INT64);
}

/// The largest elements, of all rows that are in the bag.
GraphValue *Bags::most() {
  std::vector<int64_t> all(numRows);
  for (int64_t i = 0; i < numRows; ++i)
    all[i] = i;
  GraphValue *row = made.constant(TensorProto::INT64, {1, numRows, 1}, all);
  GraphValue *isInside = made.apply(
      "And",
      {made.apply("GreaterOrEqual", {row, made.reshape(starts, {bags, 1, 1})}),
       made.apply("Less", {row, made.reshape(ends, {bags, 1, 1})})});
  GraphValue *candidates = made.apply(
      "Where",
      {isInside, made.reshape(rows, {1, numRows, width}),
       made.number(TensorProto::FLOAT, std::numeric_limits<float>::lowest())});
  if (node.failed() || !candidates)
    return nullptr;
  return made.computed(
      TensorProto::FLOAT,
      node.part<ff::ReduceMaxOp>("most", Shape{bags, width}, candidates->value,
                                 node.list({1}),
                                 node.importer.builder.getI64IntegerAttr(0)));
}

void Bags::run() {
  const StringRef reduction = node.text("reduction", "sum");
  const int64_t firstStart = node.integer("first_start", 0),
                firstEnd = node.integer("first_end", 0);
  const auto count = node.scalar(3);
  node.expectRank(0, 2);
  node.expectRank(1, 1);
  node.expectRank(2, 1);
  if (node.failed())
    return;
  bags = static_cast<int64_t>(*count);
  if (bags < 1 || firstStart + bags > node.shape(1)[0] ||
      firstEnd + bags > node.shape(2)[0])
    return node.error("expected bounds of " + Twine(bags) +
                      " bags, found shapes " + shapeText(node.shape(1)) +
                      " and " + shapeText(node.shape(2)));
  rows = &node.operand(0);
  numRows = rows->shape[0];
  width = rows->shape[1];
  starts = made.slice(&node.operand(1), 0, firstStart, firstStart + bags);
  ends = made.slice(&node.operand(2), 0, firstEnd, firstEnd + bags);
  if (node.failed())
    return;

  if (auto size = equalSize()) {
    GraphValue *grouped = made.reshape(rows, {bags, *size, width});
    Value x = node.check(node.importer.floatsOf(*grouped));
    if (node.failed())
      return;
    auto reduce = [&](auto tag) {
      using Op = decltype(tag);
      return made.computed(
          TensorProto::FLOAT,
          node.part<Op>("bags", Shape{bags, width}, x, node.list({1}),
                        node.importer.builder.getI64IntegerAttr(0)));
    };
    GraphValue *y = reduction == "max" ? reduce(ff::ReduceMaxOp())
                                       : reduce(ff::ReduceSumOp());
    if (reduction == "mean")
      y = made.apply("Mul", {y, made.number(TensorProto::FLOAT,
                                            1 / static_cast<double>(*size))});
    if (y)
      node.define(0, y);
    return;
  }
  GraphValue *sizes = floats(made.apply("Sub", {ends, starts}));
  sizes = made.reshape(sizes, {bags, 1});
  GraphValue *y =
      reduction == "max" ? most() : sumsOf(rows, numbers(), bags, "sums");
  GraphValue *one = made.number(TensorProto::FLOAT, 1);
  if (reduction == "mean")
    y = made.apply("Div", {y, made.apply("Max", {sizes, one})});
  if (reduction == "max")
    y = made.apply("Where", {made.apply("GreaterOrEqual", {sizes, one}), y,
                             made.number(TensorProto::FLOAT, 0)});
  if (y)
    node.define(0, y);
}

void ffc::importer::importReduceBags(NodeImporter &node) { Bags(node).run(); }
