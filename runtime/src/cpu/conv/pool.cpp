//===- pool.cpp - pooling -------------------------------------------------===//
//
// All four kernels go through the pixels of what they write, and at each one
// through channels in blocks whose running values stay in registers; channels
// are neighbours in channels-last order. The backward kernels gather: each
// position of the image adds up the windows that cover it, so that no two
// threads write one element and the order of additions is fixed.
//
//===----------------------------------------------------------------------===//
#include "ffrt/pool.h"

#include "common/conv/pool_geometry.h"
#include "common/elementwise/cast.h"
#include "cpu/kernels/vectors.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace ffrt {

namespace {

/// Calls f(n, d, h, w) for all local positions of an image, rows on threads;
/// `work` is the work per element.
template <class F> void for_pixels(const PoolImage &t, int64_t work, F &&f) {
  const int64_t columns = t.extent[4];
  const int64_t row_work = columns * t.extent[1] * work;
  parallel_for(t.rows(), 1 + 32768 / std::max<int64_t>(1, row_work),
               [&](int64_t begin, int64_t end) {
                 for (int64_t row = begin; row < end; ++row) {
                   const int64_t h = row % t.extent[3];
                   const int64_t plane = row / t.extent[3];
                   const int64_t d = plane % t.extent[2];
                   for (int64_t w = 0; w < columns; ++w)
                     f(plane / t.extent[2], d, h, w);
                 }
               });
}

/// N vectors of channels.
template <class V, int N> struct Block {
  using Ints = typename IntsOf<V>::type;
  static constexpr int width = sizeof(V) / sizeof(Real);
  V value[N];

  /// Calls f(reference to a vector, its offset).
  template <class F> void each(F &&f) {
#pragma GCC unroll 4
    for (int i = 0; i < N; ++i)
      f(value[i], i * width);
  }
};

/// Calls f(Block(), c) for blocks that cover `count` channels, which are
/// neighbours in memory or else taken one by one.
template <class F> void for_blocks(int64_t count, bool neighbours, F &&f) {
  int64_t c = 0;
  // Positions are as wide as f32.
  if constexpr (kReal == DType::f32)
    if (neighbours) {
      for (; c + 64 <= count; c += 64)
        f(Block<V16, 4>(), c);
      for (; c + 16 <= count; c += 16)
        f(Block<V16, 1>(), c);
      for (; c + 8 <= count; c += 8)
        f(Block<V8, 1>(), c);
      for (; c + 4 <= count; c += 4)
        f(Block<V4, 1>(), c);
      for (; c + 2 <= count; c += 2)
        f(Block<V2, 1>(), c);
    }
  for (; c < count; ++c)
    f(Block<Real, 1>(), c);
}

/// The window of one output pixel: calls f(offset in x, number of the position
/// in the global image) for its entries inside the image, in scan order.
struct PixelWindow {
  const PoolGeometry &g;
  const PoolImage &x;
  PoolAxis::Entries d, h, w;

  PixelWindow(const PoolGeometry &g, const PoolImage &x, int64_t od, int64_t oh,
              int64_t ow)
      : g(g), x(x), d(g.axis[0].entries[std::size_t(od)]),
        h(g.axis[1].entries[std::size_t(oh)]),
        w(g.axis[2].entries[std::size_t(ow)]) {}

  Real divisor() const { return d.divisor * h.divisor * w.divisor; }

  template <class F> void for_entries(F &&f) const {
    for (int64_t i = d.first; i < d.end; i += g.axis[0].step)
      for (int64_t j = h.first; j < h.end; j += g.axis[1].step) {
        const int64_t row =
            (i - x.lo[2]) * x.stride[2] + (j - x.lo[3]) * x.stride[3];
        const int64_t number = (i * g.axis[1].image + j) * g.axis[2].image;
        for (int64_t k = w.first; k < w.end; k += g.axis[2].step)
          f(row + (k - x.lo[4]) * x.stride[4], number + k);
      }
  }
};

/// The windows that cover one pixel of the image: calls f(od, oh, ow), local
/// positions of the other image.
struct PixelCover {
  const int64_t *d, *d_end, *h, *h_end, *w, *w_end;

  PixelCover(const PoolGeometry &g, int64_t id, int64_t ih, int64_t iw) {
    set(g.axis[0], id, d, d_end);
    set(g.axis[1], ih, h, h_end);
    set(g.axis[2], iw, w, w_end);
  }

  template <class F> void for_windows(F &&f) const {
    for (const int64_t *i = d; i < d_end; ++i)
      for (const int64_t *j = h; j < h_end; ++j)
        for (const int64_t *k = w; k < w_end; ++k)
          f(*i, *j, *k);
  }

private:
  static void set(const PoolAxis &axis, int64_t at, const int64_t *&begin,
                  const int64_t *&end) {
    begin = axis.covering.data() + axis.begin[std::size_t(at)];
    end = axis.covering.data() + axis.begin[std::size_t(at) + 1];
  }
};

} // namespace

struct PoolPlan {
  PoolGeometry geometry;
};

std::shared_ptr<const PoolPlan> plan_pool(PoolGeometry geometry) {
  return std::make_shared<PoolPlan>(PoolPlan{std::move(geometry)});
}

//===----------------------------------------------------------------------===//
// Maximum
//===----------------------------------------------------------------------===//

template <class X, class Y>
static void max_forward(const PoolGeometry &g, const PoolImage &x,
                        const X *from, const PoolImage &y, Y *to,
                        int32_t *index) {
  const int64_t first = (y.lo[1] - x.lo[1]) * x.stride[1];
  const bool neighbours = x.stride[1] == 1 && y.stride[1] == 1;
  for_pixels(y, g.volume, [&](int64_t n, int64_t d, int64_t h, int64_t w) {
    const PixelWindow window(g, x, d, h, w);
    const X *image = from + n * x.stride[0] + first;
    const int64_t pixel = y.offset_of(n, d, h, w);
    for_blocks(y.extent[1], neighbours, [&](auto best, int64_t c) {
      using V = std::decay_t<decltype(best.value[0])>;
      using I = typename IntsOf<V>::type;
      constexpr int N = sizeof(best.value) / sizeof(V);
      I where[N];
      for (int i = 0; i < N; ++i) {
        best.value[i] = V{} - __builtin_inff();
        where[i] = I{} - 1;
      }
      window.for_entries([&](int64_t offset, int64_t number) {
        const X *here = image + offset + c * x.stride[1];
        const I position = I{} + int32_t(number);
#pragma GCC unroll 4
        for (int i = 0; i < N; ++i) {
          const V value = load<V>(here + i * best.width);
          const auto more = (value > best.value[i]) | (value != value);
          best.value[i] = more ? value : best.value[i];
          where[i] = more ? position : where[i];
        }
      });
      const int64_t at = pixel + c * y.stride[1];
      for (int i = 0; i < N; ++i) {
        store(to + at + i * best.width, best.value[i]);
        if (index)
          store(index + at + i * best.width, where[i]);
      }
    });
  });
}

void MaxPoolForward::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  with_data(
      [&](const auto *from, auto *to) {
        max_forward(plan->geometry, PoolImage(x), from, PoolImage(y), to,
                    out.begin()[1].as<int32_t>());
      },
      x, y);
}

template <class Y, class X>
static void max_backward(const PoolGeometry &g, const PoolImage &y,
                         const Y *from, const int32_t *index,
                         const PoolImage &x, X *to) {
  const int64_t first = (x.lo[1] - y.lo[1]) * y.stride[1];
  const bool neighbours = x.stride[1] == 1 && y.stride[1] == 1;
  const PoolAxis *axis = g.axis;
  for_pixels(x, g.volume, [&](int64_t n, int64_t d, int64_t h, int64_t w) {
    const PixelCover cover(g, d, h, w);
    const int32_t here =
        int32_t(((x.lo[2] + d) * axis[1].image + x.lo[3] + h) * axis[2].image +
                x.lo[4] + w);
    const int64_t pixel = x.offset_of(n, d, h, w);
    for_blocks(x.extent[1], neighbours, [&](auto sum, int64_t c) {
      using V = std::decay_t<decltype(sum.value[0])>;
      using I = typename IntsOf<V>::type;
      sum = {};
      cover.for_windows([&](int64_t od, int64_t oh, int64_t ow) {
        const int64_t at = y.offset_of(n, od, oh, ow) + first + c * y.stride[1];
        sum.each([&](V &value, int offset) {
          const auto mine = load<I>(index + at + offset) == I{} + here;
          value += mine ? load<V>(from + at + offset) : V{};
        });
      });
      sum.each([&](V &value, int offset) {
        store(to + pixel + c * x.stride[1] + offset, value);
      });
    });
  });
}

void MaxPoolBackward::operator()(Tensors in, Tensors out) {
  const Tensor &y = in.begin()[0], &x = out.begin()[0];
  with_data(
      [&](const auto *from, auto *to) {
        max_backward(plan->geometry, PoolImage(y), from,
                     in.begin()[1].as<int32_t>(), PoolImage(x), to);
      },
      y, x);
}

//===----------------------------------------------------------------------===//
// Mean
//===----------------------------------------------------------------------===//

template <class X, class Y>
static void average_forward(const PoolGeometry &g, const PoolImage &x,
                            const X *from, const PoolImage &y, Y *to) {
  const int64_t first = (y.lo[1] - x.lo[1]) * x.stride[1];
  const bool neighbours = x.stride[1] == 1 && y.stride[1] == 1;
  for_pixels(y, g.volume, [&](int64_t n, int64_t d, int64_t h, int64_t w) {
    const PixelWindow window(g, x, d, h, w);
    const Real count = window.divisor();
    const Real scale = count > 0 ? 1.0f / count : 0.0f;
    const X *image = from + n * x.stride[0] + first;
    const int64_t pixel = y.offset_of(n, d, h, w);
    for_blocks(y.extent[1], neighbours, [&](auto sum, int64_t c) {
      using V = std::decay_t<decltype(sum.value[0])>;
      sum = {};
      window.for_entries([&](int64_t offset, int64_t) {
        const X *here = image + offset + c * x.stride[1];
        sum.each([&](V &value, int i) { value += load<V>(here + i); });
      });
      sum.each([&](V &value, int i) {
        store(to + pixel + c * y.stride[1] + i, scale * value);
      });
    });
  });
}

void AveragePoolForward::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  with_data(
      [&](const auto *from, auto *to) {
        average_forward(plan->geometry, PoolImage(x), from, PoolImage(y), to);
      },
      x, y);
}

template <class Y, class X>
static void average_backward(const PoolGeometry &g, const PoolImage &y,
                             const Y *from, const PoolImage &x, X *to) {
  const int64_t first = (x.lo[1] - y.lo[1]) * y.stride[1];
  const bool neighbours = x.stride[1] == 1 && y.stride[1] == 1;
  const PoolAxis *axis = g.axis;
  for_pixels(x, g.volume, [&](int64_t n, int64_t d, int64_t h, int64_t w) {
    const PixelCover cover(g, d, h, w);
    const int64_t pixel = x.offset_of(n, d, h, w);
    for_blocks(x.extent[1], neighbours, [&](auto sum, int64_t c) {
      using V = std::decay_t<decltype(sum.value[0])>;
      sum = {};
      cover.for_windows([&](int64_t od, int64_t oh, int64_t ow) {
        const Real scale = 1.0f / (axis[0].entries[std::size_t(od)].divisor *
                                   axis[1].entries[std::size_t(oh)].divisor *
                                   axis[2].entries[std::size_t(ow)].divisor);
        const Y *here =
            from + y.offset_of(n, od, oh, ow) + first + c * y.stride[1];
        sum.each([&](V &value, int i) { value += scale * load<V>(here + i); });
      });
      sum.each([&](V &value, int i) {
        store(to + pixel + c * x.stride[1] + i, value);
      });
    });
  });
}

void AveragePoolBackward::operator()(Tensors in, Tensors out) {
  const Tensor &y = in.begin()[0], &x = out.begin()[0];
  with_data(
      [&](const auto *from, auto *to) {
        average_backward(plan->geometry, PoolImage(y), from, PoolImage(x), to);
      },
      y, x);
}

} // namespace ffrt
