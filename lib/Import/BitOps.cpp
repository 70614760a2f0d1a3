//===- BitOps.cpp - functions of bits -------------------------------------===//
//
// Of integers as they are, not of the floats that carry them elsewhere: of 64
// bits, of 32, or bytes without sign. Narrower ones with a sign, and those of
// 16 bits, are in 32 bits; 32 bits without sign are in 64.
//
//===----------------------------------------------------------------------===//

#include "Bits.h"
#include "OpTable.h"
#include "TypedNode.h"

#include "ffc/IR/ShapeInference.h"

#include "llvm/ADT/StringSwitch.h"

#include <cstring>

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using ff::BitwiseKind;
using onnx::TensorProto;

/// What a function makes of numbers of `type`, in the bits that hold them.
static int64_t bitsOf(BitwiseKind kind, int64_t a, int64_t b, int32_t type) {
  const int64_t bits = 8 * elementBytes(type);
  const bool isInside = b >= 0 && b < bits;
  auto ua = static_cast<uint64_t>(a);
  switch (kind) {
  case BitwiseKind::And:
    return a & b;
  case BitwiseKind::Or:
    return a | b;
  case BitwiseKind::Xor:
    return a ^ b;
  case BitwiseKind::ShiftLeft:
    return isInside ? static_cast<int64_t>(ua << b) : 0;
  case BitwiseKind::ShiftRight:
    return isInside ? a >> b : (a < 0 ? -1 : 0);
  case BitwiseKind::ShiftRightUnsigned:
    return isInside ? static_cast<int64_t>(ua >> b) : 0;
  }
  llvm_unreachable("unknown kind");
}

/// The function of a node; reports a direction that is none.
static llvm::Expected<BitwiseKind> kindOf(const onnx::NodeProto &node,
                                          int32_t type) {
  StringRef name = node.op_type();
  if (name != "BitShift")
    return llvm::StringSwitch<BitwiseKind>(name)
        .Case("BitwiseAnd", BitwiseKind::And)
        .Case("BitwiseOr", BitwiseKind::Or)
        .Default(BitwiseKind::Xor); // BitwiseNot: with -1
  const auto *direction = findAttribute(node, "direction");
  const StringRef text = direction ? StringRef(direction->s()) : "";
  if (text == "LEFT")
    return BitwiseKind::ShiftLeft;
  if (text == "RIGHT")
    return type == TensorProto::UINT64 ? BitwiseKind::ShiftRightUnsigned
                                       : BitwiseKind::ShiftRight;
  return makeError("expected attribute 'direction' LEFT or RIGHT, found '" +
                   text + "'");
}

static llvm::Error expectIntegers(int32_t type) {
  if (isIntegerType(type) && type != TensorProto::BOOL)
    return llvm::Error::success();
  return makeError("expected integers, found type " + elementTypeName(type));
}

llvm::Expected<Constant> ffc::importer::foldBits(const FoldCall &call) {
  const Constant &a = *call.inputs[0];
  if (llvm::Error error = expectIntegers(a.type))
    return error;
  auto kind = kindOf(call.node, a.type);
  if (!kind)
    return kind.takeError();
  Constant all;
  all.type = a.type;
  all.ints = {-1};
  const bool isNot = call.node.op_type() == "BitwiseNot";
  return combineConstants(
      a, isNot ? all : *call.inputs[1],
      [&](int64_t x, int64_t y) { return bitsOf(*kind, x, y, a.type); });
}

//===----------------------------------------------------------------------===//
// In the IR
//===----------------------------------------------------------------------===//

/// `number` as a scalar of the type of `like`.
static Value numberLike(NodeImporter &node, Value like, int64_t number) {
  Constant value;
  value.type = TensorProto::FLOAT;
  value.floats = {static_cast<double>(number)};
  Value scalar = node.knownNumbers("number", std::move(value));
  if (node.failed())
    return {};
  auto type = RankedTensorType::get({}, getElementTypeOrSelf(like.getType()));
  return ff::CastOp::create(node.importer.builder, node.location("bits"), type,
                            scalar);
}

static Value bitPart(NodeImporter &node, const Twine &name, BitwiseKind kind,
                     Value a, Value b) {
  if (node.failed())
    return {};
  auto shape =
      ff::broadcastShapes(cast<RankedTensorType>(a.getType()).getShape(),
                          cast<RankedTensorType>(b.getType()).getShape());
  return ff::BitwiseOp::create(
      node.importer.builder, node.location(name),
      RankedTensorType::get(*shape, getElementTypeOrSelf(a.getType())), kind, a,
      b);
}

/// Shifts to the left and back, by what `held` has more bits than `type`.
Value ffc::importer::wrappedTo(NodeImporter &node, Value x, int32_t type) {
  auto held = dyn_cast<IntegerType>(getElementTypeOrSelf(x.getType()));
  const int64_t bits = 8 * elementBytes(type);
  if (!held || held.getWidth() <= bits || type == TensorProto::BOOL)
    return x;
  Value rest = numberLike(node, x, held.getWidth() - bits);
  x = bitPart(node, "wide", BitwiseKind::ShiftLeft, x, rest);
  const bool isUnsigned =
      type == TensorProto::UINT16 || type == TensorProto::UINT32;
  return bitPart(node, "narrow",
                 isUnsigned ? BitwiseKind::ShiftRightUnsigned
                            : BitwiseKind::ShiftRight,
                 x, rest);
}

static void importBits(NodeImporter &node) {
  node.ignore("direction");
  const int32_t type = node.operand(0).type;
  const bool isNot = node.opType() == "BitwiseNot";
  if (!isNot)
    expectOneType(node, {0, 1});
  node.check(expectIntegers(type));
  if (node.failed())
    return;
  if (!isCarriedType(type))
    return node.unsupported(" of " + elementTypeName(type));
  BitwiseKind kind = node.check(kindOf(node.node, type));
  auto shape = isNot ? ff::broadcastShapes(node.shape(0), {})
                     : ff::broadcastShapes(node.shape(0), node.shape(1));
  if (!shape)
    return node.error("cannot broadcast " + shapeText(node.shape(0)) + " and " +
                      shapeText(node.shape(1)));
  node.setElementType(type);
  node.resultType(*shape);
  if (node.failed())
    return;
  Value a = node.check(node.importer.typedValueOf(node.operand(0)));
  if (node.failed())
    return;
  Value b = isNot ? numberLike(node, a, type == TensorProto::UINT8 ? 255 : -1)
                  : node.check(node.importer.typedValueOf(node.operand(1)));
  Value y = bitPart(node, "value", kind, a, b);
  if (node.failed())
    return;
  if (kind == BitwiseKind::ShiftLeft || isNot)
    y = wrappedTo(node, y, type);
  if (!node.failed())
    node.defineLast(y);
}

//===----------------------------------------------------------------------===//
// BitCast
//===----------------------------------------------------------------------===//

/// The bits of element i of a constant that was read from a file.
static uint64_t patternOf(const Constant &value, int64_t i) {
  if (!value.isFloat())
    return static_cast<uint64_t>(value.ints[i]);
  uint64_t bits = 0;
  if (value.type == TensorProto::DOUBLE) {
    std::memcpy(&bits, &value.floats[i], sizeof bits);
    return bits;
  }
  const auto number = static_cast<float>(value.floats[i]);
  uint32_t narrow = 0;
  std::memcpy(&narrow, &number, sizeof narrow);
  return narrow;
}

llvm::Expected<Constant> ffc::importer::foldBitCast(const FoldCall &call) {
  const Constant &from = *call.inputs[0];
  Constant result;
  result.type = static_cast<int32_t>(call.integer("to", 0));
  result.shape = from.shape;
  auto is16 = [](int32_t type) {
    return type == TensorProto::FLOAT16 || type == TensorProto::BFLOAT16;
  };
  if (elementBytes(result.type) == 0 ||
      elementBytes(result.type) != elementBytes(from.type))
    return makeError("expected types of as many bits, found " +
                     elementTypeName(from.type) + " and " +
                     elementTypeName(result.type));
  if (is16(from.type) || is16(result.type))
    return makeError("expected no floats of 16 bits, found " +
                     elementTypeName(from.type) + " and " +
                     elementTypeName(result.type));
  for (int64_t i = 0; i < from.size(); ++i) {
    const uint64_t bits = patternOf(from, i);
    if (!result.isFloat()) {
      result.ints.push_back(static_cast<int64_t>(bits));
    } else if (result.type == TensorProto::DOUBLE) {
      double number;
      std::memcpy(&number, &bits, sizeof number);
      result.floats.push_back(number);
    } else {
      const auto narrow = static_cast<uint32_t>(bits);
      float number;
      std::memcpy(&number, &narrow, sizeof number);
      result.floats.push_back(number);
    }
  }
  result.normalize();
  return result;
}

/// Of what is known; the bits of floats are not at hand in the IR.
static void importBitCast(NodeImporter &node) {
  if (node.operand(0).kind == GraphValue::Kind::Computed)
    return node.unsupported(" of a computed operand");
  node.integer("to", 0);
  Constant from = node.constant(0);
  if (node.failed())
    return;
  const Constant *inputs[] = {&from};
  const FoldCall call{node.node, node.opset(), inputs};
  node.defineConstant(node.check(foldBitCast(call)));
}

void ffc::importer::registerBitOps() {
  registerOp("BitCast", {importBitCast, 1, 1});
  registerOp("BitShift", {importBits, 2, 2});
  registerOp("BitwiseAnd", {importBits, 2, 2});
  registerOp("BitwiseNot", {importBits, 1, 1});
  registerOp("BitwiseOr", {importBits, 2, 2});
  registerOp("BitwiseXor", {importBits, 2, 2});
}
