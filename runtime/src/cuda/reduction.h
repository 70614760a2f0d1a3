//===- reduction.h - what many elements come to, in a fixed order -*- C++
//-*-===//
//
// Values per result, of any geometry: by *rows*, a block of threads or a warp
// for every result, or by *columns*, where neighbours in memory belong to
// different results, neighbouring threads for these. Where results are few,
// several blocks find parts of each, which are combined in a fixed order.
//
// How values are combined is an object with a type Value, neutral() and an
// operator of two values.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_REDUCTION_H
#define FFRT_CUDA_REDUCTION_H

#include "cuda/reduce_block.h"
#include "cuda/walk.h"
#include "ffrt/cuda/launch.h"

#include <algorithm>

namespace ffrt::cuda {

template <int K>
__device__ Offsets<K> operator+(const Offsets<K> &a, const Offsets<K> &b) {
  Offsets<K> sum;
  FFRT_UNROLL
  for (int k = 0; k < K; ++k)
    sum.at[k] = a[k] + b[k];
  return sum;
}

/// Results of a block that has columns, and elements of each that it reads at
/// once.
constexpr int kColumns = 32, kColumnRows = kThreads / kColumns;

/// Which elements are combined to which results. Operand 0 is what is read.
template <int K> struct Reduction {
  Walk<K> kept, reduced;
  bool columns;
  int64_t chunks; ///< parts that the elements of a result are cut into

  Reduction(const Walk<K> &kept, const Walk<K> &reduced)
      : kept(kept), reduced(reduced),
        columns(kept.elements > 1 && kept.step(0) == 1) {
    const int64_t tiles =
        columns ? (kept.elements + kColumns - 1) / kColumns : kept.elements;
    // So that a thread has something to combine.
    const int64_t most = reduced.elements / (columns ? 128 : 2048);
    const int64_t wanted =
        int64_t(device().multiprocessors()) * (kResident / kThreads);
    chunks = std::max<int64_t>(
        1, std::min(most, wanted / std::max<int64_t>(tiles, 1)));
  }
  /// How many partial values are kept.
  std::size_t partial() const {
    return chunks > 1 ? std::size_t(chunks * kept.elements) : 0;
  }
  /// Of rows: x goes over the elements of one, y over rows that are short.
  dim3 block() const { return row_block(reduced.elements / chunks, 4); }
};

/// What the threads of a row have found of elements from `begin` to `end`.
template <int K, class Op, class F>
__device__ typename Op::Value
combine_row(const Reduction<K> &r, const Offsets<K> &at, int64_t begin,
            int64_t end, const Op &op, const F &f) {
  typename Op::Value value = op.neutral();
  FFRT_UNROLL_BY(4)
  for (int64_t i = begin + threadIdx.x; i < end; i += blockDim.x)
    value = op(value, f(at + r.reduced(i), at));
  return reduce_row(value, op.neutral(), op);
}

template <int K, class Op, class F, class Finish>
__global__ void __launch_bounds__(kRowThreads)
    combine_rows_kernel(Reduction<K> r, Op op, F f, Finish finish,
                        typename Op::Value *partial) {
  const int64_t results = r.kept.elements, n = r.reduced.elements;
  for (int64_t task = first_row(); task < results * r.chunks;
       task += row_step()) {
    const int64_t result = r.chunks == 1 ? task : task / r.chunks,
                  chunk = task - result * r.chunks;
    const Offsets<K> at = r.kept(result);
    const auto value = combine_row(r, at, n * chunk / r.chunks,
                                   n * (chunk + 1) / r.chunks, op, f);
    if (threadIdx.x != 0)
      continue;
    if (r.chunks == 1)
      finish(at, value);
    else
      partial[chunk * results + result] = value;
  }
}

template <int K, class Op, class F, class Finish>
__global__ void combine_columns_kernel(Reduction<K> r, Op op, F f,
                                       Finish finish,
                                       typename Op::Value *partial) {
  using Value = typename Op::Value;
  __shared__ Value values[kColumnRows][kColumns];
  const int64_t results = r.kept.elements, n = r.reduced.elements,
                tiles = (results + kColumns - 1) / kColumns;
  const int column = int(threadIdx.x) % kColumns,
            row = int(threadIdx.x) / kColumns;
  for (int64_t task = blockIdx.x; task < tiles * r.chunks; task += gridDim.x) {
    const int64_t chunk = task / tiles,
                  result = (task - chunk * tiles) * kColumns + column;
    const Offsets<K> at = r.kept(result < results ? result : 0);
    const int64_t end = result < results ? n * (chunk + 1) / r.chunks : 0;
    Value value = op.neutral();
    FFRT_UNROLL_BY(4)
    for (int64_t i = n * chunk / r.chunks + row; i < end; i += kColumnRows)
      value = op(value, f(at + r.reduced(i), at));
    // The last task's may still be read.
    __syncthreads();
    values[row][column] = value;
    __syncthreads();
    if (row != 0 || result >= results)
      continue;
    for (int k = 1; k < kColumnRows; ++k)
      value = op(value, values[k][column]);
    if (r.chunks == 1)
      finish(at, value);
    else
      partial[chunk * results + result] = value;
  }
}

/// A block for the parts of every result, or a warp.
template <int K, class Op, class Finish>
__global__ void __launch_bounds__(kRowThreads)
    combine_parts_kernel(Walk<K> kept, int64_t chunks, Op op,
                         const typename Op::Value *partial, Finish finish) {
  for (int64_t result = first_row(); result < kept.elements;
       result += row_step()) {
    auto value = op.neutral();
    FFRT_UNROLL_BY(4)
    for (int64_t chunk = threadIdx.x; chunk < chunks; chunk += blockDim.x)
      value = op(value, partial[chunk * kept.elements + result]);
    value = reduce_row(value, op.neutral(), op);
    if (threadIdx.x == 0)
      finish(kept(result), value);
  }
}

/// finish(place of the result, f(place of an element, that of the result)
/// combined) for every result.
template <int K, class Op, class F, class Finish>
void reduce(const Reduction<K> &r, typename Op::Value *partial, Op op, F f,
            Finish finish) {
  const int64_t results = r.kept.elements;
  if (results == 0)
    return;
  if (r.columns)
    launch(blocks_for((results + kColumns - 1) / kColumns * r.chunks, 1),
           kThreads, combine_columns_kernel<K, Op, F, Finish>, r, op, f, finish,
           partial);
  else
    launch(blocks_for_rows(results * r.chunks, r.block()), r.block(),
           combine_rows_kernel<K, Op, F, Finish>, r, op, f, finish, partial);
  if (r.chunks > 1) {
    const dim3 block = row_block(r.chunks, 4);
    launch(blocks_for_rows(results, block), block,
           combine_parts_kernel<K, Op, Finish>, r.kept, r.chunks, op,
           static_cast<const typename Op::Value *>(partial), finish);
  }
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_REDUCTION_H
