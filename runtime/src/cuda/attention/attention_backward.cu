//===- attention_backward.cu - gradients of attention ---------------------===//
//
// Probabilities are recomputed from lse, once for the gradients of queries, by
// blocks of rows, and once for those of keys and values, by blocks of
// positions, so that every block adds up what it alone writes.
//
//===----------------------------------------------------------------------===//
#include "ffrt/attention.h"

#include "cuda/attention/attention_algorithms.h"
#include "cuda/attention/attention_tensor.h"
#include "cuda/attention/attention_tile.h"
#include "ffrt/fast_math.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace ffrt {

using namespace attention;

namespace {

/// A warp for every row.
template <class T, class Y>
__global__ void product_kernel(AttentionHeads heads, Differentiated<T> of,
                               const Y *results) {
  const AttentionGeometry &g = heads.g;
  const int lane = int(threadIdx.x) % 32;
  const int64_t warps = int64_t(gridDim.x) * (blockDim.x / 32);
  for (int64_t row = (int64_t(blockIdx.x) * blockDim.x + threadIdx.x) / 32;
       row < g.samples * g.heads * g.rows; row += warps) {
    const int64_t t = row % g.rows, h = row / g.rows % g.heads,
                  n = row / g.rows / g.heads;
    const Vectors<Y> y = heads.of(results, n, h, g.rows, g.values).from(t);
    const Vectors<T> dy = heads.of(of.dy, n, h, g.rows, g.values).from(t);
    double sum = 0;
    for (int64_t e = lane; e < g.values; e += 32)
      sum += double(y(0, e)) * dy(0, e);
    sum = cuda::reduce_warp(sum, cuda::Sum());
    if (lane == 0)
      of.product[row] = float(sum);
  }
}

/// From the products q k and dy v. Beyond the rows and positions both are 0.
template <class T>
__device__ Slope slope_of(const AttentionHeads &heads,
                          const Differentiated<T> &of, int64_t n, int64_t h,
                          int64_t t, int64_t s, float qk, float dyv) {
  const AttentionGeometry &g = heads.g;
  if (t >= g.rows || s >= g.keys)
    return {0.0f, 0.0f};
  const int64_t row = g.row_at(n, h, t);
  const float whole = softmax_exp(heads.score(qk, n, h, t, s) - of.lse[row]),
              kept = heads.kept(n, h, t, s);
  return {whole * kept, heads.is_replaced(n, h, t, s)
                            ? 0.0f
                            : g.scale * whole * (kept * dyv - of.product[row])};
}

/// Is anything but 0 in the block of scores from row t and position s on?
template <class T>
__device__ bool is_needed(const AttentionHeads &heads,
                          const Differentiated<T> &of, int64_t n, int64_t h,
                          int64_t t, int64_t s) {
  const AttentionGeometry &g = heads.g;
  return !g.replaces ||
         any_of_square(g.rows - t, g.keys - s, [&](int row, int column) {
           return !heads.is_replaced(n, h, t + row, s + column) ||
                  !(of.lse[g.row_at(n, h, t + row)] > g.hidden + kVanishes);
         });
}

template <int kColumns, class T>
__global__ void query_gradients_kernel(AttentionHeads heads,
                                       Differentiated<T> of) {
  __shared__ Operands operands;
  __shared__ Addends<kColumns> addends;
  const AttentionGeometry &g = heads.g;
  const int64_t tasks = AttentionTask::count(g, g.rows, g.width, kColumns);
  for (int64_t number = blockIdx.x; number < tasks; number += gridDim.x) {
    const AttentionTask task(g, g.rows, g.width, kColumns, number);
    const int64_t n = task.n, h = task.h, t = task.first;
    const Vectors<T> q = heads.of(of.q, n, h, g.rows, g.width).from(t),
                     dy = heads.of(of.dy, n, h, g.rows, g.values).from(t),
                     k = heads.of(of.k, n, h, g.keys, g.width),
                     v = heads.of(of.v, n, h, g.keys, g.values);
    float sums[kOwn][kColumns / kLanes] = {};
    for (int64_t s = 0; s < g.keys; s += kSide) {
      if (!is_needed(heads, of, n, h, t, s))
        continue;
      Square qk, dyv;
      multiply(operands, q, k.from(s), qk);
      multiply(operands, dy, v.from(s), dyv);
      FFRT_UNROLL
      for (int i = 0; i < kOwn; ++i)
        for (int j = 0; j < kOwn; ++j)
          addends.scores[own_row(i)][own_column(j)] =
              slope_of(heads, of, n, h, t + own_row(i), s + own_column(j),
                       qk[i][j], dyv[i][j])
                  .ds;
      add_vectors(addends, k.from(s), task.column, sums);
    }
    write_vectors<kColumns>(sums, q, of.q, of.dq, task.column);
  }
}

/// Rows of the blocks of scores are positions here, and columns are rows.
template <int kColumns, class T>
__global__ void key_gradients_kernel(AttentionHeads heads, Differentiated<T> of,
                                     int64_t columns) {
  __shared__ Operands operands;
  __shared__ Addends<kColumns> addends;
  const AttentionGeometry &g = heads.g;
  const int64_t tasks = AttentionTask::count(g, g.keys, columns, kColumns);
  for (int64_t number = blockIdx.x; number < tasks; number += gridDim.x) {
    const AttentionTask task(g, g.keys, columns, kColumns, number);
    const int64_t n = task.n, h = task.h, s = task.first;
    const Vectors<T> q = heads.of(of.q, n, h, g.rows, g.width),
                     dy = heads.of(of.dy, n, h, g.rows, g.values),
                     k = heads.of(of.k, n, h, g.keys, g.width).from(s),
                     v = heads.of(of.v, n, h, g.keys, g.values).from(s);
    float dk[kOwn][kColumns / kLanes] = {}, dv[kOwn][kColumns / kLanes] = {};
    for (int64_t t = 0; t < g.rows; t += kSide) {
      if (!is_needed(heads, of, n, h, t, s))
        continue;
      Square qk, ds;
      multiply(operands, k, q.from(t), qk);
      multiply(operands, v, dy.from(t), ds);
      FFRT_UNROLL
      for (int i = 0; i < kOwn; ++i)
        for (int j = 0; j < kOwn; ++j) {
          const Slope slope = slope_of(heads, of, n, h, t + own_column(j),
                                       s + own_row(i), qk[i][j], ds[i][j]);
          addends.scores[own_row(i)][own_column(j)] = slope.p;
          ds[i][j] = slope.ds;
        }
      add_vectors(addends, dy.from(t), task.column, dv);
      __syncthreads();
      FFRT_UNROLL
      for (int i = 0; i < kOwn; ++i)
        for (int j = 0; j < kOwn; ++j)
          addends.scores[own_row(i)][own_column(j)] = ds[i][j];
      add_vectors(addends, q.from(t), task.column, dk);
    }
    if (of.dk)
      write_vectors<kColumns>(dk, k, of.k, of.dk, task.column);
    if (of.dv)
      write_vectors<kColumns>(dv, v, of.v, of.dv, task.column);
  }
}

template <class T, class Y>
void multiply_rows(const AttentionHeads &heads, const Differentiated<T> &of,
                   const Y *y) {
  const AttentionGeometry &g = heads.g;
  cuda::launch(
      cuda::blocks_for(g.samples * g.heads * g.rows, cuda::kThreads / 32),
      cuda::kThreads, product_kernel<T, Y>, heads, of, y);
}

template <class T>
void differentiate(const AttentionHeads &heads, const Differentiated<T> &of,
                   const Tensor &y) {
  const AttentionGeometry &g = heads.g;
  if (y.type == DType::f32)
    multiply_rows(heads, of, y.as<float>());
  else
    multiply_rows(heads, of, y.as<T>());
  if (tensor_differentiate(heads, of))
    return;
  auto blocks = [&](int64_t positions, int64_t width, int columns) {
    return cuda::blocks_for(AttentionTask::count(g, positions, width, columns),
                            1);
  };
  if (of.dq) {
    const int columns = g.width <= kNarrow ? kNarrow : kWide;
    cuda::launch(blocks(g.rows, g.width, columns), cuda::kThreads,
                 columns == kNarrow ? query_gradients_kernel<kNarrow, T>
                                    : query_gradients_kernel<kWide, T>,
                 heads, of);
  }
  if (of.dk || of.dv) {
    const int64_t width = std::max(g.width, g.values);
    const int columns = width <= kNarrow ? kNarrow : kWide;
    cuda::launch(blocks(g.keys, width, columns), cuda::kThreads,
                 columns == kNarrow ? key_gradients_kernel<kNarrow, T>
                                    : key_gradients_kernel<kWide, T>,
                 heads, of, width);
  }
}

} // namespace

struct AttentionBackward::Impl {
  const Context &cx;
  const AttentionGeometry geometry;
  const cuda::AttentionAlgorithms algorithms;

  Impl(Context &cx, const AttentionGeometry &g, Tensors in, Tensors out)
      : cx(cx), geometry(g),
        algorithms(
            cuda::library_shape(g, /*backward=*/true, in, out),
            [this](const Tensor *in, const Tensor *out) { run(in, out); }, in,
            out) {}

  /// Our kernels.
  void run(const Tensor *t, const Tensor *r) const {
    const AttentionHeads heads(cx, geometry, t[6]);
    with_float(geometry.operand_type, [&](auto *type) {
      using T = std::remove_pointer_t<decltype(type)>;
      differentiate<T>(heads,
                       {t[0].as<T>(), t[1].as<T>(), t[2].as<T>(), t[5].as<T>(),
                        t[4].as<float>(), Gradient(r[0]), Gradient(r[1]),
                        Gradient(r[2]), cuda::device().scratch<float>()},
                       t[3]);
    });
  }
};

AttentionBackward::AttentionBackward(Context &cx, Tensors in, Tensors out,
                                     int64_t causal, const Reals &hidden,
                                     int64_t key, double ratio, double scale) {
  const auto g =
      check_attention_backward(in, out, {causal, hidden, key, ratio, scale});
  cuda::device().reserve(std::size_t(g.samples * g.heads * g.rows) *
                             sizeof(float) +
                         tensor_scratch(g, in.begin()[6]));
  impl = std::make_unique<Impl>(cx, g, in, out);
}

AttentionBackward::~AttentionBackward() = default;

void AttentionBackward::operator()(Tensors in, Tensors out) {
  impl->algorithms(in.begin(), out.begin());
}

} // namespace ffrt
