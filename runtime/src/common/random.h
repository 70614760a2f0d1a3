//===- random.h - random words for the elements of a tile -------*- C++ -*-===//
#ifndef FFRT_COMMON_RANDOM_H
#define FFRT_COMMON_RANDOM_H

#include "common/nest.h"
#include "ffrt/philox.h"

namespace ffrt {

/// Strides of the global row-major numbering of elements.
inline Index global_strides(const Tensor &t) {
  Index result;
  int64_t step = 1;
  for (int d = t.rank - 1; d >= 0; --d) {
    result[d] = step;
    step *= t.global[d];
  }
  return result;
}

/// words[i] = the word of element first + i * stride, for i < n.
void philox_words(uint64_t key, uint64_t step, uint64_t first, uint64_t stride,
                  uint32_t *words, int64_t n);

/// Calls f(at, stride, words, n) so that every local element at + i * stride
/// (an offset into the buffer) gets the word of its global element number once.
/// Runs on several threads.
template <class F>
void for_random_words(const Tensor &t, uint64_t key, uint64_t step, F &&f) {
  const Index numbers = global_strides(t);
  int64_t origin = 0;
  for (int d = 0; d < t.rank; ++d)
    origin += t.lo[d] * numbers[d];
  const Nest<2> nest(t.rank, t.shape, {t.strides(), numbers});
  const Nest<2>::Offsets s = nest.inner_stride();
  nest.run([&](const Nest<2>::Offsets &at, int64_t n) {
    constexpr int64_t block = 256;
    uint32_t words[block];
    for (int64_t i = 0; i < n; i += block) {
      int64_t m = n - i < block ? n - i : block;
      philox_words(key, step, uint64_t(origin + at[1] + i * s[1]),
                   uint64_t(s[1]), words, m);
      f(at[0] + i * s[0], s[0], words, m);
    }
  });
}

} // namespace ffrt

#endif // FFRT_COMMON_RANDOM_H
