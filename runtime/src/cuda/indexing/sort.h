//===- sort.h - numbers in order of their keys ------------------*- C++ -*-===//
//
// Tiles are sorted in shared memory, by a network (Batcher, AFIPS 1968), then
// runs are merged two by two: an element's place is its own in its run and the
// number of those in the other run that come before it. No two are equal, since
// the number of an element is part of it.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_SORT_H
#define FFRT_CUDA_SORT_H

#include "ffrt/cuda/launch.h"
#include "ffrt/function.h"

#include <cstdint>

namespace ffrt::cuda {

/// A number and its key, each below kKeys.
class Keyed {
public:
  Keyed() = default;
  __device__ Keyed(int64_t key, int64_t number)
      : both(uint64_t(key) << 32 | uint64_t(number)) {}
  __device__ static Keyed last() { return {~uint64_t(0)}; }
  __device__ int64_t key() const { return int64_t(both >> 32); }
  __device__ int64_t number() const { return int64_t(both & UINT32_MAX); }
  __device__ bool operator<(const Keyed &o) const { return both < o.both; }

private:
  __device__ Keyed(uint64_t both) : both(both) {}
  uint64_t both;
};
constexpr int64_t kKeys = INT32_MAX;

/// Elements of a tile, at most.
constexpr int kSortTile = 2048;

/// Sorts the numbers [first, first + tile) below n by key(number), by the
/// threads of a block; `tile` is a power of 2.
template <class Key>
__device__ void sort_tile(const Key &key, int64_t first, int64_t n, int tile,
                          Keyed *to) {
  __shared__ Keyed items[kSortTile];
  const int threads = int(blockDim.x), thread = int(threadIdx.x);
  for (int i = thread; i < tile; i += threads)
    items[i] = first + i < n ? Keyed(key(first + i), first + i) : Keyed::last();
  for (int size = 2; size <= tile; size *= 2)
    for (int stride = size / 2; stride > 0; stride /= 2) {
      __syncthreads();
      for (int i = thread; i < tile / 2; i += threads) {
        const int a = 2 * i - (i & (stride - 1)), b = a + stride;
        const bool ascending = (a & size) == 0;
        const Keyed x = items[a], y = items[b];
        if ((y < x) == ascending) {
          items[a] = y;
          items[b] = x;
        }
      }
    }
  __syncthreads();
  for (int i = thread; i < tile && first + i < n; i += threads)
    to[first + i] = items[i];
}

/// The size of the tiles that n numbers are sorted in.
FFRT_FUNCTION inline int sort_tile_for(int64_t n) {
  int tile = 64;
  while (tile < kSortTile && tile < n)
    tile *= 2;
  return tile;
}

template <class Key>
__global__ void sort_tiles_kernel(Key key, int64_t n, int tile, Keyed *to) {
  sort_tile(key, int64_t(blockIdx.x) * tile, n, tile, to);
}

/// Merges runs of `length` elements, a power of 2, and gives where the result
/// is: `from` or `to`.
Keyed *merge_runs(Keyed *from, Keyed *to, int64_t n, int64_t length);

/// The numbers [0, n) by key(number), and where keys are equal in their own
/// order; in `scratch`, which has 2 * n elements.
template <class Key> Keyed *sort_by_key(int64_t n, Keyed *scratch, Key key) {
  if (n == 0)
    return scratch;
  const int tile = sort_tile_for(n);
  launch(unsigned((n + tile - 1) / tile), tile / 2, sort_tiles_kernel<Key>, key,
         n, tile, scratch);
  return merge_runs(scratch, scratch + n, n, tile);
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_SORT_H
