//===- reduction.h - sums of many elements in a fixed order -----*- C++ -*-===//
//
// Values per result, of any geometry: by *rows*, a block of threads or a warp
// for every result, or by *columns*, where neighbours in memory belong to
// different results, neighbouring threads for these. A thread has groups of
// neighbours where these belong together. Where results are few, several blocks
// find parts of each, which are combined in a fixed order.
//
// How values are combined is an object with a type Value, neutral() and an
// operator of two values. What is combined is an object with
//
//   bool begin_groups()       may all that is read be read in groups?
//   own(place of result)      what all elements of a result need, read once
//   read(place, span)         elements from a place on, and what they need
//   Value of(read, k, own)    what the k-th of them is
//
// It may also be of another type, Op::Part, two of which, and one with a Value,
// are combined, too: sums of few floats are widened once, since GPUs convert to
// doubles at a quarter of the rate at which they add them.
//
// A thread has several reads under way, since nothing of them is used before.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_REDUCTION_H
#define FFRT_CUDA_REDUCTION_H

#include "cuda/kernels/reduce_block.h"
#include "cuda/kernels/walk.h"
#include "ffrt/cuda/group.h"

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

template <int K>
__device__ Offsets<K> operator*(int64_t n, const Offsets<K> &a) {
  Offsets<K> product;
  FFRT_UNROLL
  for (int k = 0; k < K; ++k)
    product.at[k] = n * a[k];
  return product;
}

/// Are elements neighbours in operand 0, in whole groups that begin together in
/// all operands in which they are neighbours?
template <class Nest> bool has_groups(const Nest &nest) {
  const auto &step = nest.inner_stride();
  bool result = step[0] == 1 && nest.inner() % kGroup == 0;
  for (int d = 0; d + 1 < nest.rank; ++d)
    for (std::size_t k = 0; k < step.size(); ++k)
      result &= step[k] != 1 || nest.stride[d][k] % kGroup == 0;
  return result;
}

/// What results have in common with their elements where that is nothing.
struct Nothing {};

/// Reads that a thread has under way.
constexpr int kReads = 4;

/// Threads of a block that are side by side where it has columns.
constexpr int kColumns = 32;

/// Which elements are combined to which results. Operand 0 is what is read.
template <int K> struct Reduction {
  Walk<K> kept, reduced;
  bool columns;
  /// Whole groups of neighbours belong together, columns or elements of a row,
  /// which lie at equal distances (element()).
  bool groups;
  int across;     ///< threads side by side, up to kColumns
  int64_t chunks; ///< parts that the elements of a result are cut into

  template <class Nest>
  Reduction(const Nest &kept, const Nest &reduced)
      : kept(kept), reduced(reduced),
        columns(this->kept.elements > 1 && this->kept.step(0) == 1),
        groups(reduced.rank == 1 &&
               (columns ? has_groups(kept) && begins_groups(kept, reduced)
                        : has_groups(reduced) && begins_groups(reduced, kept))),
        across(kColumns) {
    const int64_t results = this->kept.elements, n = this->reduced.elements;
    const int64_t wide = width(groups);
    while (across > 1 && across / 2 * wide >= results)
      across /= 2;
    // So that a thread has something to combine.
    const int64_t most = n / (columns ? int64_t(rows()) * 16 : 2048);
    const int64_t wanted =
        int64_t(device().multiprocessors()) * (kResident / kThreads);
    chunks = std::max<int64_t>(
        1, std::min(most, wanted / std::max<int64_t>(
                                       columns ? tiles(groups) : results, 1)));
  }
  /// How many partial values are kept.
  std::size_t partial() const {
    return chunks > 1 ? std::size_t(chunks * kept.elements) : 0;
  }
  /// Of rows: x goes over the elements of one, y over rows that are short.
  dim3 block() const { return row_block(reduced.elements / chunks, 4); }

  FFRT_FUNCTION static int width(bool grouped) { return grouped ? kGroup : 1; }
  /// Where element i of the result that begins at `at` lies; with groups, group
  /// i of a row.
  template <bool kGroups>
  __device__ Offsets<K> element(const Offsets<K> &at, int64_t i) const {
    if constexpr (kGroups)
      return at + (columns ? i : i * kGroup) * step(reduced);
    else
      return at + reduced(i);
  }
  /// From an element of a group to the next.
  int64_t neighbour(int k) const {
    return columns ? kept.step(k) : reduced.step(k);
  }
  /// The same of columns.
  __device__ Offsets<K> next_result() const { return step(kept); }

  // Of columns.
  /// Threads below each other.
  FFRT_FUNCTION int rows() const { return kThreads / across; }
  /// What blocks have.
  FFRT_FUNCTION int64_t tiles(bool grouped) const {
    const int64_t each = int64_t(across) * width(grouped);
    return (kept.elements + each - 1) / each;
  }

private:
  __device__ static Offsets<K> step(const Walk<K> &walk) {
    Offsets<K> result;
    FFRT_UNROLL
    for (int k = 0; k < K; ++k)
      result.at[k] = walk.step(k);
    return result;
  }
  /// Do groups of `inner` begin wherever `outer` does?
  template <class Nest>
  static bool begins_groups(const Nest &inner, const Nest &outer) {
    bool result = true;
    for (int k = 0; k < K; ++k)
      for (int d = 0; d < outer.rank; ++d)
        result &=
            inner.inner_stride()[k] != 1 || outer.stride[d][k] % kGroup == 0;
    return result;
  }
};

/// Combines what a thread has of a result, or a group of them, from element or
/// group `begin` on, `step` apart, with `values`.
template <bool kGroups, int kWide, int kResults, int K, class Op, class F,
          class Own>
__device__ void combine_into(typename Op::Value *values, const Reduction<K> &r,
                             const Offsets<K> &at, int64_t begin, int64_t end,
                             int64_t step, const Op &op, const F &f,
                             const Own *own) {
  constexpr Span kSpan{0, kWide, kGroups};
  for (int64_t i = begin; i < end; i += kReads * step) {
    decltype(f.read(at, kSpan)) elements[kReads];
    FFRT_UNROLL
    for (int b = 0; b < kReads; ++b)
      if (i + b * step < end)
        elements[b] =
            f.read(r.template element<kGroups>(at, i + b * step), kSpan);
    using Part = decltype(f.of(elements[0], 0, own[0]));
    if constexpr (std::is_same_v<Part, typename Op::Value>) {
      FFRT_UNROLL
      for (int b = 0; b < kReads; ++b)
        if (i + b * step < end) {
          FFRT_UNROLL
          for (int k = 0; k < kWide; ++k)
            values[k % kResults] = op(values[k % kResults],
                                      f.of(elements[b], k, own[k % kResults]));
        }
    } else {
      Part parts[kResults];
      FFRT_UNROLL
      for (int b = 0; b < kReads; ++b)
        if (i + b * step < end) {
          FFRT_UNROLL
          for (int k = 0; k < kWide; ++k) {
            const Part part = f.of(elements[b], k, own[k % kResults]);
            parts[k % kResults] =
                b == 0 && k < kResults ? part : op(parts[k % kResults], part);
          }
        }
      FFRT_UNROLL
      for (int k = 0; k < kResults; ++k)
        values[k] = op(values[k], parts[k]);
    }
  }
}

template <bool kGroups, int K, class Op, class F, class Finish>
__global__ void __launch_bounds__(kRowThreads)
    combine_rows_kernel(Reduction<K> r, Op op, F f, Finish finish,
                        typename Op::Value *partial) {
  constexpr int kWide = kGroups ? kGroup : 1;
  const int64_t results = r.kept.elements, n = r.reduced.elements / kWide;
  for (int64_t task = first_row(); task < results * r.chunks;
       task += row_step()) {
    const int64_t result = r.chunks == 1 ? task : task / r.chunks,
                  chunk = task - result * r.chunks;
    const Offsets<K> at = r.kept(result);
    const auto own = f.own(at);
    typename Op::Value value = op.neutral();
    combine_into<kGroups, kWide, 1>(
        &value, r, at, n * chunk / r.chunks + threadIdx.x,
        n * (chunk + 1) / r.chunks, blockDim.x, op, f, &own);
    value = reduce_row(value, op.neutral(), op);
    if (threadIdx.x != 0)
      continue;
    if (r.chunks == 1)
      finish(at, value);
    else
      partial[chunk * results + result] = value;
  }
}

template <bool kGroups, int K, class Op, class F, class Finish>
__global__ void __launch_bounds__(kThreads)
    combine_columns_kernel(Reduction<K> r, Op op, F f, Finish finish,
                           typename Op::Value *partial) {
  constexpr int kWide = kGroups ? kGroup : 1;
  using Value = typename Op::Value;
  __shared__ Value values[kThreads][kWide];
  const int64_t results = r.kept.elements, n = r.reduced.elements,
                tiles = r.tiles(kGroups);
  const int column = int(threadIdx.x) % r.across,
            row = int(threadIdx.x) / r.across, rows = r.rows();
  const Offsets<K> next = r.next_result();
  for (int64_t task = blockIdx.x; task < tiles * r.chunks; task += gridDim.x) {
    const int64_t chunk = task / tiles,
                  result = ((task - chunk * tiles) * r.across + column) * kWide;
    const Offsets<K> at = r.kept(result < results ? result : 0);
    const int64_t end = result < results ? n * (chunk + 1) / r.chunks : 0;
    Value found[kWide];
    decltype(f.own(at)) own[kWide];
    FFRT_UNROLL
    for (int k = 0; k < kWide; ++k) {
      found[k] = op.neutral();
      own[k] = f.own(at + k * next);
    }
    combine_into<kGroups, kWide, kWide>(
        found, r, at, n * chunk / r.chunks + row, end, rows, op, f, own);
    // The last task's may still be read.
    __syncthreads();
    FFRT_UNROLL
    for (int k = 0; k < kWide; ++k)
      values[threadIdx.x][k] = found[k];
    for (int half = rows / 2; half > 0; half /= 2) {
      __syncthreads();
      if (row < half)
        FFRT_UNROLL
      for (int k = 0; k < kWide; ++k)
        values[threadIdx.x][k] =
            op(values[threadIdx.x][k],
               values[int(threadIdx.x) + half * r.across][k]);
    }
    if (row != 0 || result >= results)
      continue;
    FFRT_UNROLL
    for (int k = 0; k < kWide; ++k) {
      if (r.chunks == 1)
        finish(at + k * next, values[threadIdx.x][k]);
      else
        partial[chunk * results + result + k] = values[threadIdx.x][k];
    }
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

/// finish(place of the result, what f has of its elements, combined) for every
/// result.
template <int K, class Op, class F, class Finish>
void reduce(const Reduction<K> &r, typename Op::Value *partial, Op op, F f,
            Finish finish) {
  const int64_t results = r.kept.elements;
  if (results == 0)
    return;
  const bool grouped = r.groups && f.begin_groups();
  if (r.columns)
    launch(blocks_for(r.tiles(grouped) * r.chunks, 1), kThreads,
           grouped ? combine_columns_kernel<true, K, Op, F, Finish>
                   : combine_columns_kernel<false, K, Op, F, Finish>,
           r, op, f, finish, partial);
  else
    launch(blocks_for_rows(results * r.chunks, r.block()), r.block(),
           grouped ? combine_rows_kernel<true, K, Op, F, Finish>
                   : combine_rows_kernel<false, K, Op, F, Finish>,
           r, op, f, finish, partial);
  if (r.chunks > 1) {
    const dim3 block = row_block(r.chunks, 4);
    launch(blocks_for_rows(results, block), block,
           combine_parts_kernel<K, Op, Finish>, r.kept, r.chunks, op,
           static_cast<const typename Op::Value *>(partial), finish);
  }
}

//===----------------------------------------------------------------------===//
// Elements of columns
//===----------------------------------------------------------------------===//

template <bool kGroups, int K, class F>
__global__ void __launch_bounds__(kThreads)
    for_columns_kernel(Reduction<K> r, F f) {
  constexpr int kWide = kGroups ? kGroup : 1;
  constexpr Span kSpan{0, kWide, kGroups};
  const int64_t results = r.kept.elements, n = r.reduced.elements,
                tiles = r.tiles(kGroups);
  const int column = int(threadIdx.x) % r.across,
            row = int(threadIdx.x) / r.across, rows = r.rows();
  for (int64_t task = blockIdx.x; task < tiles * r.chunks; task += gridDim.x) {
    const int64_t chunk = task / tiles,
                  result = ((task - chunk * tiles) * r.across + column) * kWide,
                  end = n * (chunk + 1) / r.chunks;
    if (result >= results)
      continue;
    const Offsets<K> at = r.kept(result);
    const auto own = f.own(at, kSpan);
    for (int64_t i = n * chunk / r.chunks + row; i < end; i += kReads * rows) {
      decltype(f.read(at, kSpan)) elements[kReads];
      FFRT_UNROLL
      for (int b = 0; b < kReads; ++b)
        if (i + b * rows < end)
          elements[b] =
              f.read(r.template element<kGroups>(at, i + b * rows), kSpan);
      FFRT_UNROLL
      for (int b = 0; b < kReads; ++b)
        if (i + b * rows < end)
          f.write(r.template element<kGroups>(at, i + b * rows), kSpan,
                  elements[b], own);
    }
  }
}

/// f.write(place, span, f.read(place, span), own) for all elements of results
/// in columns, a group of columns at a time where they are. `own` is
/// f.own(place of the results, span), read once by every thread.
template <int K, class F> void for_columns(Reduction<K> r, const F &f) {
  if (r.kept.elements == 0 || r.reduced.elements == 0)
    return;
  const bool grouped = r.groups && f.begin_groups();
  const int64_t tiles = r.tiles(grouped), each = int64_t(r.rows()) * kReads * 2,
                resident =
                    int64_t(device().multiprocessors()) * kResident / kThreads;
  // Twice what is resident, since nothing is combined: blocks that end early
  // leave room for others.
  r.chunks = std::max<int64_t>(
      1, std::min(r.reduced.elements / each, 2 * resident / tiles));
  launch(blocks_for(tiles * r.chunks, 1), kThreads,
         grouped ? for_columns_kernel<true, K, F>
                 : for_columns_kernel<false, K, F>,
         r, f);
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_REDUCTION_H
