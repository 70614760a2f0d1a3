//===- TypedNode.cpp - parts of element-wise operators --------------------===//

#include "TypedNode.h"

#include "Bits.h"

#include "ffc/IR/ShapeInference.h"

#include <algorithm>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;

void ffc::importer::takeNumberType(NodeImporter &node, int i, bool integers) {
  int32_t type = node.operand(i).type;
  if (!isCarriedType(type) || type == TensorProto::BOOL ||
      (!integers && !isFloatType(type)))
    return node.unsupported(" of " + elementTypeName(type));
  node.setElementType(type);
}

void ffc::importer::expectOneType(NodeImporter &node, ArrayRef<int> operands) {
  int32_t first = node.operand(operands.front()).type;
  for (int i : operands.drop_front())
    if (int32_t type = node.operand(i).type; type != first)
      node.error("expected operands of one type, found " +
                 elementTypeName(first) + " and " + elementTypeName(type));
}

static Location locationOf(NodeImporter &node, StringRef part) {
  return part.empty() ? node.location() : node.location(part);
}

Value ffc::importer::unaryPart(NodeImporter &node, const Twine &name,
                               ff::UnaryKind kind, Value x,
                               std::optional<double> alpha,
                               std::optional<double> beta) {
  OpBuilder &builder = node.importer.builder;
  auto attr = [&](std::optional<double> value) {
    return value ? builder.getF64FloatAttr(*value) : FloatAttr();
  };
  return ff::UnaryOp::create(builder, locationOf(node, name.str()), x.getType(),
                             kind, x, attr(alpha), attr(beta));
}

Value ffc::importer::binaryPart(NodeImporter &node, const Twine &name,
                                ff::BinaryKind kind, Value a, Value b) {
  auto shape =
      ff::broadcastShapes(cast<RankedTensorType>(a.getType()).getShape(),
                          cast<RankedTensorType>(b.getType()).getShape());
  assert(shape && "operands that broadcast");
  return ff::BinaryOp::create(node.importer.builder,
                              locationOf(node, name.str()),
                              node.partType(*shape), kind, a, b);
}

Constant ffc::importer::positions(NodeImporter &node, int64_t count,
                                  int64_t rank) {
  node.expectPositions(count);
  Constant result;
  if (node.failed())
    return result;
  result.type = TensorProto::FLOAT;
  result.shape = Shape(rank, 1);
  result.shape.front() = count;
  for (int64_t i = 0; i < count; ++i)
    result.floats.push_back(static_cast<double>(i));
  return result;
}

Diagonal ffc::importer::diagonalOf(NodeImporter &node, int64_t rows,
                                   int64_t columns, double offset) {
  // Beyond the matrix, the numbers need not be exact.
  offset = std::clamp(offset, -static_cast<double>(rows),
                      static_cast<double>(columns));
  Constant places = positions(node, rows, 2);
  for (double &place : places.floats)
    place += offset;
  Diagonal diagonal;
  diagonal.rows = node.knownNumbers("diagonal", std::move(places));
  diagonal.columns = node.knownNumbers("columns", positions(node, columns, 1));
  return diagonal;
}

void ffc::importer::defineCast(NodeImporter &node, Value x, int32_t type) {
  if (node.failed())
    return;
  node.setElementType(type);
  RankedTensorType result = node.importer.tensorType(
      cast<RankedTensorType>(x.getType()).getShape(), type);
  const Value before = x;
  if (x.getType() != result)
    x = ff::CastOp::create(node.importer.builder, node.location("cast"), result,
                           x);
  x = wrappedTo(node, x, type);
  if (x == before)
    node.define(0, x);
  else if (!node.failed())
    node.defineLast(x);
}
