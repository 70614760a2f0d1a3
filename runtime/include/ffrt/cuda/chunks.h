//===- chunks.h - several arrays in one launch ------------------*- C++ -*-===//
#ifndef FFRT_CUDA_CHUNKS_H
#define FFRT_CUDA_CHUNKS_H

#include "ffrt/cuda/group.h"
#include "ffrt/function.h"

#include <cstdint>

namespace ffrt::cuda {

/// Bytes of a kernel's parameters that all devices take.
constexpr std::size_t kParameterBytes = 4096;

/// Elements of a chunk: several groups for every thread of a block.
constexpr int kChunkGroups = 4, kChunk = kThreads * kGroup * kChunkGroups;

/// Up to `Most` arrays cut into chunks, which are numbered through. For
/// kernels, by value: a captured launch then has all of it.
template <int Most> class Chunks {
public:
  int arrays() const { return count; }
  bool full() const { return count == Most; }
  void clear() { count = 0; }
  /// Chunks of all arrays.
  FFRT_FUNCTION int total() const { return begins[count]; }
  /// Chunks of an array.
  FFRT_FUNCTION int begin(int array) const { return begins[array]; }
  FFRT_FUNCTION int end(int array) const { return begins[array + 1]; }

  static int64_t chunks_of(int64_t n) { return (n + kChunk - 1) / kChunk; }
  void add(int64_t n) { add_chunks(chunks_of(n)); }
  void add_chunks(int64_t chunks) {
    begins[count + 1] = begins[count] + int(chunks);
    ++count;
  }

  /// The array that a chunk is of.
  __device__ int array_of(int chunk) const {
    int below = 0, above = count;
    while (above - below > 1) {
      const int middle = (below + above) / 2;
      if (begins[middle] <= chunk)
        below = middle;
      else
        above = middle;
    }
    return below;
  }

  /// f(span) for this thread's part of a chunk of n elements.
  template <class F>
  __device__ void for_spans(int chunk, int array, int64_t n, bool grouped,
                            F f) const {
    const int64_t first =
        int64_t(chunk - begins[array]) * (kChunk / kGroup) + threadIdx.x;
    FFRT_UNROLL
    for (int k = 0; k < kChunkGroups; ++k) {
      const int64_t g = first + k * kThreads;
      if (g * kGroup < n)
        f(span_of(g, n, grouped));
    }
  }

private:
  int count = 0, begins[Most + 1] = {};
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_CHUNKS_H
