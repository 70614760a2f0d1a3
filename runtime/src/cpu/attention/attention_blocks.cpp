//===- attention_blocks.cpp - blocks of scores and products ---------------===//
#include "cpu/attention/attention_blocks.h"

#include "common/kernels/random.h"

#include <algorithm>
#include <memory>
#include <omp.h>
#include <type_traits>
#include <vector>

namespace ffrt {

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

namespace {

/// The machine's vectors, and how many rows and vectors of columns of c its
/// registers hold beside a row of b and an element of a.
#ifdef __AVX512F__
using V = V16;
constexpr int kRows = 6, kColumns = 4;
#else
using V = V8;
constexpr int kRows = 6, kColumns = 2;
#endif
constexpr int64_t kLength = sizeof(V) / sizeof(Real);

/// R rows and C vectors of columns of c, in registers.
template <int R, int C>
void multiply_part(int64_t k, Strided a, const Real *b, int64_t ldb, Real *c,
                   int64_t ldc, bool fresh) {
  V sum[R][C];
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < C; ++j)
      sum[i][j] = fresh ? V{} : load<V>(c + i * ldc + kLength * j);
  for (int64_t p = 0; p < k; ++p) {
    V row[C];
#pragma GCC unroll 8
    for (int j = 0; j < C; ++j)
      row[j] = load<V>(b + p * ldb + kLength * j);
#pragma GCC unroll 8
    for (int i = 0; i < R; ++i) {
      const Real x = a.at[i * a.row + p * a.column];
#pragma GCC unroll 8
      for (int j = 0; j < C; ++j)
        sum[i][j] += x * row[j];
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < R; ++i)
#pragma GCC unroll 8
    for (int j = 0; j < C; ++j)
      store(c + i * ldc + kLength * j, sum[i][j]);
}

template <int C>
void multiply_columns(int64_t m, int64_t k, Strided a, const Real *b,
                      int64_t ldb, Real *c, int64_t ldc, bool fresh) {
  int64_t i = 0;
  auto from = [&](int64_t row) {
    return Strided{a.at + row * a.row, a.row, a.column};
  };
  for (; i + kRows <= m; i += kRows)
    multiply_part<kRows, C>(k, from(i), b, ldb, c + i * ldc, ldc, fresh);
  for (; i + 2 <= m; i += 2)
    multiply_part<2, C>(k, from(i), b, ldb, c + i * ldc, ldc, fresh);
  for (; i < m; ++i)
    multiply_part<1, C>(k, from(i), b, ldb, c + i * ldc, ldc, fresh);
}

} // namespace

void multiply(int64_t m, int64_t n, int64_t k, Strided a, const Real *b,
              int64_t ldb, Real *c, int64_t ldc, bool fresh) {
  constexpr int64_t kAtOnce = kColumns * kLength;
  int64_t j = 0;
  for (; j + kAtOnce <= n; j += kAtOnce)
    multiply_columns<kColumns>(m, k, a, b + j, ldb, c + j, ldc, fresh);
  for (; j < n; j += kLength)
    multiply_columns<1>(m, k, a, b + j, ldb, c + j, ldc, fresh);
}

//===----------------------------------------------------------------------===//
// Scratch
//===----------------------------------------------------------------------===//

namespace {
struct Memory {
  std::vector<Real> floats;
  Real *aligned() {
    void *start = floats.data();
    std::size_t space = floats.size() * sizeof(Real);
    return static_cast<Real *>(std::align(64, 0, start, space));
  }
};

/// By thread.
std::vector<Memory> &memories() {
  static std::vector<Memory> all;
  return all;
}
} // namespace

void Scratch::reserve(const Scratch &counted) {
  // A cache line more, to begin at one.
  const auto needed = std::size_t(counted.taken) + 16;
  const auto threads = std::size_t(omp_get_max_threads());
  if (memories().size() < threads)
    memories().resize(threads);
  for (Memory &memory : memories())
    if (memory.floats.size() < needed)
      memory.floats = std::vector<Real>(needed);
}

Scratch Scratch::of_thread() {
  Scratch scratch;
  scratch.start = memories()[std::size_t(omp_get_thread_num())].aligned();
  return scratch;
}

//===----------------------------------------------------------------------===//
// Operands and results
//===----------------------------------------------------------------------===//

void AttentionTile::read_rows(const Tensor &operand, int64_t n, int64_t h,
                              int64_t first, int64_t count, Real *to) const {
  const int64_t width = operand.shape[3], columns = padded(width);
  with_data(
      [&](const auto *from) {
        from += vector_at(operand, n, h, first);
        for (int64_t i = 0; i < count; ++i, from += between(width)) {
          std::copy_n(from, width, to + i * columns);
          std::fill(to + i * columns + width, to + (i + 1) * columns, 0.0f);
        }
      },
      operand);
}

void AttentionTile::read_columns(const Tensor &operand, int64_t n, int64_t h,
                                 Real *to) const {
  constexpr int64_t kSide = 16;
  const int64_t width = operand.shape[3], columns = padded(keys);
  with_data(
      [&](const auto *from) {
        from += vector_at(operand, n, h, 0);
        for (int64_t i = 0; i < keys; i += kSide)
          for (int64_t d = 0; d < width; d += kSide)
            for (int64_t e = d; e < std::min(d + kSide, width); ++e)
              for (int64_t j = i; j < std::min(i + kSide, keys); ++j)
                to[e * columns + j] = from[j * between(width) + e];
      },
      operand);
  for (int64_t d = 0; d < width; ++d)
    std::fill(to + d * columns + keys, to + (d + 1) * columns, 0.0f);
}

void AttentionTile::write_rows(const Real *from, const Tensor &result,
                               int64_t n, int64_t h, int64_t first,
                               int64_t count) const {
  const int64_t width = result.shape[3];
  with_data(
      [&](auto *to) {
        using T = std::remove_pointer_t<decltype(to)>;
        to += vector_at(result, n, h, first);
        for (int64_t i = 0; i < count; ++i, to += between(width))
          for (int64_t d = 0; d < width; ++d)
            to[d] = T(from[i * padded(width) + d]);
      },
      result);
}

//===----------------------------------------------------------------------===//
// Scores
//===----------------------------------------------------------------------===//

AttentionTile::Head AttentionTile::take_head(Scratch &scratch) const {
  Head own;
  own.keys = scratch.take(width * padded(keys));
  own.values = scratch.take(keys * padded(values));
  own.queries = scratch.take(kBlockRows * padded(width));
  own.scores = scratch.take(kBlockRows * kBlockKeys);
  own.sums = scratch.take(kBlockRows * padded(values));
  return own;
}

bool AttentionTile::all_hidden(const Real *mask, int64_t rows,
                               int64_t keys) const {
  if (!replaces)
    return false;
  for (int64_t i = 0; i < rows; ++i) {
    const Real *row = mask + i * mask_strides[2];
    for (int64_t s = 0; s < keys; ++s)
      if (row[s * mask_strides[3]] == 0.0f)
        return false;
  }
  return true;
}

void AttentionTile::finish_scores(Real *scores, int64_t rows, int64_t keys,
                                  const Real *mask) const {
  for (int64_t i = 0; i < rows; ++i) {
    Real *to = scores + i * kBlockKeys;
    if (!mask) {
      for (int64_t s = 0; s < keys; ++s)
        to[s] *= scale;
      continue;
    }
    const Real *row = mask + i * mask_strides[2];
    const int64_t step = mask_strides[3];
    auto each = [&](auto step) {
      if (replaces)
#pragma GCC ivdep
        for (int64_t s = 0; s < keys; ++s)
          to[s] = row[s * step] != 0.0f ? hidden : to[s] * scale;
      else
#pragma GCC ivdep
        for (int64_t s = 0; s < keys; ++s)
          to[s] = to[s] * scale + row[s * step];
    };
    if (step == 1)
      each(std::integral_constant<int64_t, 1>());
    else
      each(step);
  }
}

void AttentionTile::draw(int64_t n, int64_t h, int64_t t, int64_t s,
                         int64_t n_keys, Real *factors) const {
  uint32_t words[kBlockKeys];
  philox_words(cx.seed ^ key, uint64_t(cx.micro_batch),
               uint64_t(number(n, h, t, s)), 1, words, n_keys);
  const Real kept = 1.0f / (1.0f - ratio);
  for (int64_t j = 0; j < n_keys; ++j)
    factors[j] = is_kept(words[j], ratio) ? kept : 0.0f;
}

} // namespace ffrt
