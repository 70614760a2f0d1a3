//===- BroadcastOps.cpp - functions of operands that broadcast ------------===//

#include "NodeImporter.h"
#include "OpTable.h"
#include "TypedNode.h"

#include "ffc/IR/ShapeInference.h"

#include "llvm/ADT/StringSwitch.h"

#include <climits>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using ff::BinaryKind;
using ff::UnaryKind;
using onnx::TensorProto;

/// The shape that the operands broadcast to; reports if they do not.
static Shape commonShape(NodeImporter &node, ArrayRef<int> operands) {
  Shape shape;
  for (int i : operands) {
    auto joined = ff::broadcastShapes(shape, node.shape(i));
    if (!joined) {
      node.error("cannot broadcast " + shapeText(shape) + " and " +
                 shapeText(node.shape(i)));
      return shape;
    }
    shape = Shape(*joined);
  }
  return shape;
}

/// The value of operand i if it is a constant of one element that operand
/// `other` need not be expanded for. Parameters are no constants.
static std::optional<double> knownNumber(NodeImporter &node, int i, int other) {
  GraphValue &value = node.operand(i);
  if (node.rank(i) > node.rank(other) || elementCount(value.shape) != 1)
    return std::nullopt;
  // Some operator may have made it a parameter.
  if (value.value && !value.shape.empty())
    return std::nullopt;
  if (value.kind == GraphValue::Kind::Constant)
    return value.constant.number(0);
  if (value.kind == GraphValue::Kind::Filled)
    return value.fill;
  return std::nullopt;
}

/// Are results of `opType` on integers of `type` to be rounded or wrapped? Sums
/// and products of wider types are exact as long as floats hold them.
static bool needsCast(StringRef opType, int32_t type) {
  return isIntegerType(type) &&
         (isNarrowInteger(type) || opType == "Div" || opType == "Pow");
}

/// Result 0 is `y`, computed by the part called `partName`.
static void finish(NodeImporter &node, Value y, int32_t type) {
  if (node.failed())
    return;
  if (needsCast(node.opType(), type))
    defineCast(node, y, type);
  else
    node.defineLast(y);
}

/// The name of the part that computes result 0 before it is cast.
static StringRef partName(NodeImporter &node, int32_t type) {
  return needsCast(node.opType(), type) ? "float" : "";
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

/// x + number, x - number and so on, which need no tensor.
static Value buildWithNumber(NodeImporter &node, const Twine &name, Value x,
                             double number) {
  StringRef op = node.opType();
  if (op == "Add")
    return unaryPart(node, name, UnaryKind::Shift, x, number);
  if (op == "Sub")
    return unaryPart(node, name, UnaryKind::Shift, x, -number);
  return unaryPart(node, name, UnaryKind::Scale, x,
                   op == "Div" ? 1 / number : number);
}

/// number + x, number - x and so on.
static Value buildWithNumber(NodeImporter &node, const Twine &name,
                             double number, Value x) {
  StringRef op = node.opType();
  if (op == "Sub") {
    Value negated = unaryPart(node, "negate", UnaryKind::Scale, x, -1);
    return unaryPart(node, name, UnaryKind::Shift, negated, number);
  }
  if (op != "Div")
    return buildWithNumber(node, name, x, number);
  if (number == 1)
    return unaryPart(node, name, UnaryKind::Reciprocal, x);
  Value inverse = unaryPart(node, "reciprocal", UnaryKind::Reciprocal, x);
  return unaryPart(node, name, UnaryKind::Scale, inverse, number);
}

static void importArithmetic(NodeImporter &node) {
  auto kind = llvm::StringSwitch<BinaryKind>(node.opType())
                  .Case("Add", BinaryKind::Add)
                  .Case("Sub", BinaryKind::Sub)
                  .Case("Mul", BinaryKind::Mul)
                  .Default(BinaryKind::Div);
  expectOneType(node, {0, 1});
  takeNumberType(node, 0, /*integers=*/true);
  node.resultType(commonShape(node, {0, 1}));
  if (node.failed())
    return;
  int32_t type = node.operand(0).type;
  StringRef name = partName(node, type);
  // A quotient of integers is truncated, so it has to be exact, and so does one
  // by a number whose inverse is none.
  bool isExact = isIntegerType(type) && kind == BinaryKind::Div;
  const auto second = isExact ? std::nullopt : knownNumber(node, 1, 0);
  if (second && (kind != BinaryKind::Div || *second != 0)) {
    Value a = node.tensor(0);
    if (!node.failed())
      finish(node, buildWithNumber(node, name, a, *second), type);
    return;
  }
  const auto first = isExact || second ? std::nullopt : knownNumber(node, 0, 1);
  Value a = first ? Value() : node.tensor(0);
  Value b = node.tensor(1);
  if (node.failed())
    return;
  if (first)
    finish(node, buildWithNumber(node, name, *first, b), type);
  else
    finish(node, binaryPart(node, name, kind, a, b), type);
}

/// x to the power of a known exponent by cheaper functions; null if there are
/// none.
static Value buildKnownPower(NodeImporter &node, const Twine &name, Value x,
                             double exponent) {
  if (exponent == 2)
    return binaryPart(node, name, BinaryKind::Mul, x, x);
  if (exponent == 3) {
    Value square = binaryPart(node, "square", BinaryKind::Mul, x, x);
    return binaryPart(node, name, BinaryKind::Mul, square, x);
  }
  if (exponent == 0.5)
    return unaryPart(node, name, UnaryKind::Sqrt, x);
  if (exponent == -1)
    return unaryPart(node, name, UnaryKind::Reciprocal, x);
  if (exponent == -0.5) {
    Value root = unaryPart(node, "sqrt", UnaryKind::Sqrt, x);
    return unaryPart(node, name, UnaryKind::Reciprocal, root);
  }
  return {};
}

static void importPow(NodeImporter &node) {
  // Base and exponent may be of different types.
  takeNumberType(node, 0, /*integers=*/true);
  node.resultType(commonShape(node, {0, 1}));
  Value x = node.tensor(0);
  if (node.failed())
    return;
  int32_t type = node.operand(0).type;
  StringRef name = partName(node, type);
  std::optional<double> exponent = knownNumber(node, 1, 0);
  if (exponent == 1.0)
    return node.defineSame(node.operand(0));
  Value power = exponent ? buildKnownPower(node, name, x, *exponent) : Value();
  if (!power) {
    Value tensor = node.numbers(1);
    if (node.failed())
      return;
    power = binaryPart(node, name, BinaryKind::Pow, x, tensor);
  }
  finish(node, power, type);
}

static void importPRelu(NodeImporter &node) {
  Shape shape = commonShape(node, {0, 1});
  if (ArrayRef<int64_t>(shape) != node.shape(0))
    node.error("expected a slope that broadcasts to " +
               shapeText(node.shape(0)) + ", found shape " +
               shapeText(node.shape(1)));
  expectOneType(node, {0, 1});
  takeNumberType(node, 0, /*integers=*/true);
  Value x = node.numbers(0), slope = node.numbers(1, {Role::Bias});
  if (!node.failed())
    node.build<ff::BinaryOp>(shape, BinaryKind::Prelu, x, slope);
}

/// Sum, Mean, Max and Min of any number of operands.
static void importVariadic(NodeImporter &node) {
  auto kind = llvm::StringSwitch<BinaryKind>(node.opType())
                  .Case("Max", BinaryKind::Max)
                  .Case("Min", BinaryKind::Min)
                  .Default(BinaryKind::Add);
  int count = node.node.input_size();
  SmallVector<int> all;
  for (int i = 0; i < count; ++i) {
    if (!node.has(i))
      return node.error("operand " + Twine(i) + " is missing");
    all.push_back(i);
  }
  expectOneType(node, all);
  takeNumberType(node, 0, /*integers=*/true);
  node.resultType(commonShape(node, all));
  if (node.failed())
    return;
  if (count == 1)
    return node.defineSame(node.operand(0));
  Value y = node.tensor(0);
  for (int i = 1; i < count && !node.failed(); ++i)
    if (Value x = node.tensor(i))
      y = binaryPart(node, Twine(i), kind, y, x);
  if (node.failed())
    return;
  if (node.opType() == "Mean")
    y = unaryPart(node, "scale", UnaryKind::Scale, y, 1.0 / count);
  node.defineLast(y);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

static void importComparison(NodeImporter &node) {
  auto kind = llvm::StringSwitch<BinaryKind>(node.opType())
                  .Case("Equal", BinaryKind::Equal)
                  .Case("Less", BinaryKind::Less)
                  .Case("LessOrEqual", BinaryKind::LessOrEqual)
                  .Case("Greater", BinaryKind::Greater)
                  .Default(BinaryKind::GreaterOrEqual);
  expectOneType(node, {0, 1});
  Shape shape = commonShape(node, {0, 1});
  node.setElementType(TensorProto::BOOL);
  node.resultType(shape);
  Value a = node.numbers(0), b = node.numbers(1);
  if (!node.failed())
    node.build<ff::BinaryOp>(shape, kind, a, b);
}

static void importLogical(NodeImporter &node) {
  auto kind = llvm::StringSwitch<BinaryKind>(node.opType())
                  .Case("And", BinaryKind::Mul)
                  .Case("Or", BinaryKind::Max)
                  .Default(BinaryKind::Sub);
  node.setElementType(TensorProto::BOOL);
  node.resultType(commonShape(node, {0, 1}));
  Value a = node.tensor(0), b = node.tensor(1);
  if (node.failed())
    return;
  Value y =
      binaryPart(node, kind == BinaryKind::Sub ? "difference" : "", kind, a, b);
  if (kind == BinaryKind::Sub)
    y = unaryPart(node, "", UnaryKind::Abs, y);
  node.defineLast(y);
}

static void importNot(NodeImporter &node) {
  node.setElementType(TensorProto::BOOL);
  Value x = node.tensor(0);
  if (node.failed())
    return;
  Value negated = unaryPart(node, "negate", UnaryKind::Scale, x, -1);
  node.defineLast(unaryPart(node, "", UnaryKind::Shift, negated, 1));
}

static void importWhere(NodeImporter &node) {
  Shape shape = commonShape(node, {0, 1, 2});
  expectOneType(node, {1, 2});
  node.setElementType(TensorProto::BOOL);
  node.resultType(shape);
  Value condition = node.tensor(0);
  node.setElementType(node.operand(1).type);
  Value a = node.tensor(1), b = node.tensor(2);
  if (!node.failed())
    node.build<ff::SelectOp>(shape, condition, a, b);
}

void ffc::importer::registerBroadcastOps() {
  registerOp("Add", {importArithmetic, 2, 2});
  registerOp("And", {importLogical, 2, 2});
  registerOp("Div", {importArithmetic, 2, 2});
  registerOp("Equal", {importComparison, 2, 2});
  registerOp("Greater", {importComparison, 2, 2});
  registerOp("GreaterOrEqual", {importComparison, 2, 2});
  registerOp("Less", {importComparison, 2, 2});
  registerOp("LessOrEqual", {importComparison, 2, 2});
  registerOp("Max", {importVariadic, 1, INT_MAX});
  registerOp("Mean", {importVariadic, 1, INT_MAX});
  registerOp("Min", {importVariadic, 1, INT_MAX});
  registerOp("Mul", {importArithmetic, 2, 2});
  registerOp("Not", {importNot, 1, 1});
  registerOp("Or", {importLogical, 2, 2});
  registerOp("PRelu", {importPRelu, 2, 2, 0b10});
  registerOp("Pow", {importPow, 2, 2});
  registerOp("Sub", {importArithmetic, 2, 2});
  registerOp("Sum", {importVariadic, 1, INT_MAX});
  registerOp("Where", {importWhere, 3, 3});
  registerOp("Xor", {importLogical, 2, 2});
}
