//===- copy.cpp - moving boxes between buffers ----------------------------===//
#include "ffrt/copy.h"

#include "common/nest.h"
#include "cpu/move.h"
#include "ffrt/bfloat16.h"
#include "ffrt/error.h"

#include <cstring>

namespace ffrt {

namespace {

int64_t offset_of(const Index &at, const Index &strides, int rank) {
  int64_t offset = 0;
  for (int d = 0; d < rank; ++d)
    offset += at[d] * strides[d];
  return offset;
}

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

template <class T, class Op>
void combine_as(const Nest<2> &nest, T *dst, const T *src, Op op) {
  const Nest<2>::Offsets s = nest.inner_stride();
  nest.run([&](const Nest<2>::Offsets &at, int64_t n) {
    T *to = dst + at[0];
    const T *from = src + at[1];
    if (s[0] == 1 && s[1] == 1) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        to[i] = op(to[i], from[i]);
      return;
    }
    for (int64_t i = 0; i < n; ++i)
      to[i * s[0]] = op(to[i * s[0]], from[i * s[1]]);
  });
}

template <class T>
void combine_typed(const Nest<2> &nest, T *dst, const T *src, ReduceOp op) {
  if (op == ReduceOp::sum)
    combine_as(nest, dst, src, [](T a, T b) { return T(a + b); });
  else
    combine_as(nest, dst, src, [](T a, T b) { return a > b ? a : b; });
}

template <class T>
void accumulate_typed(const Nest<2> &nest, T *dst, const T *src, bool first,
                      T factor) {
  if (first)
    combine_as(nest, dst, src, [=](T, T b) { return factor * b; });
  else
    combine_as(nest, dst, src, [=](T a, T b) { return a + factor * b; });
}

} // namespace

void move_strided(DType type, const Nest<2> &nest, void *dst, const void *src) {
  switch (size_of(type)) {
  case 1:
    return move(nest, static_cast<uint8_t *>(dst),
                static_cast<const uint8_t *>(src));
  case 2:
    return move(nest, static_cast<uint16_t *>(dst),
                static_cast<const uint16_t *>(src));
  case 4:
    return move(nest, static_cast<uint32_t *>(dst),
                static_cast<const uint32_t *>(src));
  default:
    return move(nest, static_cast<uint64_t *>(dst),
                static_cast<const uint64_t *>(src));
  }
}

void copy(const Tensor &dst, Index dst_at, const Tensor &src, Index src_at,
          Index size) {
  for (int d = 0; d < dst.rank; ++d)
    if (size[d] <= 0)
      return;
  Index ds = dst.strides(), ss = src.strides();
  std::size_t bytes = size_of(dst.type);
  move_strided(dst.type, Nest<2>(dst.rank, size, {ds, ss}),
               dst.as<char>() + offset_of(dst_at, ds, dst.rank) * bytes,
               src.as<char>() + offset_of(src_at, ss, src.rank) * bytes);
}

void combine(const Tensor &dst, Index dst_at, const Tensor &src, Index src_at,
             Index size, ReduceOp op) {
  for (int d = 0; d < dst.rank; ++d)
    if (size[d] <= 0)
      return;
  Index ds = dst.strides(), ss = src.strides();
  Nest<2> nest(dst.rank, size, {ds, ss});
  int64_t to = offset_of(dst_at, ds, dst.rank);
  int64_t from = offset_of(src_at, ss, src.rank);
  switch (dst.type) {
  case DType::f32:
    return combine_typed(nest, dst.as<float>() + to, src.as<float>() + from,
                         op);
  case DType::f64:
    return combine_typed(nest, dst.as<double>() + to, src.as<double>() + from,
                         op);
  case DType::i32:
    return combine_typed(nest, dst.as<int32_t>() + to, src.as<int32_t>() + from,
                         op);
  case DType::i64:
    return combine_typed(nest, dst.as<int64_t>() + to, src.as<int64_t>() + from,
                         op);
  case DType::bf16:
    return combine_typed(nest, dst.as<BFloat16>() + to,
                         src.as<BFloat16>() + from, op);
  default:
    throw Error("combine: expected a type of 2 bytes or more, found one of 1");
  }
}

void accumulate(const Tensor &dst, Index dst_at, const Tensor &src,
                Index src_at, Index size, bool first, double factor) {
  for (int d = 0; d < dst.rank; ++d)
    if (size[d] <= 0)
      return;
  Index ds = dst.strides(), ss = src.strides();
  const Nest<2> nest(dst.rank, size, {ds, ss});
  const int64_t to = offset_of(dst_at, ds, dst.rank);
  const int64_t from = offset_of(src_at, ss, src.rank);
  switch (dst.type) {
  case DType::f32:
    return accumulate_typed(nest, dst.as<float>() + to, src.as<float>() + from,
                            first, float(factor));
  case DType::f64:
    return accumulate_typed(nest, dst.as<double>() + to,
                            src.as<double>() + from, first, factor);
  default:
    throw Error("accumulate: expected f32 or f64, found another type");
  }
}

void copy_overlap(const Tensor &dst, const Tensor &src, Index shift) {
  if (!dst.data || !src.data)
    return;
  Index dst_at, src_at, size;
  for (int d = 0; d < dst.rank; ++d) {
    int64_t src_lo = src.lo[d] + shift[d];
    int64_t lo = src_lo > dst.lo[d] ? src_lo : dst.lo[d];
    int64_t src_hi = src_lo + src.shape[d], dst_hi = dst.lo[d] + dst.shape[d];
    size[d] = (src_hi < dst_hi ? src_hi : dst_hi) - lo;
    dst_at[d] = lo - dst.lo[d];
    src_at[d] = lo - src_lo;
  }
  copy(dst, dst_at, src, src_at, size);
}

void fill(const Tensor &dst, float value) {
  float *to = dst.as<float>();
  parallel_for(dst.elements(), 65536, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      to[i] = value;
  });
}

} // namespace ffrt
