//===- copy.cpp - moving boxes between buffers ----------------------------===//
#include "ffrt/copy.h"

#include "common/copy/move.h"

namespace ffrt {

static int64_t offset_of(const Index &at, const Index &strides, int rank) {
  int64_t offset = 0;
  for (int d = 0; d < rank; ++d)
    offset += at[d] * strides[d];
  return offset;
}

std::optional<CopyBox> copy_box(const Tensor &dst, const Index &dst_at,
                                const Tensor &src, const Index &src_at,
                                const Index &size) {
  for (int d = 0; d < dst.rank; ++d)
    if (size[d] <= 0)
      return std::nullopt;
  const Index ds = dst.strides(), ss = src.strides();
  const int64_t bytes = int64_t(size_of(dst.type));
  return CopyBox{Nest<2>(dst.rank, size, {ds, ss}),
                 dst.as<char>() + offset_of(dst_at, ds, dst.rank) * bytes,
                 src.as<char>() + offset_of(src_at, ss, src.rank) * bytes};
}

void copy(const Tensor &dst, Index dst_at, const Tensor &src, Index src_at,
          Index size) {
  if (const auto box = copy_box(dst, dst_at, src, src_at, size))
    move_strided(dst.type, box->nest, box->dst, box->src);
}

void combine(const Tensor &dst, Index dst_at, const Tensor &src, Index src_at,
             Index size, ReduceOp op) {
  if (const auto box = copy_box(dst, dst_at, src, src_at, size))
    combine_strided(dst.type, box->nest, box->dst, box->src, op);
}

void accumulate(const Tensor &dst, Index dst_at, const Tensor &src,
                Index src_at, Index size, bool first, double factor) {
  if (const auto box = copy_box(dst, dst_at, src, src_at, size))
    accumulate_strided(dst.type, box->nest, box->dst, box->src, first, factor);
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

void fill(const Tensor &dst, double value) {
  fill_elements(dst.type, dst.data, dst.span(), value);
}

} // namespace ffrt
