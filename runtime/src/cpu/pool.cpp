//===- pool.cpp - two-dimensional pooling ---------------------------------===//
#include "ffrt/pool.h"

#include "common/check.h"
#include "ffrt/parallel.h"

#include <algorithm>

namespace ffrt {

namespace {

Window make_window(const char *kernel, Tensors in, Tensors out,
                   const Ints &dilations, const Ints &kernel_shape,
                   const Ints &pads, const Ints &strides) {
  expect_length(kernel, "dilations", dilations, 2);
  expect_length(kernel, "kernel_shape", kernel_shape, 2);
  expect_length(kernel, "pads", pads, 4);
  expect_length(kernel, "strides", strides, 2);
  for (Tensors list : {in, out})
    for (const Tensor &t : list)
      if (t.data)
        expect_rank(kernel, "operand or result", t, 4);
  Window w;
  for (int i = 0; i < 2; ++i) {
    w.kernel[i] = kernel_shape[i];
    w.stride[i] = strides[i];
    w.pad[i] = pads[i];
    w.pad_end[i] = pads[i + 2];
    w.dilation[i] = dilations[i];
  }
  return w;
}

/// First input row (axis 0) or column (axis 1) of a global output position.
int64_t window_start(const Window &w, int axis, int64_t position) {
  return position * w.stride[axis] - w.pad[axis];
}

/// Number of kernel entries k with start + k * dilation in [low, high).
int64_t count_in(const Window &w, int axis, int64_t start, int64_t low,
                 int64_t high) {
  int64_t count = 0;
  for (int64_t k = 0; k < w.kernel[axis]; ++k) {
    int64_t at = start + k * w.dilation[axis];
    count += at >= low && at < high;
  }
  return count;
}

/// Positions of a window along one axis that divide the sum.
int64_t divisor(const Window &w, bool include_pad, int axis, int64_t start,
                int64_t extent) {
  return include_pad
             ? count_in(w, axis, start, -w.pad[axis], extent + w.pad_end[axis])
             : count_in(w, axis, start, 0, extent);
}

/// A line of channels: contiguous in channels-last order.
struct Line {
  int64_t n, stride;
};

/// Calls f(n, row, column) for all local positions of t, rows on threads.
template <class F> void for_pixels(const Tensor &t, int64_t work, F &&f) {
  const int64_t rows = t.shape[2], columns = t.shape[3];
  parallel_for(t.shape[0] * rows,
               1 + 16384 / std::max<int64_t>(1, columns * t.shape[1] * work),
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i)
                   for (int64_t column = 0; column < columns; ++column)
                     f(i / rows, i % rows, column);
               });
}

template <class T>
T *pixel(const Tensor &t, const Index &s, int64_t n, int64_t row,
         int64_t column) {
  return t.as<T>() + n * s[0] + row * s[2] + column * s[3];
}

/// Calls f(row, column) for the window entries inside the global input, in
/// scan order, with global coordinates.
template <class F>
void for_window(const Window &w, const Tensor &x, int64_t top, int64_t left,
                F &&f) {
  for (int64_t kh = 0; kh < w.kernel[0]; ++kh) {
    int64_t row = top + kh * w.dilation[0];
    if (row < 0 || row >= x.global[2])
      continue;
    for (int64_t kw = 0; kw < w.kernel[1]; ++kw) {
      int64_t column = left + kw * w.dilation[1];
      if (column >= 0 && column < x.global[3])
        f(row, column);
    }
  }
}

/// Calls f(local row of y, local column of y) for the windows in the box of y
/// that cover the global input position (row, column).
template <class F>
void for_covering(const Window &w, const Tensor &y, int64_t row, int64_t column,
                  F &&f) {
  for (int64_t kh = 0; kh < w.kernel[0]; ++kh) {
    int64_t up = row + w.pad[0] - kh * w.dilation[0];
    if (up < 0 || up % w.stride[0])
      continue;
    int64_t oh = up / w.stride[0] - y.lo[2];
    if (oh < 0 || oh >= y.shape[2])
      continue;
    for (int64_t kw = 0; kw < w.kernel[1]; ++kw) {
      int64_t across = column + w.pad[1] - kw * w.dilation[1];
      if (across < 0 || across % w.stride[1])
        continue;
      int64_t ow = across / w.stride[1] - y.lo[3];
      if (ow >= 0 && ow < y.shape[3])
        f(oh, ow);
    }
  }
}

void max_line(const float *x, Line from, float *y, int32_t *index, Line to,
              int32_t position) {
  if (from.stride == 1 && to.stride == 1 && index) {
#pragma GCC ivdep
    for (int64_t c = 0; c < to.n; ++c) {
      bool more = x[c] > y[c];
      y[c] = more ? x[c] : y[c];
      index[c] = more ? position : index[c];
    }
    return;
  }
  for (int64_t c = 0; c < to.n; ++c)
    if (x[c * from.stride] > y[c * to.stride]) {
      y[c * to.stride] = x[c * from.stride];
      if (index)
        index[c * to.stride] = position;
    }
}

/// to += scale * from
void add_line(const float *from, Line f, float *to, Line t, float scale) {
  if (f.stride == 1 && t.stride == 1) {
#pragma GCC ivdep
    for (int64_t c = 0; c < t.n; ++c)
      to[c] += scale * from[c];
    return;
  }
  for (int64_t c = 0; c < t.n; ++c)
    to[c * t.stride] += scale * from[c * f.stride];
}

template <class T> void fill_line(T *to, Line t, T value) {
  for (int64_t c = 0; c < t.n; ++c)
    to[c * t.stride] = value;
}

void expect_f32(const char *kernel, Tensors in, Tensors out) {
  expect_type(kernel, "operand", in.begin()[0], DType::f32);
  expect_type(kernel, "result", out.begin()[0], DType::f32);
}

} // namespace

MaxPoolForward::MaxPoolForward(Context &, Tensors in, Tensors out,
                               const Ints &dilations, const Ints &kernel_shape,
                               const Ints &pads, const Ints &strides)
    : window(make_window("max pool forward", in, out, dilations, kernel_shape,
                         pads, strides)) {
  const char *kernel = "max pool forward";
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 2);
  expect_f32(kernel, in, out);
  const Tensor &y = out.begin()[0], &index = out.begin()[1];
  if (!index.data)
    return;
  expect_type(kernel, "index", index, DType::i32);
  expect_same_shape(kernel, "index", index, y);
  expect_same_order(kernel, "index", index, y);
}

void MaxPoolForward::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0], &index = out.begin()[1];
  const Index xs = x.strides(), ys = y.strides();
  const Line from{y.shape[1], xs[1]}, to{y.shape[1], ys[1]};
  const int64_t channel = (y.lo[1] - x.lo[1]) * xs[1];
  for_pixels(y, window.kernel[0] * window.kernel[1],
             [&](int64_t n, int64_t oh, int64_t ow) {
               float *best = pixel<float>(y, ys, n, oh, ow);
               int32_t *where =
                   index.data ? pixel<int32_t>(index, ys, n, oh, ow) : nullptr;
               fill_line(best, to, -__builtin_inff());
               if (where)
                 fill_line(where, to, int32_t(-1));
               for_window(window, x, window_start(window, 0, y.lo[2] + oh),
                          window_start(window, 1, y.lo[3] + ow),
                          [&](int64_t row, int64_t column) {
                            max_line(pixel<float>(x, xs, n, row - x.lo[2],
                                                  column - x.lo[3]) +
                                         channel,
                                     from, best, where, to,
                                     int32_t(row * x.global[3] + column));
                          });
             });
}

MaxPoolBackward::MaxPoolBackward(Context &, Tensors in, Tensors out,
                                 const Ints &dilations,
                                 const Ints &kernel_shape, const Ints &pads,
                                 const Ints &strides)
    : window(make_window("max pool backward", in, out, dilations, kernel_shape,
                         pads, strides)) {
  const char *kernel = "max pool backward";
  expect_count(kernel, "operands", in.size(), 2);
  expect_count(kernel, "results", out.size(), 1);
  expect_f32(kernel, in, out);
  const Tensor &dy = in.begin()[0], &index = in.begin()[1];
  expect_type(kernel, "index", index, DType::i32);
  expect_same_shape(kernel, "index", index, dy);
  expect_same_order(kernel, "index", index, dy);
}

void MaxPoolBackward::operator()(Tensors in, Tensors out) {
  const Tensor &dy = in.begin()[0], &index = in.begin()[1],
               &dx = out.begin()[0];
  const Index ys = dy.strides(), xs = dx.strides();
  const Line to{dx.shape[1], xs[1]};
  const int64_t channel = (dx.lo[1] - dy.lo[1]) * ys[1];
  // Every position gathers from the windows that cover it: no two threads
  // write one element, and channels vectorise.
  for_pixels(
      dx, window.kernel[0] * window.kernel[1],
      [&](int64_t n, int64_t h, int64_t w) {
        float *sum = pixel<float>(dx, xs, n, h, w);
        const int64_t row = dx.lo[2] + h, column = dx.lo[3] + w;
        const int32_t here = int32_t(row * dx.global[3] + column);
        fill_line(sum, to, 0.0f);
        for_covering(window, dy, row, column, [&](int64_t oh, int64_t ow) {
          const float *from = pixel<float>(dy, ys, n, oh, ow) + channel;
          const int32_t *where = pixel<int32_t>(index, ys, n, oh, ow) + channel;
          if (ys[1] == 1 && xs[1] == 1) {
#pragma GCC ivdep
            for (int64_t c = 0; c < to.n; ++c)
              sum[c] += where[c] == here ? from[c] : 0.0f;
          } else {
            for (int64_t c = 0; c < to.n; ++c)
              if (where[c * ys[1]] == here)
                sum[c * xs[1]] += from[c * ys[1]];
          }
        });
      });
}

AveragePoolForward::AveragePoolForward(Context &, Tensors in, Tensors out,
                                       int64_t count_include_pad,
                                       const Ints &kernel_shape,
                                       const Ints &pads, const Ints &strides)
    : window(make_window("average pool forward", in, out, {1, 1}, kernel_shape,
                         pads, strides)),
      include_pad(count_include_pad != 0) {
  expect_count("average pool forward", "operands", in.size(), 1);
  expect_count("average pool forward", "results", out.size(), 1);
  expect_f32("average pool forward", in, out);
}

void AveragePoolForward::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  const Index xs = x.strides(), ys = y.strides();
  const Line from{y.shape[1], xs[1]}, to{y.shape[1], ys[1]};
  const int64_t channel = (y.lo[1] - x.lo[1]) * xs[1];
  for_pixels(
      y, window.kernel[0] * window.kernel[1],
      [&](int64_t n, int64_t oh, int64_t ow) {
        const int64_t top = window_start(window, 0, y.lo[2] + oh);
        const int64_t left = window_start(window, 1, y.lo[3] + ow);
        const int64_t count =
            divisor(window, include_pad, 0, top, x.global[2]) *
            divisor(window, include_pad, 1, left, x.global[3]);
        const float scale = count ? 1.0f / float(count) : 0.0f;
        float *mean = pixel<float>(y, ys, n, oh, ow);
        fill_line(mean, to, 0.0f);
        for_window(window, x, top, left, [&](int64_t row, int64_t column) {
          add_line(pixel<float>(x, xs, n, row - x.lo[2], column - x.lo[3]) +
                       channel,
                   from, mean, to, 1.0f);
        });
        for (int64_t c = 0; c < to.n; ++c)
          mean[c * to.stride] *= scale;
      });
}

AveragePoolBackward::AveragePoolBackward(Context &, Tensors in, Tensors out,
                                         int64_t count_include_pad,
                                         const Ints &kernel_shape,
                                         const Ints &pads, const Ints &strides)
    : window(make_window("average pool backward", in, out, {1, 1}, kernel_shape,
                         pads, strides)),
      include_pad(count_include_pad != 0) {
  expect_count("average pool backward", "operands", in.size(), 1);
  expect_count("average pool backward", "results", out.size(), 1);
  expect_f32("average pool backward", in, out);
}

void AveragePoolBackward::operator()(Tensors in, Tensors out) {
  const Tensor &dy = in.begin()[0], &dx = out.begin()[0];
  const Index ys = dy.strides(), xs = dx.strides();
  const Line from{dx.shape[1], ys[1]}, to{dx.shape[1], xs[1]};
  const int64_t channel = (dx.lo[1] - dy.lo[1]) * ys[1];
  for_pixels(dx, window.kernel[0] * window.kernel[1],
             [&](int64_t n, int64_t h, int64_t w) {
               float *sum = pixel<float>(dx, xs, n, h, w);
               fill_line(sum, to, 0.0f);
               for_covering(
                   window, dy, dx.lo[2] + h, dx.lo[3] + w,
                   [&](int64_t oh, int64_t ow) {
                     const int64_t count =
                         divisor(window, include_pad, 0,
                                 window_start(window, 0, dy.lo[2] + oh),
                                 dx.global[2]) *
                         divisor(window, include_pad, 1,
                                 window_start(window, 1, dy.lo[3] + ow),
                                 dx.global[3]);
                     add_line(pixel<float>(dy, ys, n, oh, ow) + channel, from,
                              sum, to, 1.0f / float(count));
                   });
             });
}

} // namespace ffrt
