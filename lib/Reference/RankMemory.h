//===- RankMemory.h - buffers of the rank evaluator -------------*- C++ -*-===//
//
// The memory of a section is an array of slots, one double per four bytes.
//
//   * A four-byte element is the value of its slot, so kernels work in place.
//   * An eight-byte element has a value and a check of it in its second slot.
//   * A slot of one-byte elements is a NaN whose payload holds the bytes.
//
// Reading what was written as something else therefore gives NaN, as does
// reading what was never written. Data is row-major packed whatever the memory
// order of the buffer.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_REFERENCE_RANKMEMORY_H
#define FFC_LIB_REFERENCE_RANKMEMORY_H

#include "ffc/IR/Rank.h"
#include "ffc/IR/TensorValue.h"
#include "ffc/Reference/Reference.h"

#include <string>
#include <vector>

namespace ffc::rank {

constexpr int64_t kSlotBytes = 4;

/// Value of a slot that nobody wrote.
double poisonValue();

/// `b` combined into `a`; None takes `b`, Max keeps NaN.
double combine(plan::Reduction reduction, double a, double b);

/// Calls `body(local, global, length)` with the offsets of every contiguous run
/// of elements of `region`, packed, and of a tensor of `shape`.
void forEachRun(const plan::Region &region, const plan::Shape &shape,
                llvm::function_ref<void(int64_t, int64_t, int64_t)> body);

/// A buffer of one rank.
class LocalBuffer {
public:
  /// `section` is the first slot of the buffer's section; not owned. `row` is
  /// the rank's number in its class.
  LocalBuffer(BufferOp op, size_t row, double *section);

  llvm::StringRef name() const { return name_; }
  plan::ElementType type() const { return type_; }
  const plan::Region &region() const { return region_; }
  const plan::Shape &global() const { return global_; }
  /// Extents of the packed local tensor.
  const plan::Shape &shape() const { return shape_; }
  int64_t size() const { return size_; }

  /// The elements where they are; null unless they have one slot each.
  double *inPlace() const { return bytes == kSlotBytes ? slots : nullptr; }
  /// All elements, row-major.
  std::vector<double> load() const;
  void store(llvm::ArrayRef<double> values) const;
  /// All elements in the order in which they lie in memory.
  std::vector<double> loadMemoryOrder() const;
  void storeMemoryOrder(llvm::ArrayRef<double> values) const;
  /// Makes all elements unwritten.
  void poison() const;

private:
  bool isPermuted() const { return channelsLast && shape_.size() > 2; }

  llvm::StringRef name_;
  plan::Region region_;
  plan::Shape global_, shape_;
  plan::ElementType type_;
  int64_t bytes; ///< of an element
  int64_t size_;
  bool channelsLast;
  double *slots;
  int64_t skip; ///< bytes of the first slot before the first element
};

/// A global tensor assembled from the parts that ranks offer.
class Gather {
public:
  explicit Gather(const plan::Shape &shape);

  /// Adds the contents of `buffer`. Fails with a message if they are NaN or
  /// disagree with an earlier offer.
  bool offer(const LocalBuffer &buffer, int64_t rank, std::string &error);
  /// Elements that nobody offered are those of a value of the same shape.
  void fillMissing(const ff::TensorValue &value);
  /// First element nobody offered, or -1.
  int64_t firstMissing() const;
  const ff::TensorValue &value() const { return value_; }

private:
  ff::TensorValue value_;
  std::vector<int64_t> owner; ///< rank that offered an element first, or -1
};

} // namespace ffc::rank

#endif // FFC_LIB_REFERENCE_RANKMEMORY_H
