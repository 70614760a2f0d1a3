//===- Types.cpp - values that are not floats -----------------------------===//
//
// Operators compute on floats. Integers, booleans (0 and 1) and doubles are
// carried by floats; graph inputs and outputs have their own type, and casts
// stand where such a value enters or leaves the floats. Floats of 16 bits are
// floats of 32 everywhere.
//
//===----------------------------------------------------------------------===//

#include "Importer.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::importer;
using onnx::TensorProto;
using Kind = GraphValue::Kind;

/// The numbers of `constant`, which floats must be able to hold.
static llvm::Expected<Constant> toFloats(const GraphValue &value,
                                         const Constant &constant) {
  Constant result;
  result.type = TensorProto::FLOAT;
  result.shape = constant.shape;
  for (int64_t i = 0, e = constant.size(); i < e; ++i) {
    double x = constant.number(i);
    const auto near = static_cast<float>(x);
    // 2^63 is exact, the largest int64 is not.
    const bool fits =
        constant.isFloat() || (near >= -0x1p63f && near < 0x1p63f &&
                               static_cast<int64_t>(near) == constant.ints[i]);
    if (!fits)
      return makeError("'" + value.name + "' holds " + Twine(constant.ints[i]) +
                       ", expected integers that are floats too");
    result.floats.push_back(x);
  }
  return result;
}

/// `value` as the type of `type`, as the operator "<name>.<element type>".
static Value cast(Importer &importer, const Twine &name, Value value,
                  RankedTensorType type, int32_t element) {
  std::string wanted = (name + "." + elementTypeName(element)).str();
  auto where = NameLoc::get(
      importer.builder.getStringAttr(importer.names.unique(wanted)));
  return ff::CastOp::create(importer.builder, where, type, value);
}

llvm::Expected<Value> Importer::floatsOf(GraphValue &value, const Role &role) {
  if (value.type == TensorProto::FLOAT ||
      (isFloatType(value.type) && value.kind != Kind::Computed))
    return materialize(value, role);
  if (value.floats)
    return value.floats;
  if (!isCarriedType(value.type))
    return makeError("'" + value.name + "' has element type " +
                     elementTypeName(value.type) + ", expected float");
  RankedTensorType type = tensorType(value.shape, TensorProto::FLOAT);
  if (value.kind == Kind::Computed) {
    value.floats =
        value.value.getType() == type
            ? value.value
            : cast(*this, value.name, value.value, type, TensorProto::FLOAT);
    return value.floats;
  }

  GraphValue *copy =
      newValue(value.kind, value.name, TensorProto::FLOAT, value.shape);
  copy->fill = value.fill;
  if (value.kind != Kind::Filled) {
    copy->kind = Kind::Constant;
    Constant stored;
    if (value.kind == Kind::Stored) {
      llvm::Expected<Constant> read = data.read(*value.stored);
      if (!read)
        return read.takeError();
      stored = std::move(*read);
    }
    auto floats =
        toFloats(value, value.kind == Kind::Stored ? stored : value.constant);
    if (!floats)
      return floats.takeError();
    copy->constant = std::move(*floats);
  }
  auto state = materialize(*copy, Role());
  if (state)
    value.floats = *state;
  return state;
}

/// Integers that floats do not hold are put together of pieces that they do.
static llvm::Expected<Value> exactIntegers(Importer &importer,
                                           const GraphValue &value) {
  constexpr int64_t kPiece = 22, kMask = (int64_t(1) << kPiece) - 1;
  OpBuilder &builder = importer.builder;
  auto piece = [&](ArrayRef<int64_t> shape,
                   std::vector<double> numbers) -> llvm::Expected<Value> {
    GraphValue *part = importer.newValue(
        Kind::Constant, importer.names.unique(value.name + ".piece"),
        TensorProto::FLOAT, shape);
    part->constant.type = TensorProto::FLOAT;
    part->constant.shape = Shape(shape);
    part->constant.floats = std::move(numbers);
    auto floats = importer.materialize(*part, Role());
    if (!floats)
      return floats;
    // By way of 64 bits, so that nothing is lost between.
    return cast(importer, part->name, *floats,
                RankedTensorType::get(shape, builder.getI64Type()),
                TensorProto::INT64);
  };
  auto combined = [&](ff::BitwiseKind kind, Value a, Value b) -> Value {
    auto where = NameLoc::get(
        builder.getStringAttr(importer.names.unique(value.name + ".bits")));
    return ff::BitwiseOp::create(builder, where, a.getType(), kind, a, b);
  };
  Value result;
  for (int64_t from = 3 * kPiece; (from -= kPiece) >= 0;) {
    std::vector<double> numbers;
    for (int64_t x : value.constant.ints)
      numbers.push_back(static_cast<double>(x >> from & kMask));
    auto part = piece(value.shape, std::move(numbers));
    if (!part)
      return part;
    if (result) {
      auto shift = piece({}, {static_cast<double>(kPiece)});
      if (!shift)
        return shift;
      result = combined(ff::BitwiseKind::ShiftLeft, result, *shift);
      result = combined(ff::BitwiseKind::Or, result, *part);
    } else {
      result = *part;
    }
  }
  RankedTensorType type = importer.tensorType(value.shape, value.type);
  return result.getType() == type
             ? result
             : cast(importer, value.name, result, type, value.type);
}

llvm::Expected<Value> Importer::typedValueOf(GraphValue &value) {
  RankedTensorType type = tensorType(value.shape, value.type);
  if (value.kind == Kind::Computed && value.value.getType() == type)
    return value.value;
  if (value.kind == Kind::Constant && !value.constant.isFloat() &&
      !value.constant.ints.empty()) {
    auto floats = toFloats(value, value.constant);
    if (!floats) {
      llvm::consumeError(floats.takeError());
      return exactIntegers(*this, value);
    }
  }
  auto floats = floatsOf(value);
  if (!floats || floats->getType() == type)
    return floats;
  return cast(*this, value.name, *floats, type, value.type);
}
