//===- random.h - random words for the elements of a tile -------*- C++ -*-===//
#ifndef FFRT_COMMON_RANDOM_H
#define FFRT_COMMON_RANDOM_H

#include "common/kernels/nest.h"
#include "ffrt/philox.h"

#include <cmath>

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

/// Elements of a tile, over {where they lie, their global number}; numbers
/// count from first_number().
inline Nest<2> numbered_elements(const Tensor &t) {
  return Nest<2>(t.rank, t.shape, {t.strides(), global_strides(t)});
}

/// The global number of a tile's first element.
inline int64_t first_number(const Tensor &t) {
  const Index numbers = global_strides(t);
  int64_t number = 0;
  for (int d = 0; d < t.rank; ++d)
    number += t.lo[d] * numbers[d];
  return number;
}

/// Standard normal number of global element `element`, by Box-Muller: even
/// elements take the cosine, odd ones the sine.
FFRT_FUNCTION inline float random_normal(uint64_t key, uint64_t element,
                                         uint64_t step) {
  const auto words = philox(key, element / 4, step);
  const uint64_t pair = element % 4 / 2 * 2;
  // (0, 1], so that the logarithm is finite.
  const float u = float((words[pair] >> 8) + 1) * 0x1p-24f;
  const float radius = std::sqrt(-2.0f * std::log(u));
  const float angle = 6.28318530718f * unit_interval(words[pair + 1]);
  return radius * (element % 2 ? std::sin(angle) : std::cos(angle));
}

/// words[i] = the word of element first + i * stride, for i < n.
void philox_words(uint64_t key, uint64_t step, uint64_t first, uint64_t stride,
                  uint32_t *words, int64_t n);

/// Calls f(at, stride, words, n) so that every local element at + i * stride
/// (an offset into the buffer) gets the word of its global element number once.
/// Runs on several threads.
template <class F>
void for_random_words(const Tensor &t, uint64_t key, uint64_t step, F &&f) {
  const int64_t origin = first_number(t);
  const Nest<2> nest = numbered_elements(t);
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
