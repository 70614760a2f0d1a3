//===- table_rows.h - rows of tables that are looked up ---------*- C++ -*-===//
#ifndef FFRT_CUDA_TABLE_ROWS_H
#define FFRT_CUDA_TABLE_ROWS_H

#include "common/indexing/embedding.h"
#include "cuda/indexing/sort.h"

namespace ffrt::cuda {

/// A part of a table.
struct Table {
  int64_t rows, width; ///< of the part
  int64_t lo, global;  ///< its first row; rows of the table
  Problem *problem;
  const char *what;

  Table() = default;
  Table(const Tensor &t, const char *what)
      : rows(t.shape[0]), width(t.shape[1]), lo(t.lo[0]), global(t.global[0]),
        problem(device().problem()), what(what) {}

  /// The row of the part that `index` names, `rows` if there is none.
  __device__ int64_t row(int64_t index) const {
    if (!expect_within(problem, what, index, -global, global))
      return rows;
    const int64_t local = local_row(index, global, lo);
    return local >= 0 && local < rows ? local : rows;
  }
};

/// What is looked up in a table, or given to its rows.
struct Lookups {
  Table table;
  int64_t count;
  const void *indices;
  bool is_long;      ///< are these i64, not i32?
  const float *from; ///< rows of the table, or gradients of what is looked up
  float *to, *slot;  ///< what is written
  const float
      *scale; ///< of gradients (common/optimizer/update_rules.h), or null

  Lookups() = default;
  Lookups(const Table &table, const Tensor &indices, const float *from,
          float *to, float *slot = nullptr, const float *scale = nullptr)
      : table(table), count(indices.elements()), indices(indices.data),
        is_long(indices.type == DType::i64), from(from), to(to), slot(slot),
        scale(scale) {}

  /// The row of the part that an index names.
  __device__ int64_t row_of(int64_t i) const {
    return table.row(is_long ? static_cast<const int64_t *>(indices)[i]
                             : static_cast<const int32_t *>(indices)[i]);
  }
};

/// Lookups that are added up at once where they are of one row: the rows that
/// everybody looks up are added up by many threads.
constexpr int64_t kPiece = 32;

/// Lookups by row.
struct SortedLookups {
  Keyed *sorted; ///< the row of every index, and its number
  float *pieces; ///< sums of kPiece lookups that are of one row
  int64_t count, width;
  const float *dy;

  __device__ int64_t row(int64_t at) const { return sorted[at].key(); }
  __device__ bool begins(int64_t at) const {
    return at == 0 || row(at - 1) != row(at);
  }
  /// Where the row that begins at `at` ends.
  __device__ int64_t end(int64_t at) const {
    const int64_t here = row(at);
    int64_t below = at, above = at + 1;
    for (int64_t step = 1; above < count && row(above) == here; step *= 2) {
      below = above;
      above += step;
    }
    above = above < count ? above : count;
    while (above - below > 1) {
      const int64_t middle = below + (above - below) / 2;
      (row(middle) == here ? below : above) = middle;
    }
    return above;
  }
  /// The sum over lookups from `at` to `end`, in their order.
  __device__ float sum(int64_t at, int64_t end, int64_t column) const {
    float sum = 0;
    FFRT_UNROLL_BY(4)
    for (; at < end; ++at)
      sum += dy[sorted[at].number() * width + column];
    return sum;
  }
  /// The same, of one row.
  __device__ float sum_of_row(int64_t at, int64_t end, int64_t column) const {
    const int64_t first = (at + kPiece - 1) / kPiece, last = end / kPiece;
    if (first >= last)
      return sum(at, end, column);
    float all = sum(at, first * kPiece, column);
    FFRT_UNROLL_BY(4)
    for (int64_t piece = first; piece < last; ++piece)
      all += pieces[piece * width + column];
    return all + sum(last * kPiece, end, column);
  }
  /// The sum of a piece, if all of it is of one row.
  __device__ void add_piece(int64_t piece, int64_t rows) const {
    const int64_t at = piece * kPiece, end = at + kPiece;
    if (row(at) == rows || row(at) != row(end - 1))
      return;
    for (int64_t c = threadIdx.x; c < width; c += blockDim.x)
      pieces[piece * width + c] = sum(at, end, c);
  }
  /// f(element of the part, its gradient) for the row that begins at `at`, if
  /// one does.
  template <class F>
  __device__ void for_row(int64_t at, int64_t rows, const F &f) const {
    if (row(at) == rows || !begins(at))
      return;
    const int64_t last = end(at);
    for (int64_t c = threadIdx.x; c < width; c += blockDim.x)
      f(row(at) * width + c, sum_of_row(at, last, c));
  }
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_TABLE_ROWS_H
