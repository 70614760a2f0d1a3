//===- box_rows.h - boxes of values -----------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_BOX_ROWS_H
#define FFRT_COMMON_BOX_ROWS_H

#include "ffrt/tensor.h"

#include <cstddef>

namespace ffrt {

inline std::size_t box_elements(int rank, const Index &shape) {
  std::size_t n = 1;
  for (int d = 0; d < rank; ++d)
    n *= std::size_t(shape[d]);
  return n;
}

/// Where the global coordinate `lo` lies in a tensor.
inline Index place_in(const Tensor &t, const Index &lo) {
  Index at;
  for (int d = 0; d < t.rank; ++d)
    at[d] = lo[d] - t.lo[d];
  return at;
}

/// A row-major box in the host's memory.
inline Tensor box_tensor(DType type, int rank, const Index &lo,
                         const Index &shape, const Index &global,
                         const void *data) {
  Tensor t;
  t.data = const_cast<void *>(data);
  t.type = type;
  t.rank = rank;
  t.lo = lo;
  t.shape = shape;
  t.global = global;
  return t;
}

/// The number of the element `at` in a row-major value of extents `global`.
inline std::size_t element_number(int rank, const Index &global,
                                  const Index &at) {
  std::size_t number = 0;
  for (int d = 0; d < rank; ++d)
    number = number * std::size_t(global[d]) + std::size_t(at[d]);
  return number;
}

/// Cuts a row-major box into the longest pieces that lie together in the whole
/// value, too, and calls f(bytes, elements, number of the first in the value).
template <class F> void for_rows(const Tensor &box, const F &f) {
  if (box.elements() == 0)
    return;
  // From dimension `split` on the box is as wide as the value.
  int split = box.rank;
  while (split > 0 && box.shape[split - 1] == box.global[split - 1])
    --split;
  std::size_t n = 1;
  for (int d = split > 0 ? split - 1 : 0; d < box.rank; ++d)
    n *= std::size_t(box.shape[d]);
  const std::byte *row = box.as<const std::byte>();
  Index at;
  for (;;) {
    Index place;
    for (int d = 0; d < box.rank; ++d)
      place[d] = box.lo[d] + at[d];
    f(row, n, element_number(box.rank, box.global, place));
    row += n * size_of(box.type);
    int d = split - 2;
    while (d >= 0 && ++at[d] == box.shape[d])
      at[d--] = 0;
    if (d < 0)
      return;
  }
}

} // namespace ffrt

#endif // FFRT_COMMON_BOX_ROWS_H
