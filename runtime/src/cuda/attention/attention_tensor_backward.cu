//===- attention_tensor_backward.cu - its gradients by tensor cores -------===//
//
// Once by blocks of rows, for the gradients of queries, and once by blocks of
// positions, for those of keys and values, so that every block adds up what it
// alone writes.
//
//===----------------------------------------------------------------------===//
#include "cuda/attention/attention_tensor.h"

#include "cuda/attention/attention_tensor_tile.h"

#include <algorithm>
#include <cmath>

namespace ffrt::attention {

namespace {

/// From the products q k and dy v of a row and a position that there are.
template <class Tile>
__device__ __forceinline__ Slope slope_of(const AttentionHeads &heads,
                                          bool masked, int64_t n, int64_t h,
                                          int64_t t, int64_t s, float qk,
                                          float dyv, float kept, float lse,
                                          float product) {
  const AttentionGeometry &g = heads.g;
  const float score = masked ? heads.score(qk, n, h, t, s) : qk * g.scale;
  const float whole = softmax_exp(score - lse);
  const bool replaced = masked && heads.is_replaced(n, h, t, s);
  return {whole * kept,
          replaced ? 0.0f : g.scale * whole * (kept * dyv - product)};
}

/// Do rows see so much that hidden positions are nothing beside it? All threads
/// of a warp ask and are told the same, of at most 32 rows from t on.
template <class T>
__device__ bool see_enough(const AttentionHeads &heads,
                           const Differentiated<T> &of, int64_t n, int64_t h,
                           int64_t t, int rows) {
  const AttentionGeometry &g = heads.g;
  const int lane = int(threadIdx.x) % 32;
  int little = 0;
  if (lane < rows && t + lane < g.rows)
    little = !(of.lse[g.row_at(n, h, t + lane)] > hidden_score(g) + kVanishes);
  return cuda::reduce_warp(little, cuda::Maximum()) == 0;
}

/// The sums to a task's vectors of a gradient.
template <class Tile, class To>
__device__ __forceinline__ void
write_as(const typename Tile::Sums &sums, const AttentionHeads &heads,
         const TensorTask &task, int64_t positions, int64_t width, To *to) {
  const float factor[] = {1.0f, 1.0f};
  Tile::write(sums, factor,
              heads.of(to, task.n, task.h, positions, width).from(task.first),
              to);
}

template <class Tile>
__device__ __forceinline__ void
write_gradient(const typename Tile::Sums &sums, const AttentionHeads &heads,
               const TensorTask &task, int64_t positions, int64_t width,
               const Gradient &to) {
  if (to.type == DType::bf16)
    write_as<Tile>(sums, heads, task, positions, width, to.as<BFloat16>());
  else if (to.type == DType::f16)
    write_as<Tile>(sums, heads, task, positions, width, to.as<Float16>());
  else
    write_as<Tile>(sums, heads, task, positions, width, to.as<float>());
}

template <class Tile, class T>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    query_gradients_kernel(AttentionHeads heads, MaskMap map,
                           Differentiated<T> of) {
  __shared__ typename Tile::Rows queries, slopes;
  __shared__ typename Tile::Columns keys[2], values[2];
  const AttentionGeometry &g = heads.g;
  const int64_t tasks = TensorTask::count(g, g.rows, Tile::kRows);
  for (int64_t number = blockIdx.x; number < tasks; number += gridDim.x) {
    // A causal mask hides least from the last rows: these first.
    const TensorTask task(g, g.rows, Tile::kRows, tasks - 1 - number);
    const int64_t n = task.n, h = task.h, first = task.first + Tile::warp_row();
    const Vectors<T> k = heads.of(of.k, n, h, g.keys, g.width),
                     v = heads.of(of.v, n, h, g.keys, g.values);
    __syncthreads();
    Tile::load(queries, heads.of(of.q, n, h, g.rows, g.width).from(task.first));
    Tile::load(slopes,
               heads.of(of.dy, n, h, g.rows, g.values).from(task.first));
    float lse[Tile::kOwnRows] = {}, product[Tile::kOwnRows] = {};
    FFRT_UNROLL
    for (int i = 0; i < Tile::kOwnRows; ++i)
      if (const int64_t t = task.first + Tile::own_row(i); t < g.rows) {
        lse[i] = of.lse[g.row_at(n, h, t)];
        product[i] = of.product[g.row_at(n, h, t)];
      }
    typename Tile::Sums sums;
    Tile::clear(sums);
    // Scores that are replaced have no gradient.
    auto is_hidden = [&](int64_t t, int rows, int64_t s) {
      return map.hides_all(g, n, h, t, rows, s, Tile::kColumns);
    };
    auto add_block = [&](int64_t at, int stage) {
      if (first >= g.rows || is_hidden(first, 16, at))
        return;
      typename Tile::Scores qk, ds;
      Tile::multiply(queries, keys[stage], qk);
      Tile::multiply(slopes, values[stage], ds);
      const int64_t positions = g.keys - at;
      FFRT_UNROLL
      for (int j = 0; j < Tile::kColumns / 8; ++j) {
        const int square = 8 * j / kSquare * kSquare;
        const bool masked =
            square < positions &&
            map.square(n, h, first, at + square) != Masked::nothing;
        const WarpDropout<false> dropout(heads, n, h, first, at + 8 * j);
        FFRT_UNROLL
        for (int i = 0; i < Tile::kOwnRows; ++i) {
          const int64_t t = task.first + Tile::own_row(i);
          const int column = Tile::own_column(j, 0);
          FFRT_UNROLL
          for (int c = 0; c < 2; ++c) {
            const float kept = dropout(i, c);
            float &to = ds[j][2 * i + c];
            to = t < g.rows && column + c < positions
                     ? slope_of<Tile>(heads, masked, n, h, t, at + column + c,
                                      qk[j][2 * i + c], to, kept, lse[i],
                                      product[i])
                           .ds
                     : 0.0f;
          }
        }
      }
      Tile::add(ds, keys[stage], sums);
    };
    Tile::template for_blocks<true>(
        g.keys, k, keys, v, values,
        [&](int64_t s) { return is_hidden(task.first, Tile::kRows, s); },
        add_block);
    write_gradient<Tile>(sums, heads, task, g.rows, g.width, of.dq);
  }
}

/// Rows of the blocks of scores are positions here, and columns are rows.
template <class Tile, class T>
__global__ void __launch_bounds__(Tile::kThreads, 2)
    key_gradients_kernel(AttentionHeads heads, MaskMap map,
                         Differentiated<T> of) {
  __shared__ typename Tile::Rows keys, values;
  __shared__ typename Tile::Columns queries[2], slopes[2];
  const AttentionGeometry &g = heads.g;
  const int64_t tasks = TensorTask::count(g, g.keys, Tile::kRows);
  for (int64_t number = blockIdx.x; number < tasks; number += gridDim.x) {
    const TensorTask task(g, g.keys, Tile::kRows, number);
    const int64_t n = task.n, h = task.h, first = task.first + Tile::warp_row();
    const Vectors<T> q = heads.of(of.q, n, h, g.rows, g.width),
                     dy = heads.of(of.dy, n, h, g.rows, g.values);
    __syncthreads();
    Tile::load(keys, heads.of(of.k, n, h, g.keys, g.width).from(task.first));
    Tile::load(values, heads.of(of.v, n, h, g.keys, g.values).from(task.first));

    typename Tile::Sums dk, dv;
    Tile::clear(dk);
    Tile::clear(dv);
    auto is_hidden = [&](int64_t t, int64_t s, int positions) {
      return map.hides_all(g, n, h, t, Tile::kColumns, s, positions) &&
             see_enough(heads, of, n, h, t, Tile::kColumns);
    };
    auto add_block = [&](int64_t at, int stage) {
      if (first >= g.keys || is_hidden(at, first, 16))
        return;
      typename Tile::Scores p, ds;
      Tile::multiply(keys, queries[stage], p);
      Tile::multiply(values, slopes[stage], ds);
      const int64_t rows = g.rows - at;
      FFRT_UNROLL
      for (int j = 0; j < Tile::kColumns / 8; ++j) {
        const int square = 8 * j / kSquare * kSquare;
        const bool masked =
            square < rows &&
            map.square(n, h, at + square, first) != Masked::nothing;
        const WarpDropout<true> dropout(heads, n, h, at + 8 * j, first);
        FFRT_UNROLL
        for (int c = 0; c < 2; ++c) {
          const int column = Tile::own_column(j, c);
          const int64_t row = at + column;
          const bool is_row = column < rows;
          const float lse = is_row ? of.lse[g.row_at(n, h, row)] : 0.0f,
                      product = is_row ? of.product[g.row_at(n, h, row)] : 0.0f;
          FFRT_UNROLL
          for (int i = 0; i < Tile::kOwnRows; ++i) {
            const int64_t s = task.first + Tile::own_row(i);
            const float kept = dropout(i, c);
            Slope slope = {0.0f, 0.0f};
            if (is_row && s < g.keys)
              slope =
                  slope_of<Tile>(heads, masked, n, h, row, s, p[j][2 * i + c],
                                 ds[j][2 * i + c], kept, lse, product);
            p[j][2 * i + c] = slope.p;
            ds[j][2 * i + c] = slope.ds;
          }
        }
      }
      Tile::add(p, slopes[stage], dv);
      Tile::add(ds, queries[stage], dk);
    };
    Tile::template for_blocks<true>(
        g.rows, q, queries, dy, slopes,
        [&](int64_t t) { return is_hidden(t, task.first, Tile::kRows); },
        add_block);
    if (of.dk)
      write_gradient<Tile>(dk, heads, task, g.keys, g.width, of.dk);
    if (of.dv)
      write_gradient<Tile>(dv, heads, task, g.keys, g.values, of.dv);
  }
}

template <class Tile, class T>
void differentiate(const AttentionHeads &heads, const Differentiated<T> &of) {
  const AttentionGeometry &g = heads.g;
  const MaskMap map(heads, of.product + g.samples * g.heads * g.rows);
  map.fill(heads);
  auto blocks = [&](int64_t positions) {
    return cuda::blocks_for(TensorTask::count(g, positions, Tile::kRows), 1,
                            Tile::kThreads);
  };
  if (of.dq)
    cuda::launch(blocks(g.rows), Tile::kThreads,
                 query_gradients_kernel<Tile, T>, heads, map, of);
  if (of.dk || of.dv)
    cuda::launch(blocks(g.keys), Tile::kThreads, key_gradients_kernel<Tile, T>,
                 heads, map, of);
}

} // namespace

template <class T>
static bool differentiate_narrow(const AttentionHeads &heads,
                                 const Differentiated<T> &of) {
  const int64_t width = std::max(heads.g.width, heads.g.values);
  if (width <= 64)
    differentiate<TensorTile<T, 64, 64>>(heads, of);
  else if (width <= 128)
    differentiate<TensorTile<T, 128, 64>>(heads, of);
  return width <= 128;
}

bool tensor_differentiate(const AttentionHeads &heads,
                          const Differentiated<BFloat16> &of) {
  return differentiate_narrow(heads, of);
}

bool tensor_differentiate(const AttentionHeads &heads,
                          const Differentiated<Float16> &of) {
  return differentiate_narrow(heads, of);
}

bool tensor_differentiate(const AttentionHeads &heads,
                          const Differentiated<float> &of) {
  if (std::max(heads.g.width, heads.g.values) > 64)
    return false;
  if (heads.tf32)
    differentiate<TensorTile<cuda::TensorFloat32, 64, 64>>(heads, of);
  else
    differentiate<TensorTile<cuda::SplitFloat32, 64, 64>>(heads, of);
  return true;
}

} // namespace ffrt::attention
