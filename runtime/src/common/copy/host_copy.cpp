//===- host_copy.cpp - moving boxes in the host's memory ------------------===//
#include "common/copy/host_copy.h"

#include "common/copy/move.h"

#include <cstring>

namespace ffrt {

namespace {

/// Rows of `inner` elements whose source elements lie far apart, while those of
/// dimension `fast` of the nest are neighbours: goes through the two
/// dimensions in square blocks that stay in the cache.
template <class T>
void move_transposed(const Nest<2> &nest, int fast, T *dst, const T *src) {
  constexpr int64_t block = 32;
  const int last = nest.rank - 1;
  const int64_t n = nest.inner(), m = nest.extent[fast];
  const int64_t ds = nest.stride[fast][0], ss = nest.stride[last][1];
  Nest<2> outer = nest;
  for (int d = fast; d < last; ++d) {
    outer.extent[d] = outer.extent[d + 1];
    outer.stride[d] = outer.stride[d + 1];
  }
  --outer.rank;
  const int64_t blocks = (m + block - 1) / block;
  const int64_t rows = outer.rows();
  parallel_for(
      rows * blocks, 1 + 16384 / (block * n), [&](int64_t begin, int64_t end) {
        for (int64_t task = begin; task < end; ++task) {
          int64_t row = task / blocks, j0 = task % blocks * block;
          int64_t j1 = j0 + block < m ? j0 + block : m;
          outer.for_rows(row, row + 1, [&](const Nest<2>::Offsets &at) {
            T *to = dst + at[0];
            const T *from = src + at[1];
            for (int64_t i0 = 0; i0 < n; i0 += block) {
              int64_t i1 = i0 + block < n ? i0 + block : n;
              for (int64_t j = j0; j < j1; ++j)
                for (int64_t i = i0; i < i1; ++i)
                  to[j * ds + i] = from[i * ss + j];
            }
          });
        }
      });
}

template <class T> void move(const Nest<2> &nest, T *dst, const T *src) {
  const Nest<2>::Offsets &s = nest.inner_stride();
  if (s[0] == 1 && s[1] == 1) {
    nest.run([&](const Nest<2>::Offsets &at, int64_t n) {
      std::memcpy(dst + at[0], src + at[1], std::size_t(n) * sizeof(T));
    });
    return;
  }
  if (s[0] == 1 && nest.inner() >= 8)
    for (int d = 0; d + 1 < nest.rank; ++d)
      if (nest.stride[d][1] == 1 && nest.extent[d] >= 4)
        return move_transposed(nest, d, dst, src);
  nest.run([&](const Nest<2>::Offsets &at, int64_t n) {
    T *to = dst + at[0];
    const T *from = src + at[1];
    for (int64_t i = 0; i < n; ++i)
      to[i * s[0]] = from[i * s[1]];
  });
}

} // namespace

void move_on_host(DType type, const Nest<2> &nest, void *dst, const void *src) {
  with_word(type, [&](auto word) {
    using T = decltype(word);
    move(nest, static_cast<T *>(dst), static_cast<const T *>(src));
  });
}

void copy_on_host(const Tensor &dst, Index dst_at, const Tensor &src,
                  Index src_at, Index size) {
  if (const std::optional<CopyBox> box =
          copy_box(dst, dst_at, src, src_at, size))
    move_on_host(dst.type, box->nest, box->dst, box->src);
}

} // namespace ffrt
