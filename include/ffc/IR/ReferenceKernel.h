//===- ReferenceKernel.h - kernels in plain loops ---------------*- C++ -*-===//
//
// The meaning of a kernel, in double precision, over *global* coordinates of
// one tile. The compiler has those that constants are computed with
// (ElementKernels.h); all of them are in ffc/Reference/Reference.h.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_IR_REFERENCEKERNEL_H
#define FFC_IR_REFERENCEKERNEL_H

#include "ffc/Plan/Rules.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <limits>
#include <string>
#include <vector>

namespace ffc::ff {

/// A part of a global tensor held in a packed row-major array of doubles
/// (whatever the memory order of the buffer it stands for). An operand that
/// only the tiles at the start of a contraction are given is present and empty
/// in the others: kernels ask whether it is empty, as those of the runtime do.
class View {
public:
  /// Absent operand or result.
  View() = default;
  /// `data` holds region.volume() values and is not owned.
  View(double *data, plan::Region region, plan::Shape global);

  bool present() const { return data != nullptr; }
  const plan::Shape &global() const { return global_; }
  const plan::Region &region() const { return region_; }
  int rank() const { return static_cast<int>(global_.size()); }

  /// The element at global coordinates. Outside the region: the element is
  /// recorded as a fault (see `fault`), and a dummy is returned.
  double &at(llvm::ArrayRef<int64_t> index) const {
    ++accesses_;
    if (!data || index.size() != global_.size())
      return fail(index);
    // Most regions are boxes: of the others this finds the first ones.
    int64_t offset = 0;
    for (size_t d = 0; d < index.size(); ++d) {
      int64_t inside = index[d] - first_[d].lo;
      if (inside < 0 || inside >= first_[d].size())
        return atBehindFirst(index);
      offset += inside * strides[d];
    }
    return data[offset];
  }
  double &at(std::initializer_list<int64_t> index) const {
    return at(llvm::ArrayRef<int64_t>(index.begin(), index.size()));
  }
  /// The first element accessed outside the region ("element [0, 3]"), or "".
  const std::string &fault() const { return fault_; }
  /// How often `at` was called.
  int64_t accesses() const { return accesses_; }

private:
  double &atBehindFirst(llvm::ArrayRef<int64_t> index) const;
  double &fail(llvm::ArrayRef<int64_t> index) const;

  double *data = nullptr;
  plan::Region region_;
  plan::Shape global_;
  /// The first interval of each dimension of the region, or an empty one.
  std::array<plan::Interval, plan::kMaxRank> first_{};
  std::array<int64_t, plan::kMaxRank> strides{}; ///< of the packed array
  mutable std::string fault_;
  mutable int64_t accesses_ = 0;
  mutable double dummy = 0;
};

/// Run-time scalars.
struct ReferenceContext {
  uint64_t seed = 0;
  int64_t step = 0;
  double learningRate = 0.01;
  double weightDecay = 0;
  /// What elements of gradients are clipped to.
  double clipValue = std::numeric_limits<double>::infinity();
};

struct ReferenceCall {
  const ReferenceContext &context;
  mlir::DictionaryAttr args;
  /// The part of the iteration space to compute.
  plan::Tile tile;
  llvm::ArrayRef<View> ins, outs;
  /// Of result 0: functions of bits are of so many.
  plan::ElementType type = plan::ElementType::F32;

  int64_t i64(llvm::StringRef name) const;
  double f64(llvm::StringRef name) const;
  llvm::ArrayRef<int64_t> ints(llvm::StringRef name) const;
  llvm::ArrayRef<double> reals(llvm::StringRef name) const;
  /// `value` cut to the bounds of the argument `clamp`: none, the lower one, or
  /// both.
  double clamped(double value) const;
};

using ReferenceKernel = void (*)(const ReferenceCall &call);

/// Calls `body` with every global index of `box`, row-major.
template <class Body> void forEachIndex(const plan::Box &box, Body body) {
  if (box.empty())
    return;
  std::array<int64_t, plan::kMaxRank> index{};
  int rank = box.rank();
  for (int d = 0; d < rank; ++d)
    index[d] = box[d].lo;
  while (true) {
    body(llvm::ArrayRef<int64_t>(index.data(), rank));
    int d = rank - 1;
    while (d >= 0 && ++index[d] == box[d].hi) {
      index[d] = box[d].lo;
      --d;
    }
    if (d < 0)
      return;
  }
}

} // namespace ffc::ff

#endif // FFC_IR_REFERENCEKERNEL_H
