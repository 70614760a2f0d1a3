//===- Constant.cpp - values known at import ------------------------------===//

#include "Constant.h"

#include "onnx/onnx_pb.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace ffc::importer;
using onnx::TensorProto;

llvm::StringRef ffc::importer::elementTypeName(int32_t type) {
  static constexpr llvm::StringLiteral names[] = {
      "undefined", "float", "uint8", "int8", "uint16", "int16", "int32",
      "int64", "string", "bool", "float16", "double", "uint32", "uint64",
      "complex64", "complex128", "bfloat16",
      // Of which no more is known here.
      "float8e4m3fn", "float8e4m3fnuz", "float8e5m2", "float8e5m2fnuz", "uint4",
      "int4", "float4e2m1", "float8e8m0", "uint2", "int2"};
  if (type < 0 || type >= static_cast<int32_t>(std::size(names)))
    return "unknown";
  return names[type];
}

int64_t ffc::importer::elementBytes(int32_t type) {
  switch (type) {
  case TensorProto::UINT8:
  case TensorProto::INT8:
  case TensorProto::BOOL:
    return 1;
  case TensorProto::UINT16:
  case TensorProto::INT16:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
    return 2;
  case TensorProto::FLOAT:
  case TensorProto::INT32:
  case TensorProto::UINT32:
    return 4;
  case TensorProto::INT64:
  case TensorProto::UINT64:
  case TensorProto::DOUBLE:
    return 8;
  default:
    return 0;
  }
}

bool ffc::importer::isFloatType(int32_t type) {
  return type == TensorProto::FLOAT || type == TensorProto::DOUBLE ||
         type == TensorProto::FLOAT16 || type == TensorProto::BFLOAT16;
}

bool ffc::importer::isIntegerType(int32_t type) {
  return elementBytes(type) != 0 && !isFloatType(type);
}

bool ffc::importer::isNarrowInteger(int32_t type) {
  return isIntegerType(type) && type != TensorProto::BOOL &&
         elementBytes(type) < 4;
}

bool ffc::importer::isCarriedType(int32_t type) {
  switch (type) {
  case TensorProto::FLOAT:
  case TensorProto::DOUBLE:
  case TensorProto::FLOAT16:
  case TensorProto::BFLOAT16:
  case TensorProto::INT8:
  case TensorProto::INT16:
  case TensorProto::INT32:
  case TensorProto::INT64:
  case TensorProto::UINT8:
  case TensorProto::UINT16:
  case TensorProto::UINT32:
  case TensorProto::UINT64:
  case TensorProto::BOOL:
    return true;
  default:
    return false;
  }
}

/// Far more than operators have: what works on constants takes time for each.
static constexpr size_t kMaxRank = 64;

std::optional<int64_t>
ffc::importer::elementCount(llvm::ArrayRef<int64_t> shape) {
  constexpr int64_t limit = int64_t(1) << 50;
  if (shape.size() > kMaxRank)
    return std::nullopt;
  int64_t count = 1;
  bool empty = false;
  for (int64_t extent : shape) {
    if (extent < 0)
      return std::nullopt;
    empty |= extent == 0;
    // An empty tensor may have any other extents; they still must fit.
    int64_t factor = std::max<int64_t>(extent, 1);
    if (factor > limit / count)
      return std::nullopt;
    count *= factor;
  }
  return empty ? 0 : count;
}

std::string ffc::importer::shapeText(llvm::ArrayRef<int64_t> shape) {
  if (shape.empty())
    return "scalar";
  std::string text =
      llvm::join(llvm::map_range(shape.take_front(kMaxRank),
                                 [](int64_t d) { return std::to_string(d); }),
                 "x");
  return shape.size() <= kMaxRank
             ? text
             : text + "... (" + std::to_string(shape.size()) + " dimensions)";
}

std::string ffc::importer::numberText(double value) {
  std::string text;
  llvm::raw_string_ostream(text) << llvm::format("%g", value);
  return text;
}

llvm::Error ffc::importer::makeError(const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(), message);
}

llvm::Expected<Constant> ffc::importer::parseNumber(int32_t type,
                                                    llvm::StringRef text) {
  Constant result;
  result.type = type;
  bool parsed = false;
  if (result.isFloat()) {
    double value = 0;
    parsed = !text.getAsDouble(value) && !std::isnan(value);
    result.floats = {value};
  } else {
    int64_t value = 0;
    parsed = text == "true" || text == "false" ? type == TensorProto::BOOL
                                               : !text.getAsInteger(10, value);
    result.ints = {text == "true" ? 1 : value};
  }
  const Constant given = result;
  result.normalize();
  // Rounding is as it always is; another whole number is another one.
  if (!parsed || result.ints != given.ints)
    return makeError("expected a number of type " + elementTypeName(type) +
                     ", found '" + text + "'");
  return result;
}

void Constant::normalize() {
  auto wrap = [this](auto zero) {
    for (int64_t &value : ints)
      value = static_cast<decltype(zero)>(value);
  };
  switch (type) {
  case TensorProto::FLOAT:
    for (double &value : floats)
      value = static_cast<float>(value);
    break;
  case TensorProto::BOOL:
    for (int64_t &value : ints)
      value = value != 0;
    break;
  case TensorProto::UINT8:
    return wrap(uint8_t());
  case TensorProto::INT8:
    return wrap(int8_t());
  case TensorProto::UINT16:
    return wrap(uint16_t());
  case TensorProto::INT16:
    return wrap(int16_t());
  case TensorProto::UINT32:
    return wrap(uint32_t());
  case TensorProto::INT32:
    return wrap(int32_t());
  default:
    break;
  }
}

Constant Constant::list(llvm::ArrayRef<int64_t> values) {
  Constant result;
  result.type = TensorProto::INT64;
  result.shape = {static_cast<int64_t>(values.size())};
  result.ints = values.vec();
  return result;
}
