//===- nest.h - loop nests over strided operands ----------------*- C++ -*-===//
//
// The one place that turns tensors of different orders into loops: drops
// dimensions of extent 1, orders the rest by the first operand's strides, and
// merges neighbours that are contiguous in all operands.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_NEST_H
#define FFRT_COMMON_NEST_H

#include "ffrt/parallel.h"
#include "ffrt/tensor.h"

#include <array>

namespace ffrt {

template <int K> struct Nest {
  using Offsets = std::array<int64_t, K>;

  int rank = 0;             ///< at least 1 after construction
  int64_t extent[kMaxRank]; ///< outermost first
  Offsets stride[kMaxRank]; ///< in elements, per operand

  Nest(int dims, const Index &shape, const std::array<Index, K> &strides) {
    for (int d = 0; d < dims; ++d) {
      if (shape[d] == 1)
        continue;
      Offsets s;
      for (int k = 0; k < K; ++k)
        s[k] = strides[k][d];
      int at = rank++;
      for (; at > 0 && stride[at - 1][0] < s[0]; --at) {
        extent[at] = extent[at - 1];
        stride[at] = stride[at - 1];
      }
      extent[at] = shape[d];
      stride[at] = s;
    }
    merge();
    if (rank == 0) {
      rank = 1;
      extent[0] = 1;
      stride[0].fill(0);
    }
  }

  int64_t inner() const { return extent[rank - 1]; }
  const Offsets &inner_stride() const { return stride[rank - 1]; }

  /// Number of innermost rows.
  int64_t rows() const {
    int64_t n = 1;
    for (int d = 0; d + 1 < rank; ++d)
      n *= extent[d];
    return n;
  }

  /// Calls f(offsets) with the start of rows [begin, end), in order.
  template <class F> void for_rows(int64_t begin, int64_t end, F &&f) const {
    int64_t at[kMaxRank] = {};
    Offsets offset{};
    int64_t rest = begin;
    for (int d = rank - 2; d >= 0 && rest > 0; --d) {
      at[d] = rest % extent[d];
      rest /= extent[d];
      for (int k = 0; k < K; ++k)
        offset[k] += at[d] * stride[d][k];
    }
    for (int64_t row = begin; row < end; ++row) {
      f(offset);
      for (int d = rank - 2; d >= 0; --d) {
        for (int k = 0; k < K; ++k)
          offset[k] += stride[d][k];
        if (++at[d] < extent[d])
          break;
        for (int k = 0; k < K; ++k)
          offset[k] -= extent[d] * stride[d][k];
        at[d] = 0;
      }
    }
  }

  /// Calls f(offsets, n) for runs of n elements along the innermost dimension,
  /// on several threads. Runs are disjoint in the iteration space.
  template <class F> void run(F &&f) const {
    constexpr int64_t grain = 16384;
    if (rank == 1) {
      parallel_for(extent[0], grain, [&](int64_t begin, int64_t end) {
        Offsets offset;
        for (int k = 0; k < K; ++k)
          offset[k] = begin * stride[0][k];
        f(offset, end - begin);
      });
      return;
    }
    int64_t n = inner();
    if (n == 0)
      return;
    parallel_for(rows(), 1 + grain / n, [&](int64_t begin, int64_t end) {
      for_rows(begin, end, [&](const Offsets &offset) { f(offset, n); });
    });
  }

  /// Steps between the rows that run_planes puts together.
  Offsets row_stride() const { return rank > 1 ? stride[rank - 2] : Offsets{}; }

  /// Calls f(offsets, m, n) for planes of m rows of n elements along the two
  /// innermost dimensions, on several threads: what short rows need.
  template <class F> void run_planes(F &&f) const {
    if (rank == 1) {
      run([&](const Offsets &offset, int64_t n) { f(offset, int64_t(1), n); });
      return;
    }
    constexpr int64_t grain = 16384;
    int64_t n = inner(), depth = extent[rank - 2];
    if (n == 0)
      return;
    parallel_for(rows(), 1 + grain / n, [&](int64_t begin, int64_t end) {
      for (int64_t row = begin; row < end;) {
        int64_t m = depth - row % depth;
        m = m < end - row ? m : end - row;
        for_rows(row, row + 1, [&](const Offsets &offset) { f(offset, m, n); });
        row += m;
      }
    });
  }

private:
  void merge() {
    for (int d = rank - 2; d >= 0; --d) {
      bool contiguous = true;
      for (int k = 0; k < K; ++k)
        contiguous &= stride[d][k] == stride[d + 1][k] * extent[d + 1];
      if (!contiguous)
        continue;
      extent[d] *= extent[d + 1];
      stride[d] = stride[d + 1];
      for (int e = d + 1; e + 1 < rank; ++e) {
        extent[e] = extent[e + 1];
        stride[e] = stride[e + 1];
      }
      --rank;
    }
  }
};

} // namespace ffrt

#endif // FFRT_COMMON_NEST_H
