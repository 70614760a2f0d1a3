//===- attention_forward.cu - attention, block by block -------------------===//
#include "ffrt/attention.h"

#include "cuda/attention/attention_algorithms.h"
#include "cuda/attention/attention_tensor.h"
#include "cuda/attention/attention_tile.h"
#include "ffrt/fast_math.h"

#include <cmath>
#include <type_traits>

namespace ffrt {

using namespace attention;

namespace {

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// Of a block of rows, by thread: of each its largest score, the sum of
/// exponentials relative to it, and of these times values.
template <int kColumns> struct RowSums {
  float top[kOwn], total[kOwn], sums[kOwn][kColumns / kLanes];

  __device__ void clear() {
    FFRT_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      top[i] = -HUGE_VALF;
      total[i] = 0.0f;
      FFRT_UNROLL
      for (int c = 0; c < kColumns / kLanes; ++c)
        sums[i][c] = 0.0f;
    }
  }
  /// Is a row's largest score not far above those that are replaced?
  __device__ bool any_near(float hidden, int64_t rows) const {
    int found = 0;
    FFRT_UNROLL
    for (int i = 0; i < kOwn; ++i)
      if (own_row(i) < rows && top[i] < hidden + kVanishes)
        found = 1;
    return cuda::reduce_block(found, 0, cuda::Maximum()) != 0;
  }
};

/// Adds the scores of positions from `s` on: products become exponentials, in
/// shared memory too. With kGiven the tops stay.
template <int kColumns, bool kGiven>
__device__ __forceinline__ void
add_scores(const AttentionHeads &heads, const AttentionTask &task, int64_t s,
           Square &scores, Addends<kColumns> &shared, RowSums<kColumns> &rows) {
  const AttentionGeometry &g = heads.g;
  FFRT_UNROLL
  for (int i = 0; i < kOwn; ++i) {
    const int64_t t = task.first + own_row(i);
    float most = rows.top[i];
    FFRT_UNROLL
    for (int j = 0; j < kOwn; ++j) {
      const int64_t position = s + own_column(j);
      scores[i][j] =
          t < g.rows && position < g.keys
              ? heads.score(scores[i][j], task.n, task.h, t, position)
              : -HUGE_VALF;
      if (!kGiven)
        most = scores[i][j] > most ? scores[i][j] : most;
    }
    if (!kGiven)
      most = reduce_row(most, cuda::Maximum());
    // Where nothing but -infinity has been seen there is nothing to scale.
    const float base = most == -HUGE_VALF ? 0.0f : most;
    float sum = 0.0f;
    FFRT_UNROLL
    for (int j = 0; j < kOwn; ++j) {
      const float e = softmax_exp(scores[i][j] - base);
      sum += e;
      const bool drops = g.ratio > 0.0f && e != 0.0f;
      shared.scores[own_row(i)][own_column(j)] =
          drops ? e * heads.kept(task.n, task.h, t, s + own_column(j)) : e;
    }
    sum = reduce_row(sum, cuda::Sum());
    if (kGiven) {
      rows.total[i] += sum;
      continue;
    }
    const float factor = softmax_exp(rows.top[i] - base);
    rows.top[i] = most;
    rows.total[i] = rows.total[i] * factor + sum;
    FFRT_UNROLL
    for (int c = 0; c < kColumns / kLanes; ++c)
      rows.sums[i][c] *= factor;
  }
}

/// All positions. With `skip`, blocks of which all scores are replaced are left
/// out.
template <int kColumns, bool kGiven, class T>
__device__ __forceinline__ void
add_positions(const AttentionHeads &heads, const Attended<T> &of,
              const AttentionTask &task, bool skip, Operands &operands,
              Addends<kColumns> &addends, RowSums<kColumns> &rows) {
  const AttentionGeometry &g = heads.g;
  const Vectors<T> q = heads.of(of.q, task.n, task.h, g.rows, g.width)
                           .from(task.first),
                   k = heads.of(of.k, task.n, task.h, g.keys, g.width),
                   v = heads.of(of.v, task.n, task.h, g.keys, g.values);
  for (int64_t s = 0; s < g.keys; s += kSide) {
    auto is_seen = [&](int row, int column) {
      return !heads.is_replaced(task.n, task.h, task.first + row, s + column);
    };
    if (skip && !any_of_square(q.count, g.keys - s, is_seen))
      continue;
    Square scores;
    multiply(operands, q, k.from(s), scores);
    add_scores<kColumns, kGiven>(heads, task, s, scores, addends, rows);
    add_vectors(addends, v.from(s), task.column, rows.sums);
  }
}

template <int kColumns, bool kGiven, class T>
__device__ __forceinline__ void
write(const AttentionHeads &heads, const Attended<T> &to,
      const AttentionTask &task, RowSums<kColumns> &rows) {
  const AttentionGeometry &g = heads.g;
  FFRT_UNROLL
  for (int i = 0; i < kOwn; ++i) {
    const float factor = kGiven ? 1.0f : 1.0f / rows.total[i];
    FFRT_UNROLL
    for (int c = 0; c < kColumns / kLanes; ++c)
      rows.sums[i][c] *= factor;
    const int64_t t = task.first + own_row(i);
    if (task.column != 0 || own_column(0) != 0 || t >= g.rows)
      continue;
    const int64_t at = g.row_at(task.n, task.h, t);
    if (kGiven)
      to.total[at] = rows.total[i];
    else if (to.lse)
      to.lse[at] = rows.top[i] + logf(rows.total[i]);
  }
  const auto store = [&](auto *result) {
    write_vectors<kColumns>(
        rows.sums,
        heads.of(result, task.n, task.h, g.rows, g.values).from(task.first),
        result, result, task.column);
  };
  if (kGiven)
    store(to.sum);
  else
    to.store_y(store);
}

template <int kColumns, bool kGiven, class T>
__global__ void attend_kernel(AttentionHeads heads, Attended<T> of) {
  __shared__ Operands operands;
  __shared__ Addends<kColumns> addends;
  const AttentionGeometry &g = heads.g;
  const int64_t tasks = AttentionTask::count(g, g.rows, g.values, kColumns);
  for (int64_t number = blockIdx.x; number < tasks; number += gridDim.x) {
    const AttentionTask task(g, g.rows, g.values, kColumns, number);
    const int64_t left = g.rows - task.first;
    RowSums<kColumns> rows;
    rows.clear();
    bool skip = g.replaces;
    if (kGiven) {
      FFRT_UNROLL
      for (int i = 0; i < kOwn; ++i)
        if (own_row(i) < left)
          rows.top[i] =
              of.most[g.row_at(task.n, task.h, task.first + own_row(i))];
      // Beside other scores those that were replaced may be nothing.
      skip = skip && !rows.any_near(g.hidden, left);
    }
    for (;; skip = false, rows.clear()) {
      add_positions<kColumns, kGiven>(heads, of, task, skip, operands, addends,
                                      rows);
      // What was left out is nothing beside what was not, but for rows that see
      // nothing else.
      if (kGiven || !skip || !rows.any_near(g.hidden, left))
        break;
    }
    write<kColumns, kGiven>(heads, of, task, rows);
  }
}

template <bool kGiven, class T>
void attend(const AttentionHeads &heads, const Attended<T> &of) {
  const AttentionGeometry &g = heads.g;
  if (tensor_attend(kGiven ? Part::sums : Part::all, heads, of))
    return;
  const int columns = g.values <= kNarrow ? kNarrow : kWide;
  const int64_t tasks = AttentionTask::count(g, g.rows, g.values, columns);
  cuda::launch(cuda::blocks_for(tasks, 1), cuda::kThreads,
               columns == kNarrow ? attend_kernel<kNarrow, kGiven, T>
                                  : attend_kernel<kWide, kGiven, T>,
               heads, of);
}

//===----------------------------------------------------------------------===//
// The largest scores
//===----------------------------------------------------------------------===//

template <class T>
__global__ void largest_scores_kernel(AttentionHeads heads, Attended<T> of) {
  __shared__ Operands operands;
  const AttentionGeometry &g = heads.g;
  const int64_t tasks = AttentionTask::count(g, g.rows, 1, 1);
  for (int64_t number = blockIdx.x; number < tasks; number += gridDim.x) {
    const AttentionTask task(g, g.rows, 1, 1, number);
    const Vectors<T> queries = heads.of(of.q, task.n, task.h, g.rows, g.width)
                                   .from(task.first),
                     keys = heads.of(of.k, task.n, task.h, g.keys, g.width);
    float top[kOwn];
    FFRT_UNROLL
    for (int i = 0; i < kOwn; ++i)
      top[i] = -HUGE_VALF;
    for (int64_t s = 0; s < g.keys; s += kSide) {
      Square scores;
      multiply(operands, queries, keys.from(s), scores);
      FFRT_UNROLL
      for (int i = 0; i < kOwn; ++i)
        for (int j = 0; j < kOwn; ++j) {
          const int64_t t = task.first + own_row(i), at = s + own_column(j);
          if (t >= g.rows || at >= g.keys)
            continue;
          const float score = heads.score(scores[i][j], task.n, task.h, t, at);
          top[i] = score > top[i] ? score : top[i];
        }
    }
    FFRT_UNROLL
    for (int i = 0; i < kOwn; ++i) {
      const float all = reduce_row(top[i], cuda::Maximum());
      if (own_column(0) == 0 && own_row(i) < queries.count)
        of.most[g.row_at(task.n, task.h, task.first + own_row(i))] = all;
    }
  }
}

template <class T>
void find_largest(const AttentionHeads &heads, const Attended<T> &of) {
  const AttentionGeometry &g = heads.g;
  if (tensor_attend(Part::largest, heads, of))
    return;
  cuda::launch(cuda::blocks_for(AttentionTask::count(g, g.rows, 1, 1), 1),
               cuda::kThreads, largest_scores_kernel<T>, heads, of);
}

} // namespace

//===----------------------------------------------------------------------===//
// All positions
//===----------------------------------------------------------------------===//

struct AttentionForward::Impl {
  const Context &cx;
  const AttentionGeometry geometry;
  const cuda::AttentionAlgorithms algorithms;

  Impl(Context &cx, const AttentionGeometry &g, Tensors in, Tensors out)
      : cx(cx), geometry(g),
        algorithms(
            cuda::library_shape(g, /*backward=*/false, in, out),
            [this](const Tensor *in, const Tensor *out) { run(in, out); }, in,
            out) {}

  /// Our kernels.
  void run(const Tensor *t, const Tensor *r) const {
    const AttentionHeads heads(cx, geometry, t[3]);
    const bool narrow = r[0].type != DType::f32;
    with_float(geometry.operand_type, [&](auto *type) {
      using T = std::remove_pointer_t<decltype(type)>;
      attend<false, T>(heads, {t[0].as<T>(), t[1].as<T>(), t[2].as<T>(),
                               nullptr, narrow ? nullptr : r[0].as<float>(),
                               narrow ? r[0].as<T>() : nullptr,
                               r[1].as<float>(), nullptr, nullptr});
    });
  }
};

AttentionForward::AttentionForward(Context &cx, Tensors in, Tensors out,
                                   int64_t causal, const Reals &hidden,
                                   int64_t key, double ratio, double scale) {
  const auto g =
      check_attention_forward(in, out, {causal, hidden, key, ratio, scale});
  cuda::device().reserve(tensor_scratch(g, in.begin()[3]));
  impl = std::make_unique<Impl>(cx, g, in, out);
}

AttentionForward::~AttentionForward() = default;

void AttentionForward::operator()(Tensors in, Tensors out) {
  impl->algorithms(in.begin(), out.begin());
}

//===----------------------------------------------------------------------===//
// Some of the positions
//===----------------------------------------------------------------------===//

struct AttentionMax::Impl {
  const Context &cx;
  AttentionGeometry geometry;
};

AttentionMax::AttentionMax(Context &cx, Tensors in, Tensors out, int64_t causal,
                           const Reals &hidden, int64_t key, double ratio,
                           double scale)
    : impl(new Impl{cx, check_attention_max(
                            in, out, {causal, hidden, key, ratio, scale})}) {
  cuda::device().reserve(tensor_scratch(impl->geometry, in.begin()[2]));
}

AttentionMax::~AttentionMax() = default;

void AttentionMax::operator()(Tensors in, Tensors out) {
  const Tensor *t = in.begin();
  const AttentionGeometry &g = impl->geometry;
  const AttentionHeads heads(impl->cx, g, t[2]);
  with_float(g.operand_type, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    find_largest<T>(heads, {t[0].as<T>(), t[1].as<T>(), nullptr,
                            out.begin()->as<float>(), nullptr, nullptr, nullptr,
                            nullptr, nullptr});
  });
}

struct AttentionSum::Impl {
  const Context &cx;
  AttentionGeometry geometry;
};

AttentionSum::AttentionSum(Context &cx, Tensors in, Tensors out, int64_t causal,
                           const Reals &hidden, int64_t key, double ratio,
                           double scale)
    : impl(new Impl{cx, check_attention_sum(
                            in, out, {causal, hidden, key, ratio, scale})}) {
  cuda::device().reserve(tensor_scratch(impl->geometry, in.begin()[3]));
}

AttentionSum::~AttentionSum() = default;

void AttentionSum::operator()(Tensors in, Tensors out) {
  const Tensor *t = in.begin(), *r = out.begin();
  const AttentionHeads heads(impl->cx, impl->geometry, t[3]);
  with_float(impl->geometry.operand_type, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    attend<true, T>(heads, {t[0].as<T>(), t[1].as<T>(), t[2].as<T>(),
                            t[4].as<float>(), nullptr, nullptr, nullptr,
                            r[0].as<float>(), r[1].as<float>()});
  });
}

/// y = sum / total
template <class T> static void divide(Tensors in, const Tensor &result, T *y) {
  const float *total = in.begin()[1].as<float>(),
              *sum = in.begin()[2].as<float>();
  const Index &shape = in.begin()[2].shape; // [N, T, H, E]
  const int64_t rows = shape[1], heads = shape[2], values = shape[3];
  cuda::for_elements(
      result.elements(), FFRT_LAMBDA(int64_t i) {
        const int64_t h = i / values % heads, t = i / values / heads % rows,
                      n = i / values / heads / rows;
        y[i] = T(sum[i] * (1.0f / total[(n * heads + h) * rows + t]));
      });
}

void AttentionApply::operator()(Tensors in, Tensors out) {
  const Tensor &result = out.begin()[0];
  with_data([&](auto *y) { divide(in, result, y); }, result);
  const float *most = in.begin()[0].as<float>(),
              *total = in.begin()[1].as<float>();
  float *lse = out.begin()[1].as<float>();
  cuda::for_elements(
      out.begin()[1].elements(),
      FFRT_LAMBDA(int64_t i) { lse[i] = most[i] + logf(total[i]); });
}

} // namespace ffrt
