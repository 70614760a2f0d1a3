//===- attention_tensor_forward.cu - attention by tensor cores ------------===//
#include "cuda/attention/attention_tensor.h"

#include "cuda/attention/attention_tensor_tile.h"

#include <algorithm>
#include <cmath>

namespace ffrt::attention {

namespace {

/// Of a thread's rows: the largest score, the thread's part of the sum of
/// exponentials relative to it, and of these times values.
template <class Tile> struct TensorSums {
  float top[Tile::kOwnRows], total[Tile::kOwnRows];
  typename Tile::Sums sums;

  __device__ void clear() {
    FFRT_UNROLL
    for (int i = 0; i < Tile::kOwnRows; ++i) {
      top[i] = -HUGE_VALF;
      total[i] = 0.0f;
    }
    Tile::clear(sums);
  }
  /// Is a row's largest score, of the first `rows`, not far above those of
  /// hidden positions? All threads of the block are told the same.
  __device__ bool any_near(float hidden, int64_t rows) const {
    int found = 0;
    FFRT_UNROLL
    for (int i = 0; i < Tile::kOwnRows; ++i)
      if (Tile::own_row(i) < rows && top[i] < hidden + kVanishes)
        found = 1;
    return cuda::reduce_block(found, 0, cuda::Maximum()) != 0;
  }
};

/// Products become scores; -infinity beyond the positions.
template <class Tile>
__device__ __forceinline__ void finish_scores(const AttentionHeads &heads,
                                              const MaskMap &map,
                                              const TensorTask &task, int64_t s,
                                              typename Tile::Scores &scores) {
  const AttentionGeometry &g = heads.g;
  const int64_t first = task.first + Tile::warp_row();
  const int positions =
      int(g.keys - s < Tile::kColumns ? g.keys - s : Tile::kColumns);
  FFRT_UNROLL
  for (int j = 0; j < Tile::kColumns / 8; ++j) {
    const int square = 8 * j / kSquare * kSquare;
    const bool masked =
        square < positions &&
        map.square(task.n, task.h, first, s + square) != Masked::nothing;
    FFRT_UNROLL
    for (int i = 0; i < 4; ++i) {
      const int column = Tile::own_column(j, i);
      const int64_t t = task.first + Tile::own_row(i / 2);
      float &score = scores[j][i];
      if (column >= positions)
        score = -HUGE_VALF;
      else if (masked && t < g.rows)
        score = heads.score(score, task.n, task.h, t, s + column);
      else
        score *= g.scale;
    }
  }
}

/// The scores of positions from `s` on are counted: the largest, if it is not
/// given, and sums. They become what values are multiplied by.
template <class Tile, Part kPart>
__device__ __forceinline__ void
add_scores(const AttentionHeads &heads, const TensorTask &task, int64_t s,
           typename Tile::Scores &scores, TensorSums<Tile> &rows) {
  const AttentionGeometry &g = heads.g;
  FFRT_UNROLL
  for (int i = 0; i < Tile::kOwnRows; ++i) {
    float most = rows.top[i];
    if (kPart != Part::sums) {
      FFRT_UNROLL
      for (int j = 0; j < Tile::kColumns / 8; ++j) {
        FFRT_UNROLL
        for (int c = 2 * i; c < 2 * i + 2; ++c)
          most = scores[j][c] > most ? scores[j][c] : most;
      }
      most = Tile::reduce_row(most, cuda::Maximum());
    }
    if (kPart == Part::largest) {
      rows.top[i] = most;
      continue;
    }
    // Where nothing but -infinity has been seen there is nothing to scale.
    const float base = most == -HUGE_VALF ? 0.0f : most;
    if (kPart == Part::all) {
      const float factor = softmax_exp(rows.top[i] - base);
      rows.top[i] = most;
      rows.total[i] *= factor;
      FFRT_UNROLL
      for (auto &part : rows.sums) {
        FFRT_UNROLL
        for (int c = 2 * i; c < 2 * i + 2; ++c)
          part[c] *= factor;
      }
    }
    FFRT_UNROLL
    for (int j = 0; j < Tile::kColumns / 8; ++j) {
      FFRT_UNROLL
      for (int c = 2 * i; c < 2 * i + 2; ++c) {
        scores[j][c] = softmax_exp(scores[j][c] - base);
        rows.total[i] += scores[j][c];
      }
    }
  }
  if constexpr (kPart != Part::largest)
    if (g.ratio > 0.0f) {
      FFRT_UNROLL
      for (int j = 0; j < Tile::kColumns / 8; ++j) {
        const WarpDropout<false> dropout(
            heads, task.n, task.h, task.first + Tile::warp_row(), s + 8 * j);
        FFRT_UNROLL
        for (int i = 0; i < 4; ++i)
          scores[j][i] *= dropout(i / 2, i % 2);
      }
    }
}

/// All positions. With `skip`, blocks that the mask hides are left out.
template <class Tile, Part kPart, class T>
__device__ __forceinline__ void
add_positions(const AttentionHeads &heads, const MaskMap &map,
              const Attended<T> &of, const TensorTask &task, bool skip,
              const typename Tile::Rows &queries,
              typename Tile::Columns (&keys)[2],
              typename Tile::Columns (&values)[2], TensorSums<Tile> &rows) {
  const AttentionGeometry &g = heads.g;
  const Vectors<T> k = heads.of(of.k, task.n, task.h, g.keys, g.width),
                   v = kPart == Part::largest
                           ? k
                           : heads.of(of.v, task.n, task.h, g.keys, g.values);
  auto is_hidden = [&](int64_t t, int count, int64_t s) {
    return skip &&
           map.hides_all(g, task.n, task.h, t, count, s, Tile::kColumns);
  };
  const int64_t first = task.first + Tile::warp_row();
  Tile::template for_blocks<kPart != Part::largest>(
      g.keys, k, keys, v, values,
      [&](int64_t s) { return is_hidden(task.first, Tile::kRows, s); },
      [&](int64_t s, int stage) {
        if (first >= g.rows || is_hidden(first, 16, s))
          return;
        typename Tile::Scores scores;
        Tile::multiply(queries, keys[stage], scores);
        finish_scores<Tile>(heads, map, task, s, scores);
        add_scores<Tile, kPart>(heads, task, s, scores, rows);
        if (kPart != Part::largest)
          Tile::add(scores, values[stage], rows.sums);
      });
}

template <class Tile, Part kPart, class T>
__device__ __forceinline__ void
write(const AttentionHeads &heads, const Attended<T> &to,
      const TensorTask &task, const TensorSums<Tile> &rows) {
  const AttentionGeometry &g = heads.g;
  float factor[Tile::kOwnRows];
  FFRT_UNROLL
  for (int i = 0; i < Tile::kOwnRows; ++i) {
    const float total = Tile::reduce_row(rows.total[i], cuda::Sum());
    factor[i] = kPart == Part::all ? 1.0f / total : 1.0f;
    const int64_t t = task.first + Tile::own_row(i);
    if (Tile::own_column(0, 0) != 0 || t >= g.rows)
      continue;
    const int64_t at = g.row_at(task.n, task.h, t);
    if (kPart == Part::largest)
      to.most[at] = rows.top[i];
    else if (kPart == Part::sums)
      to.total[at] = total;
    else if (to.lse)
      to.lse[at] = rows.top[i] + logf(total);
  }
  if (kPart == Part::largest)
    return;
  const auto store = [&](auto *result) {
    Tile::write(
        rows.sums, factor,
        heads.of(result, task.n, task.h, g.rows, g.values).from(task.first),
        result);
  };
  if (kPart == Part::sums)
    store(to.sum);
  else
    to.store_y(store);
}

template <class Tile, Part kPart, class T>
__global__ void __launch_bounds__(Tile::kThreads, Tile::kBlocks)
    attend_kernel(AttentionHeads heads, MaskMap map, Attended<T> of) {
  __shared__ typename Tile::Rows queries;
  __shared__ typename Tile::Columns keys[2], values[2];
  const AttentionGeometry &g = heads.g;
  const float hidden = hidden_score(g);
  const int64_t tasks = TensorTask::count(g, g.rows, Tile::kRows);
  for (int64_t number = blockIdx.x; number < tasks; number += gridDim.x) {
    // A causal mask hides least from the last rows: these first.
    const TensorTask task(g, g.rows, Tile::kRows, tasks - 1 - number);
    const int64_t left = g.rows - task.first;
    __syncthreads();
    Tile::load(
        queries,
        heads.of(of.q, task.n, task.h, g.rows, g.width).from(task.first));
    TensorSums<Tile> rows;
    rows.clear();
    bool skip = map.flags && kPart != Part::largest;
    if (kPart == Part::sums) {
      FFRT_UNROLL
      for (int i = 0; i < Tile::kOwnRows; ++i)
        if (Tile::own_row(i) < left)
          rows.top[i] =
              of.most[g.row_at(task.n, task.h, task.first + Tile::own_row(i))];
      // Beside other scores hidden ones may be nothing.
      skip = skip && !rows.any_near(hidden, left);
    }
    for (;; skip = false, rows.clear()) {
      add_positions<Tile, kPart>(heads, map, of, task, skip, queries, keys,
                                 values, rows);
      // What was left out is nothing beside what was not, but for rows that see
      // nothing else.
      if (kPart != Part::all || !skip || !rows.any_near(hidden, left))
        break;
    }
    write<Tile, kPart>(heads, of, task, rows);
  }
}

template <class Tile, class T>
void attend(Part part, const AttentionHeads &heads, const Attended<T> &of) {
  const MaskMap map(heads, cuda::device().scratch<void>());
  map.fill(heads);
  const int64_t tasks = TensorTask::count(heads.g, heads.g.rows, Tile::kRows);
  cuda::launch(cuda::blocks_for(tasks, 1, Tile::kThreads), Tile::kThreads,
               part == Part::all       ? attend_kernel<Tile, Part::all, T>
               : part == Part::largest ? attend_kernel<Tile, Part::largest, T>
                                       : attend_kernel<Tile, Part::sums, T>,
               heads, map, of);
}

} // namespace

std::size_t tensor_scratch(const AttentionGeometry &g, const Tensor &mask) {
  return MaskMap::bytes(g, mask.data != nullptr);
}

template <class T>
static bool attend_narrow(Part part, const AttentionHeads &heads,
                          const Attended<T> &of) {
  const int64_t width = std::max(heads.g.width, heads.g.values);
  if (width <= 64)
    attend<TensorTile<T, 64, 128>>(part, heads, of);
  else if (width <= 128)
    attend<TensorTile<T, 128, 64>>(part, heads, of);
  return width <= 128;
}

bool tensor_attend(Part part, const AttentionHeads &heads,
                   const Attended<BFloat16> &of) {
  return attend_narrow(part, heads, of);
}

bool tensor_attend(Part part, const AttentionHeads &heads,
                   const Attended<Float16> &of) {
  return attend_narrow(part, heads, of);
}

bool tensor_attend(Part part, const AttentionHeads &heads,
                   const Attended<float> &of) {
  if (std::max(heads.g.width, heads.g.values) > 64)
    return false;
  if (heads.tf32)
    attend<TensorTile<cuda::TensorFloat32, 64, 64>>(part, heads, of);
  else
    attend<TensorTile<cuda::SplitFloat32, 64, 64>>(part, heads, of);
  return true;
}

} // namespace ffrt::attention
