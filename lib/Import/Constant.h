//===- Constant.h - values known at import ----------------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_CONSTANT_H
#define FFC_LIB_IMPORT_CONSTANT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/Error.h"

#include <optional>
#include <string>
#include <vector>

namespace ffc::importer {

using Shape = llvm::SmallVector<int64_t>;

/// Only small tensors are evaluated: shapes, axes, ratios, conditions.
inline constexpr int64_t kMaxConstantElements = 1 << 16;

/// Of all that are evaluated in one import, which keeps them: half a gigabyte.
inline constexpr int64_t kMaxFoldedElements = 1 << 26;

/// Of lists of positions along a dimension that the program holds; floats hold
/// these positions exactly.
inline constexpr int64_t kMaxPositions = 1 << 24;

/// ONNX's name of an element type ("int64").
llvm::StringRef elementTypeName(int32_t type);
/// Bytes of an element; 0 for types without a fixed size or unknown to us.
int64_t elementBytes(int32_t type);
bool isFloatType(int32_t type);
bool isIntegerType(int32_t type);
/// Of 8 or 16 bits: results that they do not hold wrap around.
bool isNarrowInteger(int32_t type);
/// Are numbers of this type carried by tensors of floats in the IR? Integers
/// are exact up to 2^24, doubles are rounded, narrower floats are not.
bool isCarriedType(int32_t type);

/// Product of the extents; nothing if one is negative, the product is beyond
/// 2^50, more than any machine holds, or there are more than 64.
std::optional<int64_t> elementCount(llvm::ArrayRef<int64_t> shape);

/// "4x3x224x224", or "scalar".
std::string shapeText(llvm::ArrayRef<int64_t> shape);

/// As "%g" prints it.
std::string numberText(double value);

struct Constant;

/// The number of `type` that is all of `text`, as a scalar; "true" and "false"
/// are bools, and "inf" is a float.
llvm::Expected<Constant> parseNumber(int32_t type, llvm::StringRef text);

/// An error with a message for the user.
llvm::Error makeError(const llvm::Twine &message);

/// A small tensor: floats if its type is a floating-point type, else ints
/// (booleans are 0 and 1), row-major.
struct Constant {
  int32_t type = 0;
  Shape shape;
  std::vector<int64_t> ints;
  std::vector<double> floats;

  bool isFloat() const { return isFloatType(type); }
  int64_t size() const {
    return static_cast<int64_t>(isFloat() ? floats.size() : ints.size());
  }
  double number(int64_t i) const {
    return isFloat() ? floats[i] : static_cast<double>(ints[i]);
  }
  /// Rounds or wraps the elements to what the type holds.
  void normalize();

  /// A one-dimensional int64 tensor.
  static Constant list(llvm::ArrayRef<int64_t> values);
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_CONSTANT_H
