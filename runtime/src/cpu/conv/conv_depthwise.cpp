//===- conv_depthwise.cpp - gradients of depthwise convolutions -----------===//
#include "cpu/conv/conv_depthwise.h"

#include "cpu/kernels/vectors.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <omp.h>

namespace ffrt {

namespace {

/// What the columns of a result row see of padded rows; distances in elements.
struct Seen {
  const float *const *rows;
  const Tap *row_taps, *taps;
  int64_t row_count, count;
  int64_t pixel; ///< distance of pixels
  int64_t next;  ///< distance of what neighbouring result columns see
};

/// Weights by kernel row, kernel column, channel.
struct Weights {
  const float *data;
  int64_t row, column;
};

/// T neighbouring columns of the result, V a vector of channels: `at` is the
/// offset of what the first one sees. Not inlined: gcc runs out of registers.
template <class V, int T>
__attribute__((noinline)) void sum_pixels(const Seen &seen, int64_t at,
                                          const Weights &weights, float *to,
                                          int64_t to_next) {
  V sum[T] = {};
  const int64_t next = seen.next;
  for (int64_t i = 0; i < seen.row_count; ++i) {
    const float *row = seen.rows[i] + at;
    const float *weight = weights.data + seen.row_taps[i].k * weights.row;
    for (int64_t j = 0; j < seen.count; ++j) {
      const V factor = load<V>(weight + seen.taps[j].k * weights.column);
      const float *from = row + seen.taps[j].from * seen.pixel;
#pragma GCC unroll 8
      for (int t = 0; t < T; ++t) {
        sum[t] += load<V>(from) * factor;
        from += next;
      }
    }
  }
  for (int t = 0; t < T; ++t)
    store(to + t * to_next, sum[t]);
}

/// `count` columns.
template <class V>
void sum_columns(const Seen &seen, int64_t at, const Weights &weights,
                 float *to, int64_t to_next, int64_t count) {
  static constexpr decltype(&sum_pixels<V, 1>) kernels[] = {
      sum_pixels<V, 1>, sum_pixels<V, 2>, sum_pixels<V, 3>, sum_pixels<V, 4>,
      sum_pixels<V, 5>, sum_pixels<V, 6>, sum_pixels<V, 7>, sum_pixels<V, 8>};
  while (count > 0) {
    const int64_t part = std::min<int64_t>(count, 8);
    kernels[part - 1](seen, at, weights, to, to_next);
    at += part * seen.next;
    to += part * to_next;
    count -= part;
  }
}

/// Adds the products of a row of dy, `columns` pixels, with what it sees
/// through KH rows and KW columns of the kernel, from taps i and j on, to sums.
template <class V, int KH, int KW>
__attribute__((noinline)) void
add_products(const Seen &seen, int64_t i, int64_t j, int64_t at,
             const float *dy, int64_t dy_next, int64_t columns, float *sums,
             int64_t sum_row, int64_t sum_column) {
  const float *from[KH];
  V sum[KH][KW];
  const int64_t step =
      KW > 1 ? (seen.taps[j + 1].from - seen.taps[j].from) * seen.pixel : 0;
  sums += seen.taps[j].k * sum_column;
  for (int a = 0; a < KH; ++a) {
    from[a] = seen.rows[i + a] + at + seen.taps[j].from * seen.pixel;
    for (int b = 0; b < KW; ++b)
      sum[a][b] =
          load<V>(sums + seen.row_taps[i + a].k * sum_row + b * sum_column);
  }
  const int64_t next = seen.next;
  for (int64_t p = 0; p < columns; ++p) {
    const V gradient = load<V>(dy);
    dy += dy_next;
    for (int a = 0; a < KH; ++a) {
      for (int b = 0; b < KW; ++b)
        sum[a][b] += load<V>(from[a] + b * step) * gradient;
      from[a] += next;
    }
  }
  for (int a = 0; a < KH; ++a)
    for (int b = 0; b < KW; ++b)
      store(sums + seen.row_taps[i + a].k * sum_row + b * sum_column,
            sum[a][b]);
}

/// All columns of the kernel.
template <class V, int KH, class... Args>
void add_row_products(const Seen &seen, int64_t i, Args... arguments) {
  int64_t j = 0;
  for (; j + 3 <= seen.count; j += 3)
    add_products<V, KH, 3>(seen, i, j, arguments...);
  for (; j < seen.count; ++j)
    add_products<V, KH, 1>(seen, i, j, arguments...);
}

/// What `columns` of result row `row` see, given the padded rows that it sees
/// and the distance of their pixels.
Seen seen_by(const DepthwisePlan &plan, const DepthwisePlan::Columns &columns,
             const float *const *rows, int64_t row, int64_t pixel) {
  const std::size_t first = plan.first[std::size_t(row)];
  return {rows,
          plan.row_taps.data() + first,
          columns.taps.data(),
          int64_t(plan.first[std::size_t(row) + 1] - first),
          int64_t(columns.taps.size()),
          pixel,
          columns.from_step * pixel};
}

} // namespace

//===----------------------------------------------------------------------===//
// Plan
//===----------------------------------------------------------------------===//

bool Depthwise::fits(const ConvProblem &problem, const Tensor &x,
                     const Tensor &w, const Tensor &y, const char *name) {
  const bool are_f32 =
      x.type == DType::f32 && w.type == DType::f32 && y.type == DType::f32;
  return are_f32 && std::strstr(name, "dw:") == nullptr &&
         problem.spatial == 2 && problem.groups > 1 && w.shape[1] == 1 &&
         y.shape[1] == x.shape[1] && x.order == Order::channels_last &&
         y.order == Order::channels_last;
}

Depthwise::Depthwise(Gradient gradient, const Tensor &x, const Tensor &w,
                     const Tensor &y, const ConvAttributes &attributes)
    : plan(x, w, y, attributes, gradient == data),
      scratch(std::size_t(omp_get_max_threads())) {
  // As many channels as fit the first-level cache, and work for all threads.
  const int64_t pixels = plan.kept * plan.padded;
  const int64_t batch = gradient == weights ? 1 : x.shape[0];
  chunk_size = 64;
  while (chunk_size > 16 &&
         (pixels * chunk_size > 6144 ||
          batch * plan.channels < chunk_size * 2 * int64_t(scratch.size())))
    chunk_size /= 2;
  for (Scratch &part : scratch) {
    part.rows.resize(pixels * chunk_size);
    part.held.resize(std::size_t(plan.kept));
    part.seen.resize(std::size_t(plan.kernel[0]));
    if (gradient == weights)
      part.sums.resize(plan.kernel[0] * plan.kernel[1] * chunk_size);
  }
  if (gradient == data)
    packed.resize(w.elements());
}

const float *const *Depthwise::see(Scratch &part, const float *image,
                                   const Index &strides, int64_t row,
                                   int64_t columns, int64_t count) const {
  const int64_t row_size = plan.padded * chunk_size;
  const int64_t copied = std::min(columns, plan.padded - plan.left);
  const std::size_t end = plan.first[std::size_t(row) + 1];
  const float **seen = part.seen.data();
  for (std::size_t i = plan.first[std::size_t(row)]; i < end; ++i) {
    const int64_t from = plan.row_taps[i].from, slot = from % plan.kept;
    float *to = part.rows.data() + slot * row_size;
    *seen++ = to;
    if (part.held[std::size_t(slot)] == from)
      continue;
    part.held[std::size_t(slot)] = from;
    to += plan.left * chunk_size;
    const float *pixel = image + from * strides[2];
    for (int64_t i = 0; i < copied; ++i)
      for_vectors(count, [&](auto vector, int64_t c) {
        store(to + i * chunk_size + c,
              load<decltype(vector)>(pixel + i * strides[3] + c));
      });
  }
  return part.seen.data();
}

//===----------------------------------------------------------------------===//
// Gradient of the input
//===----------------------------------------------------------------------===//

void Depthwise::data_chunk(Scratch &part, const Tensor &dy, const Tensor &dx,
                           int64_t n, int64_t chunk) const {
  const int64_t begin = chunk * chunk_size;
  const int64_t count = std::min(chunk_size, plan.channels - begin);
  const Index in = dy.strides(), out = dx.strides();
  const float *image = dy.as<float>() + n * in[0] + begin;
  const float *weights = packed.data() + begin;
  std::fill(part.held.begin(), part.held.end(), -1);
  for (int64_t row = 0; row < plan.rows; ++row) {
    const float *const *rows = see(part, image, in, row, dy.shape[3], count);
    float *target = dx.as<float>() + n * out[0] + row * out[2] + begin;
    for (const DepthwisePlan::Columns &columns : plan.columns) {
      const Seen seen = seen_by(plan, columns, rows, row, chunk_size);
      for_vectors(count, [&](auto vector, int64_t c) {
        sum_columns<decltype(vector)>(
            seen, c,
            {weights + c, plan.kernel[1] * plan.channels, plan.channels},
            target + c + columns.first * out[3], columns.step * out[3],
            columns.count);
      });
    }
  }
}

void Depthwise::data_gradient(const Tensor &dy, const Tensor &w,
                              const Tensor &dx) {
  const int64_t taps = plan.kernel[0] * plan.kernel[1];
  for (int64_t k = 0; k < taps; ++k)
    for (int64_t c = 0; c < plan.channels; ++c)
      packed.data()[k * plan.channels + c] = w.as<float>()[c * taps + k];
  const int64_t chunks = (plan.channels + chunk_size - 1) / chunk_size;
  const int64_t work = plan.rows * plan.width * chunk_size * taps;
  parallel_for(dx.shape[0] * chunks, 1 + 32768 / std::max<int64_t>(1, work),
               [&](int64_t begin, int64_t end) {
                 Scratch &part = scratch[std::size_t(omp_get_thread_num())];
                 for (int64_t i = begin; i < end; ++i)
                   data_chunk(part, dy, dx, i / chunks, i % chunks);
               });
}

//===----------------------------------------------------------------------===//
// Gradient of the weights
//===----------------------------------------------------------------------===//

void Depthwise::weight_chunk(Scratch &part, const Tensor &x, const Tensor &dy,
                             float *dw, int64_t chunk) const {
  const int64_t begin = chunk * chunk_size;
  const int64_t count = std::min(chunk_size, plan.channels - begin);
  const Index in = x.strides(), out = dy.strides();
  const DepthwisePlan::Columns &columns = plan.columns.front();
  const int64_t sum_row = plan.kernel[1] * chunk_size;
  float *sums = part.sums.data();
  std::fill(sums, sums + plan.kernel[0] * sum_row, 0.0f);
  for (int64_t n = 0; n < dy.shape[0]; ++n) {
    const float *image = x.as<float>() + n * in[0] + begin;
    std::fill(part.held.begin(), part.held.end(), -1);
    for (int64_t row = 0; row < plan.rows; ++row) {
      const Seen seen =
          seen_by(plan, columns, see(part, image, in, row, x.shape[3], count),
                  row, chunk_size);
      const float *gradient =
          dy.as<float>() + n * out[0] + row * out[2] + begin;
      for_vectors(count, [&](auto vector, int64_t c) {
        using V = decltype(vector);
        int64_t i = 0;
        for (; i + 3 <= seen.row_count; i += 3)
          add_row_products<V, 3>(seen, i, c, gradient + c, out[3],
                                 columns.count, sums + c, sum_row, chunk_size);
        for (; i < seen.row_count; ++i)
          add_row_products<V, 1>(seen, i, c, gradient + c, out[3],
                                 columns.count, sums + c, sum_row, chunk_size);
      });
    }
  }
  const int64_t taps = plan.kernel[0] * plan.kernel[1];
  for (int64_t c = 0; c < count; ++c)
    for (int64_t k = 0; k < taps; ++k)
      dw[(begin + c) * taps + k] = sums[k * chunk_size + c];
}

void Depthwise::weight_gradient(const Tensor &x, const Tensor &dy,
                                const Tensor &dw) {
  // Threads share out channels, so that nothing is added across threads.
  const int64_t chunks = (plan.channels + chunk_size - 1) / chunk_size;
  parallel_for(chunks, 1, [&](int64_t begin, int64_t end) {
    Scratch &part = scratch[std::size_t(omp_get_thread_num())];
    for (int64_t chunk = begin; chunk < end; ++chunk)
      weight_chunk(part, x, dy, dw.as<float>(), chunk);
  });
}

} // namespace ffrt
