//===- embedding.cu - rows of tables by indices ---------------------------===//
//
// What is added up is sorted by row first, so that it is added in the order of
// the indices, whatever the number of blocks.
//
//===----------------------------------------------------------------------===//
#include "ffrt/embedding.h"

#include "common/embedding.h"
#include "common/move.h"
#include "cuda/sort.h"
#include "ffrt/cuda/launch.h"

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

template <class T>
void look_up(const Table &table, const float *from, const T *indices,
             int64_t count, float *to) {
  cuda::for_elements(
      count * table.width, FFRT_LAMBDA(int64_t i) {
        const int64_t row = table.row(indices[i / table.width]);
        to[i] =
            row < table.rows ? from[row * table.width + i % table.width] : 0.0f;
      });
}

template <class T>
void find_rows(const Table &table, const T *indices, int64_t count,
               int64_t *rows) {
  cuda::for_elements(
      count, FFRT_LAMBDA(int64_t i) { rows[i] = table.row(indices[i]); });
}

/// The positions of indices by the row that they name.
struct Lookups {
  const int64_t *rows;  ///< that every index names
  const int64_t *order; ///< of positions
  int64_t count;

  static void reserve(const Tensor &indices) {
    const int64_t n = indices.elements();
    cuda::device().reserve(std::size_t(n + cuda::sort_scratch(n)) *
                           sizeof(int64_t));
  }
  Lookups(const Table &table, const Tensor &indices)
      : count(indices.elements()) {
    auto *scratch = cuda::device().scratch<int64_t>();
    with_indices(indices, [&](const auto *ids) {
      find_rows(table, ids, count, scratch);
    });
    rows = scratch;
    order = cuda::sort_by_key(rows, count, table.rows + 1, scratch + count);
  }

  __device__ int64_t row(int64_t at) const { return rows[order[at]]; }
  __device__ bool begins(int64_t at) const {
    return at == 0 || row(at - 1) != row(at);
  }
  /// Where the row that begins at `at` ends.
  __device__ int64_t end(int64_t at) const {
    const int64_t here = row(at);
    int64_t below = at, above = count;
    while (above - below > 1) {
      const int64_t middle = below + (above - below) / 2;
      (row(middle) == here ? below : above) = middle;
    }
    return above;
  }
};

/// What indices of one row add to one column of it.
struct Addends {
  const int64_t *position, *end;
  const float *from; ///< the column of row 0
  int64_t width;

  __device__ float operator[](int64_t i) const {
    return from[position[i] * width];
  }
  __device__ int64_t count() const { return end - position; }
  __device__ float sum() const {
    float sum = 0;
    for (int64_t i = 0; i < count(); ++i)
      sum += (*this)[i];
    return sum;
  }
};

/// f(element of the part, addends) for the rows that were looked up.
template <class F>
void for_rows(const Table &table, const Lookups &lookups, const float *dy,
              F f) {
  cuda::for_elements(
      lookups.count * table.width, FFRT_LAMBDA(int64_t i) {
        const int64_t at = i / table.width, column = i - at * table.width,
                      row = lookups.row(at);
        if (row == table.rows || !lookups.begins(at))
          return;
        f(row * table.width + column,
          Addends{lookups.order + at, lookups.order + lookups.end(at),
                  dy + column, table.width});
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
  Lookups::reserve(in.begin()[0]);
}

void EmbeddingBackward::operator()(Tensors in, Tensors out) {
  const Tensor &table = out.begin()[0];
  const Table part(table, "embedding backward: expected indices");
  float *to = table.as<float>();
  fill_elements(DType::f32, to, table.elements(), 0);
  for_rows(
      part, Lookups(part, in.begin()[0]), in.begin()[1].as<float>(),
      FFRT_LAMBDA(int64_t i, const Addends &slopes) { to[i] = slopes.sum(); });
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

SgdUpdateRows::SgdUpdateRows(Context &cx, Tensors in, Tensors out) : cx(cx) {
  check_row_update("sgd update rows", in, out, 0);
  Lookups::reserve(in.begin()[1]);
}

void SgdUpdateRows::operator()(Tensors in, Tensors) {
  check_no_decay("sgd update rows", cx);
  const Tensor &table = in.begin()[0];
  const Table part(table, "sgd update rows: expected indices");
  float *w = table.as<float>();
  const Scalars *now = cuda::device().scalars(cx);
  for_rows(
      part, Lookups(part, in.begin()[1]), in.begin()[2].as<float>(),
      FFRT_LAMBDA(int64_t i, const Addends &slopes) {
        const float rate = now->learning_rate;
        float value = w[i];
        for (int64_t k = 0; k < slopes.count(); ++k)
          value -= rate * slopes[k];
        w[i] = value;
      });
}

struct AdagradUpdateRows::Plan {};

AdagradUpdateRows::AdagradUpdateRows(Context &cx, Tensors in, Tensors out,
                                     double epsilon)
    : cx(cx), epsilon(float(epsilon)) {
  check_row_update("adagrad update rows", in, out, 1);
  Lookups::reserve(in.begin()[1]);
}

void AdagradUpdateRows::operator()(Tensors in, Tensors) {
  check_no_decay("adagrad update rows", cx);
  const Tensor &table = in.begin()[0];
  const Table part(table, "adagrad update rows: expected indices");
  float *w = table.as<float>(), *s = in.begin()[3].as<float>();
  const Scalars *now = cuda::device().scalars(cx);
  const float small = epsilon;
  for_rows(
      part, Lookups(part, in.begin()[1]), in.begin()[2].as<float>(),
      FFRT_LAMBDA(int64_t i, const Addends &slopes) {
        const float slope = slopes.sum();
        s[i] += slope * slope;
        w[i] -= now->learning_rate * slope / (sqrtf(s[i]) + small);
      });
}

} // namespace ffrt
