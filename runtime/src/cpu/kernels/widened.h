//===- widened.h - bf16 and f16 under loops over f32 ------------*- C++ -*-===//
//
// Elements of bf16 or f16 are widened into a buffer, a block at a time,
// computed on while that is in cache, and results rounded from another one: so
// loops are compiled for f32 only, and give the bits that f32 tensors would.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CPU_WIDENED_H
#define FFRT_CPU_WIDENED_H

#include "common/elementwise/cast.h"
#include "ffrt/real.h"

#include <algorithm>
#include <type_traits>

namespace ffrt {

/// Elements that are widened or rounded at once.
constexpr int64_t kBlock = 4096;

/// Of three operands and a result.
using Buffers = Real[4][kBlock];

/// Calls f(first, count) for blocks that cover n elements.
template <class F> void for_blocks(int64_t n, F &&f) {
  for (int64_t first = 0; first < n; first += kBlock)
    f(first, std::min(kBlock, n - first));
}

/// Calls f(stride), a constant if it is 1, so that loops vectorise.
template <class F> void with_stride(int64_t stride, F &&f) {
  if (stride == 1)
    f(std::integral_constant<int64_t, 1>());
  else
    f(stride);
}

/// The elements of a tensor as floats: where they lie if `buffer` is null, else
/// side by side in it.
class Elements {
public:
  Elements(const Tensor &t, int64_t stride, Real *buffer)
      : data(t.data), type(t.type), stride(stride), buffer(buffer) {}
  /// Neighbours in memory, in the buffer if they are not f32.
  Elements(const Tensor &t, Real *buffer)
      : Elements(t, 1, is_low_precision(t.type) ? buffer : nullptr) {}

  /// Is it present?
  explicit operator bool() const { return data; }
  /// n elements, up to kBlock, from offset `at` on.
  const Real *read(int64_t at, int64_t n) const {
    if (!buffer)
      return static_cast<const Real *>(data) + at;
    widen(at, n, buffer);
    return buffer;
  }
  void widen(int64_t at, int64_t n, Real *to) const;
  /// Where these are to be written, before `write`.
  Real *place(int64_t at) const {
    return buffer ? buffer : static_cast<Real *>(data) + at;
  }
  void write(int64_t at, int64_t n) const {
    if (buffer)
      round(at, n);
  }

private:
  void round(int64_t at, int64_t n) const;

  void *data;
  DType type;
  int64_t stride;
  Real *buffer;
};

} // namespace ffrt

#endif // FFRT_CPU_WIDENED_H
