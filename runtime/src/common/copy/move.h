//===- move.h - what copies between buffers are made of ---------*- C++ -*-===//
//
// Loops over elements, which every target has its own of, and the boxes that
// they go over.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_MOVE_H
#define FFRT_COMMON_MOVE_H

#include "common/kernels/nest.h"
#include "ffrt/comm.h"

#include <optional>

namespace ffrt {

/// Copies elements of `type` along a nest over {dst, src}.
void move_strided(DType type, const Nest<2> &nest, void *dst, const void *src);
/// dst = dst op src.
void combine_strided(DType type, const Nest<2> &nest, void *dst,
                     const void *src, ReduceOp op);
/// dst = dst + factor * src; without what was there if `first`.
void accumulate_strided(DType type, const Nest<2> &nest, void *dst,
                        const void *src, bool first, double factor);
/// Sets n elements of `type`, f32, bf16, f16 or i32, to `value`.
void fill_elements(DType type, void *dst, int64_t n, double value);

/// Calls f with a number of `size` bytes, 1, 2, 4 or 8.
template <class F> void with_word_of(int64_t size, F f) {
  switch (size) {
  case 1:
    return f(uint8_t());
  case 2:
    return f(uint16_t());
  case 4:
    return f(uint32_t());
  default:
    return f(uint64_t());
  }
}

/// Calls f with a number as long as elements of `type`, for what only moves
/// them.
template <class F> void with_word(DType type, F f) {
  with_word_of(int64_t(size_of(type)), f);
}

/// What a copy of a box goes over.
struct CopyBox {
  Nest<2> nest; ///< over {dst, src}
  void *dst;    ///< first elements
  const void *src;
};
/// Nothing where the box is empty.
std::optional<CopyBox> copy_box(const Tensor &dst, const Index &dst_at,
                                const Tensor &src, const Index &src_at,
                                const Index &size);

} // namespace ffrt

#endif // FFRT_COMMON_MOVE_H
