//===- attention_mask.cu - where a mask does something --------------------===//
#include "cuda/attention/attention_mask.h"

#include "ffrt/cuda/launch.h"

#include <cmath>

namespace ffrt::attention {

/// Squares of n, h, rows and positions that differ.
static void squares_of(const AttentionGeometry &g, int64_t (&extents)[4]) {
  const int64_t all[] = {g.samples, g.heads, (g.rows + kSquare - 1) / kSquare,
                         (g.keys + kSquare - 1) / kSquare};
  for (int d = 0; d < 4; ++d)
    extents[d] = g.mask_strides[d] == 0 ? 1 : all[d];
}

std::size_t MaskMap::bytes(const AttentionGeometry &g, bool has_mask) {
  int64_t extents[4];
  squares_of(g, extents);
  return has_mask
             ? std::size_t(extents[0] * extents[1] * extents[2] * extents[3])
             : 0;
}

MaskMap::MaskMap(const AttentionHeads &heads, void *memory)
    : flags(heads.mask ? static_cast<Masked *>(memory) : nullptr) {
  squares_of(heads.g, extents);
  int64_t size = 1;
  for (int d = 3; d >= 0; --d) {
    strides[d] = extents[d] == 1 ? 0 : size;
    size *= extents[d];
  }
}

/// A warp for every square.
static __global__ void fill_kernel(AttentionHeads heads, MaskMap map,
                                   int64_t squares) {
  const AttentionGeometry &g = heads.g;
  const int lane = int(threadIdx.x) % 32;
  const int64_t warps = int64_t(gridDim.x) * (blockDim.x / 32);
  for (int64_t i = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
       i < squares; i += warps) {
    const int64_t s = i % map.extents[3] * kSquare,
                  t = i / map.extents[3] % map.extents[2] * kSquare,
                  h = i / map.extents[3] / map.extents[2] % map.extents[1],
                  n = i / map.extents[3] / map.extents[2] / map.extents[1];
    int changed = 0, seen = 0;
    for (int k = lane; k < kSquare * kSquare; k += 32) {
      const int64_t row = t + k / kSquare, position = s + k % kSquare;
      if (row >= g.rows || position >= g.keys)
        continue;
      const float value = heads.mask[g.mask_at(n, h, row, position)];
      if (value != 0.0f)
        changed = 1;
      if (g.replaces ? value == 0.0f : value != -HUGE_VALF)
        seen = 1;
    }
    changed = cuda::reduce_warp(changed, cuda::Maximum());
    seen = cuda::reduce_warp(seen, cuda::Maximum());
    if (lane == 0)
      map.flags[i] = !changed ? Masked::nothing
                     : seen   ? Masked::some
                              : Masked::all;
  }
}

void MaskMap::fill(const AttentionHeads &heads) const {
  if (!flags)
    return;
  const int64_t squares = int64_t(bytes(heads.g, true));
  cuda::launch(cuda::blocks_for(squares, cuda::kThreads / 32), cuda::kThreads,
               fill_kernel, heads, *this, squares);
}

} // namespace ffrt::attention
