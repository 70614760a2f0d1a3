//===- ScatterOps.cpp - ScatterElements and ScatterND ---------------------===//
//
// The opposites of GatherElements and GatherND: slices are added up where the
// positions say, as the gradient of a lookup does. With `reduction` none, what
// was there is replaced where a slice was added; ONNX leaves open what becomes
// of positions that are named twice.
//
//===----------------------------------------------------------------------===//

#include "OpTable.h"
#include "Positions.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;

/// One number everywhere.
static GraphValue *filled(NodeImporter &node, ArrayRef<int64_t> shape,
                          double number) {
  GraphValue *value = node.importer.newValue(GraphValue::Kind::Filled,
                                             (node.getName() + ".n").str(),
                                             TensorProto::FLOAT, shape);
  value->fill = number;
  return value;
}

/// [rows, width]: the sums of the rows of `from` that have a number each.
static GraphValue *addedUp(NodeImporter &node, const Twine &name, Value indices,
                           GraphValue *from, int64_t rows) {
  Value values = node.check(node.importer.floatsOf(*from));
  if (node.failed())
    return nullptr;
  const Shape shape = {rows, from->shape.back()};
  GraphValue *sums = node.importer.newValue(GraphValue::Kind::Computed,
                                            (node.getName() + "." + name).str(),
                                            TensorProto::FLOAT, shape);
  sums->value =
      node.part<ff::EmbeddingBackwardOp>(name, shape, indices, values);
  return sums;
}

static void defineScattered(NodeImporter &node, Expression &made,
                            const Named &named) {
  const StringRef reduction = node.text("reduction", "none");
  if (node.failed() || !named.numbers)
    return;
  if (reduction != "none" && reduction != "add")
    return node.error("expected reduction none or add, found '" + reduction +
                      "'");
  if (node.operand(0).type != TensorProto::FLOAT)
    return node.error("expected floats as operand 0, found type " +
                      elementTypeName(node.operand(0).type));
  const int64_t count = product(named.numbers->shape);
  if (product(node.shape(2)) != count * named.width)
    return node.error("expected operand 2 with " + Twine(count * named.width) +
                      " elements, found " + shapeText(node.shape(2)));
  const Shape shape(node.shape(0)), table = {named.rows, named.width};
  GraphValue *data = made.reshape(&node.operand(0), table),
             *added = made.reshape(&node.operand(2), {count, named.width}),
             *numbers = made.reshape(named.numbers, {count});
  if (node.failed())
    return;
  Value indices = indicesOf(node, *numbers, named.rows);
  GraphValue *result = addedUp(node, "sums", indices, added, named.rows);
  if (reduction == "add") {
    result = made.apply("Add", {data, result});
  } else {
    GraphValue *hits =
        addedUp(node, "hits", indices, filled(node, {count, 1}, 1), named.rows);
    result =
        made.apply("Where", {made.apply("Greater", {hits, filled(node, {}, 0)}),
                             result, data});
  }
  if (result)
    result = made.reshape(result, shape);
  if (result)
    node.define(0, result);
}

void ffc::importer::importScatterElements(NodeImporter &node) {
  const int64_t axis =
      node.check(resolveAxis(node.integer("axis", 0), node.rank(0)));
  Expression made(node);
  defineScattered(node, made, namedElements(node, made, axis));
}

void ffc::importer::importScatterND(NodeImporter &node) {
  Expression made(node);
  defineScattered(node, made, namedSlices(node, made, /*batches=*/0));
}
