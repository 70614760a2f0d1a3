//===- embedding.cu - rows of tables by indices ---------------------------===//
//
// What is added up is sorted by row first, so that it is added in the order of
// the indices, whatever the number of blocks.
//
//===----------------------------------------------------------------------===//
#include "ffrt/embedding.h"

#include "common/check.h"
#include "common/embedding.h"
#include "common/move.h"
#include "cuda/reduce_block.h"
#include "cuda/sort.h"

#include <cmath>

namespace ffrt {

using cuda::Scalars;

namespace {

/// A part of a table.
struct Table {
  int64_t rows, width; ///< of the part
  int64_t lo, global;  ///< its first row; rows of the table
  cuda::Problem *problem;
  const char *what;

  Table(const Tensor &t, const char *what)
      : rows(t.shape[0]), width(t.shape[1]), lo(t.lo[0]), global(t.global[0]),
        problem(cuda::device().problem()), what(what) {}

  /// The row of the part that `index` names, `rows` if there is none.
  __device__ int64_t row(int64_t index) const {
    if (!cuda::expect_within(problem, what, index, -global, global))
      return rows;
    const int64_t local = local_row(index, global, lo);
    return local >= 0 && local < rows ? local : rows;
  }
};

/// Calls f with the indices.
template <class F> void with_indices(const Tensor &indices, F f) {
  if (indices.type == DType::i32)
    f(indices.as<int32_t>());
  else
    f(indices.as<int64_t>());
}

/// A block of threads for rows of a table, by columns.
dim3 block_of(const Table &table) { return cuda::row_block(table.width, 4); }

template <class F>
__global__ void __launch_bounds__(cuda::kRowThreads)
    for_rows_kernel(int64_t rows, F f) {
  for (int64_t row = cuda::first_row(); row < rows; row += cuda::row_step())
    f(row);
}

/// f(number) for every number of [0, n), by the threads of a row.
template <class F> void for_rows(const Table &table, int64_t n, F f) {
  const dim3 block = block_of(table);
  if (n > 0)
    cuda::launch(cuda::blocks_for_rows(n, block), block, for_rows_kernel<F>, n,
                 f);
}

template <class T>
void look_up(const Table &table, const float *from, const T *indices,
             int64_t count, float *to) {
  for_rows(
      table, count, FFRT_LAMBDA(int64_t i) {
        const int64_t row = table.row(indices[i]);
        const bool is_there = row < table.rows;
        for (int64_t c = threadIdx.x; c < table.width; c += blockDim.x)
          to[i * table.width + c] =
              is_there ? from[row * table.width + c] : 0.0f;
      });
}

/// The number of the row of every index, and that of the index, sorted.
template <class T>
const cuda::Keyed *sort_rows(const Table &table, const T *indices,
                             int64_t count, cuda::Keyed *scratch) {
  return cuda::sort_by_key(
      count, scratch, FFRT_LAMBDA(int64_t i) { return table.row(indices[i]); });
}

/// Lookups that are added up at once where they are of one row: the rows that
/// everybody looks up are added up by many threads.
constexpr int64_t kPiece = 32;

/// What is looked up, by row, and the gradients by it.
struct Lookups {
  const cuda::Keyed *sorted;
  int64_t count, width;
  const float *dy;
  float *pieces; ///< sums of kPiece lookups that are of one row

  static void reserve(const char *kernel, const Tensor &table,
                      const Tensor &indices) {
    const int64_t n = indices.elements(), width = table.shape[1];
    for (int64_t numbers : {table.shape[0], n})
      expect(kernel, numbers < cuda::kKeys,
             "expected fewer than 2^32 - 1 rows and indices, found " +
                 std::to_string(numbers));
    cuda::device().reserve(std::size_t(2 * n) * sizeof(cuda::Keyed) +
                           std::size_t(n / kPiece * width) * sizeof(float));
  }
  Lookups(const Table &table, const Tensor &indices, const float *dy)
      : count(indices.elements()), width(table.width), dy(dy) {
    auto *scratch = cuda::device().scratch<cuda::Keyed>();
    pieces = reinterpret_cast<float *>(scratch + 2 * count);
    with_indices(indices, [&](const auto *ids) {
      sorted = sort_rows(table, ids, count, scratch);
    });
  }

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
};

/// The sums of pieces of one row.
void add_pieces(const Table &table, const Lookups &lookups) {
  for_rows(
      table, lookups.count / kPiece, FFRT_LAMBDA(int64_t piece) {
        const int64_t at = piece * kPiece, end = at + kPiece,
                      row = lookups.row(at);
        if (row == table.rows || row != lookups.row(end - 1))
          return;
        for (int64_t c = threadIdx.x; c < table.width; c += blockDim.x)
          lookups.pieces[piece * table.width + c] = lookups.sum(at, end, c);
      });
}

/// f(element of the part, its gradient) for the rows that were looked up.
template <class F>
void for_gradients(const Table &table, const Lookups &lookups, F f) {
  add_pieces(table, lookups);
  for_rows(
      table, lookups.count, FFRT_LAMBDA(int64_t at) {
        const int64_t row = lookups.row(at);
        if (row == table.rows || !lookups.begins(at))
          return;
        const int64_t end = lookups.end(at);
        for (int64_t c = threadIdx.x; c < table.width; c += blockDim.x)
          f(row * table.width + c, lookups.sum_of_row(at, end, c));
      });
}

} // namespace

void EmbeddingForward::operator()(Tensors in, Tensors out) {
  const Tensor &table = in.begin()[0], &indices = in.begin()[1];
  const Table part(table, "embedding forward: expected indices");
  with_indices(indices, [&](const auto *ids) {
    look_up(part, table.as<float>(), ids, indices.elements(),
            out.begin()->as<float>());
  });
}

EmbeddingBackward::EmbeddingBackward(Context &, Tensors in, Tensors out) {
  check_embedding_backward("embedding backward", in, out);
  Lookups::reserve("embedding backward", out.begin()[0], in.begin()[0]);
}

void EmbeddingBackward::operator()(Tensors in, Tensors out) {
  const Tensor &table = out.begin()[0];
  const Table part(table, "embedding backward: expected indices");
  float *to = table.as<float>();
  fill_elements(DType::f32, to, table.elements(), 0);
  for_gradients(
      part, Lookups(part, in.begin()[0], in.begin()[1].as<float>()),
      FFRT_LAMBDA(int64_t i, float slope) { to[i] = slope; });
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

SgdUpdateRows::SgdUpdateRows(Context &cx, Tensors in, Tensors out) : cx(cx) {
  check_row_update("sgd update rows", in, out, 0);
  Lookups::reserve("sgd update rows", in.begin()[0], in.begin()[1]);
}

void SgdUpdateRows::operator()(Tensors in, Tensors) {
  check_no_decay("sgd update rows", cx);
  const Tensor &table = in.begin()[0];
  const Table part(table, "sgd update rows: expected indices");
  float *w = table.as<float>();
  const Scalars *now = cuda::device().scalars(cx);
  for_gradients(
      part, Lookups(part, in.begin()[1], in.begin()[2].as<float>()),
      FFRT_LAMBDA(int64_t i, float slope) {
        w[i] -= now->learning_rate * slope;
      });
}

struct AdagradUpdateRows::Plan {};

AdagradUpdateRows::AdagradUpdateRows(Context &cx, Tensors in, Tensors out,
                                     double epsilon)
    : cx(cx), epsilon(float(epsilon)) {
  check_row_update("adagrad update rows", in, out, 1);
  Lookups::reserve("adagrad update rows", in.begin()[0], in.begin()[1]);
}

void AdagradUpdateRows::operator()(Tensors in, Tensors) {
  check_no_decay("adagrad update rows", cx);
  const Tensor &table = in.begin()[0];
  const Table part(table, "adagrad update rows: expected indices");
  float *w = table.as<float>(), *s = in.begin()[3].as<float>();
  const Scalars *now = cuda::device().scalars(cx);
  const float small = epsilon;
  for_gradients(
      part, Lookups(part, in.begin()[1], in.begin()[2].as<float>()),
      FFRT_LAMBDA(int64_t i, float slope) {
        s[i] += slope * slope;
        w[i] -= now->learning_rate * slope / (sqrtf(s[i]) + small);
      });
}

} // namespace ffrt
