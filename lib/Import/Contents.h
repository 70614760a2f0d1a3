//===- Contents.h - what the numbers of a tensor tell -----------*- C++ -*-===//
//
// Numbers that nobody learned have forms that weights, drawn or learned, do
// not have.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_IMPORT_CONTENTS_H
#define FFC_LIB_IMPORT_CONTENTS_H

#include "Constant.h"

#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace ffc::importer {

/// The elements of a tensor of floats, in memory or mapped from a file.
/// Questions about weights end at their first elements.
class Contents {
public:
  /// `bytes`: of elements of `type`; null: no answer to any question.
  Contents(int32_t type, Shape shape,
           std::unique_ptr<llvm::MemoryBuffer> bytes);
  explicit Contents(const Constant &constant);

  int64_t size() const { return count; }
  const Shape &getShape() const { return shape; }
  /// Element i, row-major.
  double at(int64_t i) const;

  /// The value of all elements, if it is one.
  std::optional<double> oneValue() const;
  /// 0 and one other value, or a mixture of 0, 1 and numbers like -inf that
  /// hide what they are added to.
  bool isMask() const;
  /// The same without other values than 0, 1 and hiding ones.
  bool isStrictMask() const;
  /// Whole numbers that follow each other, 0 among them.
  bool isPositions() const;
  /// A vector in which each element is the same multiple of the one before.
  bool isGeometric() const;
  /// Equal slices, several of them, along a dimension.
  bool isRepeated() const;
  /// Sines and cosines of positions, by which rows go on as rotations do or
  /// have pairs of unit length.
  bool isSines() const;

private:
  int32_t type;
  Shape shape;
  int64_t count = 0;
  std::unique_ptr<llvm::MemoryBuffer> buffer;
  llvm::ArrayRef<double> numbers;
  llvm::StringRef bytes;

  bool isKnown() const {
    return count > 0 && (!bytes.empty() || !numbers.empty());
  }
  bool goesOnAsRotation(int64_t outer, int64_t rows, int64_t columns) const;
  bool hasUnitPairs(int64_t rows, int64_t columns, int64_t distance) const;
};

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_CONTENTS_H
