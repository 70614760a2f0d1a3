//===- row.h - rows that are gone over more than once -----------*- C++ -*-===//
//
// The threads of a row (reduce_block.h) read it once: what they have read stays
// in registers for the next time, as far as these go. The rest of a long row is
// read again.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_ROW_H
#define FFRT_CUDA_ROW_H

#include "cuda/kernels/reduce_block.h"
#include "ffrt/cuda/launch.h"

namespace ffrt::cuda {

/// Elements of a row that a thread keeps.
constexpr int kKept = 16;

/// A block for rows of n elements.
inline dim3 row_block(int64_t n) { return row_block(n, kKept); }

/// Element i of a row is load(i). A thread keeps so many.
template <class Load, int kKept = cuda::kKept> class Row {
public:
  using Value = decltype(std::declval<const Load &>()(int64_t(0)));

  __device__ Row(int64_t n, const Load &load) : n(n), load(load) {
    FFRT_UNROLL
    for (int k = 0; k < kKept; ++k)
      kept[k] = number(k) < n ? load(number(k)) : Value();
  }

  /// f(i, element i) for the elements of this thread.
  template <class F> __device__ void for_each(const F &f) const {
    for_each_kept(f);
    for (int64_t i = number(kKept); i < n; i += blockDim.x)
      f(i, load(i));
  }

  /// f(i, element i) for those of them that are kept.
  template <class F> __device__ void for_each_kept(const F &f) const {
    FFRT_UNROLL
    for (int k = 0; k < kKept; ++k)
      if (number(k) < n)
        f(number(k), kept[k]);
  }
  /// The row's elements that are not kept begin here.
  __device__ static int64_t first_read_again() {
    return kKept * int64_t(blockDim.x);
  }

  /// Is all of the row kept?
  __device__ bool is_kept() const { return first_read_again() >= n; }

  /// The row of f(element).
  template <class F> __device__ auto mapped(const F &f) const {
    const auto chain = [load = load, f](int64_t i) { return f(load(i)); };
    Row<decltype(chain), kKept> result(n, chain, Unread());
    FFRT_UNROLL
    for (int k = 0; k < kKept; ++k)
      result.kept[k] = f(kept[k]);
    return result;
  }

private:
  template <class, int> friend class Row;
  struct Unread {};
  template <class U>
  __device__ Row(int64_t n, const Load &load, U) : n(n), load(load) {}

  __device__ static int64_t number(int k) {
    return int64_t(threadIdx.x) + k * int64_t(blockDim.x);
  }

  int64_t n;
  Load load;
  Value kept[kKept];
};

/// The sum of f(element) over all threads of the row, as a double.
template <class Load, class F>
__device__ double sum_of(const Row<Load> &row, const F &f) {
  double sum = 0;
  row.for_each([&](int64_t, const auto &value) { sum += f(value); });
  return reduce_row(sum, 0.0, Sum());
}

template <class Load> __device__ float max_of(const Row<Load> &row) {
  float top = -HUGE_VALF;
  row.for_each([&](int64_t, float x) { top = x > top ? x : top; });
  return reduce_row(top, -HUGE_VALF, Maximum());
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_ROW_H
