//===- normalize_work.h - normalisations on GPUs ----------------*- C++ -*-===//
//
// Sums per statistic or parameter, the same for any geometry: by *rows*, a
// block of threads or a warp for every result, or by *columns*, where
// neighbours in memory belong to different results, neighbouring threads for
// these. Where results are few, several blocks find partial sums of each, which
// are added up in a fixed order. All groups of samples are handled at once.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_NORMALIZE_WORK_H
#define FFRT_CUDA_NORMALIZE_WORK_H

#include "common/normalize_geometry.h"
#include "cuda/reduce_block.h"
#include "cuda/walk.h"
#include "ffrt/cuda/launch.h"

namespace ffrt {

namespace normalization {

/// In x, in the statistics and in the parameters.
using Place = cuda::Offsets<3>;
using Places = cuda::Walk<3>;

__device__ inline Place operator+(const Place &a, const Place &b) {
  return {{a[0] + b[0], a[1] + b[1], a[2] + b[2]}};
}

struct Pair {
  double a, b;
};

/// What elements need of their statistic: the means of g and g * h on the way
/// back.
struct SetStatistics {
  float mean, inverse, g, gh;
};

__device__ inline float inverse_of(double var, double epsilon) {
  return float(1.0 / sqrt(var + epsilon));
}

/// Which elements are combined to which results.
struct Reduction {
  Places kept, reduced;
  bool columns;
  int64_t chunks = 1; ///< parts that the elements of a result are cut into

  Reduction(const Places &kept, const Places &reduced);
  /// How many partial sums are kept.
  std::size_t partial_sums() const {
    return chunks > 1 ? std::size_t(chunks * kept.elements) : 0;
  }
  /// Of rows: x goes over the elements of one, y over rows that are short.
  dim3 block() const {
    return reduced.elements / chunks <= 128 ? dim3(32, cuda::kThreads / 32)
                                            : dim3(cuda::kThreads);
  }
};

} // namespace normalization

struct NormalizeWork {
  using Places = normalization::Places;
  using Reduction = normalization::Reduction;
  using SetStatistics = normalization::SetStatistics;
  using Pair = normalization::Pair;

  NormalizeWork(const NormalizeGeometry &geometry, const Tensor &x);

  Places all;     ///< elements of x
  Reduction sets; ///< elements of x by statistic
  /// By parameter: statistics, if each has one parameter, else elements of x.
  Reduction parameters;
  int64_t statistics; ///< of all groups

  /// Is a set handled by one block, or one warp?
  bool by_rows() const { return !sets.columns && sets.chunks == 1; }

  // Scratch, per statistic.
  SetStatistics *of_sets() const {
    return cuda::device().scratch<SetStatistics>();
  }
  Pair *sums() const {
    return reinterpret_cast<Pair *>(of_sets() + statistics);
  }
  Pair *partial() const { return sums() + statistics; }
};

namespace normalization {

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Rows are dealt out to the threads that are alike in threadIdx.y.
__device__ inline int64_t first_row() {
  return int64_t(blockIdx.x) * blockDim.y + threadIdx.y;
}
__device__ inline int64_t row_step() { return int64_t(gridDim.x) * blockDim.y; }

/// Over the threads of a row.
__device__ inline double sum_over_row(double value) {
  return blockDim.x == 32 ? cuda::reduce_warp(value, cuda::Sum())
                          : cuda::reduce_block(value, 0.0, cuda::Sum());
}

/// The sum of f(element, place of the result) over elements from `begin` to
/// `end`, by the threads of a row.
template <class F>
__device__ Pair sum_of_row(const Reduction &r, const Place &at, int64_t begin,
                           int64_t end, const F &f) {
  Pair sum{0, 0};
  for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x) {
    const Pair here = f(at + r.reduced(i), at);
    sum.a += here.a;
    sum.b += here.b;
  }
  return {sum_over_row(sum.a), sum_over_row(sum.b)};
}

template <class F, class Finish>
__global__ void sum_rows_kernel(Reduction r, F f, Finish finish,
                                Pair *partial) {
  const int64_t results = r.kept.elements, n = r.reduced.elements;
  for (int64_t task = first_row(); task < results * r.chunks;
       task += row_step()) {
    const int64_t result = task / r.chunks, chunk = task % r.chunks;
    const Place at = r.kept(result);
    const Pair sum =
        sum_of_row(r, at, n * chunk / r.chunks, n * (chunk + 1) / r.chunks, f);
    if (threadIdx.x != 0)
      continue;
    if (r.chunks == 1)
      finish(at, sum);
    else
      partial[chunk * results + result] = sum;
  }
}

/// Results of a block of sum_columns_kernel.
constexpr int kColumns = 32;

template <class F, class Finish>
__global__ void sum_columns_kernel(Reduction r, F f, Finish finish,
                                   Pair *partial) {
  constexpr int kRows = cuda::kThreads / kColumns;
  __shared__ Pair sums[kRows][kColumns];
  const int64_t results = r.kept.elements, n = r.reduced.elements,
                tiles = (results + kColumns - 1) / kColumns;
  const int column = int(threadIdx.x) % kColumns,
            row = int(threadIdx.x) / kColumns;
  for (int64_t task = blockIdx.x; task < tiles * r.chunks; task += gridDim.x) {
    const int64_t chunk = task / tiles,
                  result = task % tiles * kColumns + column;
    const Place at = r.kept(result < results ? result : 0);
    const int64_t end = result < results ? n * (chunk + 1) / r.chunks : 0;
    Pair sum{0, 0};
    for (int64_t i = n * chunk / r.chunks + row; i < end; i += kRows) {
      const Pair here = f(at + r.reduced(i), at);
      sum.a += here.a;
      sum.b += here.b;
    }
    // The last task's may still be read.
    __syncthreads();
    sums[row][column] = sum;
    __syncthreads();
    if (row != 0 || result >= results)
      continue;
    for (int k = 1; k < kRows; ++k) {
      sum.a += sums[k][column].a;
      sum.b += sums[k][column].b;
    }
    if (r.chunks == 1)
      finish(at, sum);
    else
      partial[chunk * results + result] = sum;
  }
}

/// A warp for every result.
template <class Finish>
__global__ void add_up_kernel(Places kept, int64_t chunks, const Pair *partial,
                              Finish finish) {
  const int lane = int(threadIdx.x) % 32;
  const int64_t warps = int64_t(gridDim.x) * (blockDim.x / 32);
  for (int64_t result = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
       result < kept.elements; result += warps) {
    Pair sum{0, 0};
    for (int64_t chunk = lane; chunk < chunks; chunk += 32) {
      const Pair here = partial[chunk * kept.elements + result];
      sum.a += here.a;
      sum.b += here.b;
    }
    sum.a = cuda::reduce_warp(sum.a, cuda::Sum());
    sum.b = cuda::reduce_warp(sum.b, cuda::Sum());
    if (lane == 0)
      finish(kept(result), sum);
  }
}

/// finish(place of the result, sum of f(place of an element, that of the
/// result)) for every result.
template <class F, class Finish>
void sum_up(const Reduction &r, Pair *partial, F f, Finish finish) {
  const int64_t results = r.kept.elements;
  if (results == 0)
    return;
  if (r.columns)
    cuda::launch(
        cuda::blocks_for((results + kColumns - 1) / kColumns * r.chunks, 1),
        cuda::kThreads, sum_columns_kernel<F, Finish>, r, f, finish, partial);
  else
    cuda::launch(cuda::blocks_for(results * r.chunks, r.block().y), r.block(),
                 sum_rows_kernel<F, Finish>, r, f, finish, partial);
  if (r.chunks > 1)
    cuda::launch(cuda::blocks_for(results, cuda::kThreads / 32), cuda::kThreads,
                 add_up_kernel<Finish>, r.kept, r.chunks,
                 static_cast<const Pair *>(partial), finish);
}

} // namespace normalization

} // namespace ffrt

#endif // FFRT_CUDA_NORMALIZE_WORK_H
