//===- pool.cu - pooling --------------------------------------------------===//
//
// A thread for every element of what is written, neighbours in memory beside
// each other; or for a group of channels where these are neighbours, which have
// one window. As on the CPU the backward kernels gather, so that the order of
// additions is fixed.
//
//===----------------------------------------------------------------------===//
#include "ffrt/pool.h"

#include "common/conv/pool_geometry.h"
#include "common/elementwise/cast.h"
#include "cuda/device/device_table.h"
#include "cuda/kernels/walk.h"
#include "ffrt/cuda/group.h"

#include <cmath>

namespace ffrt {

namespace {

/// A PoolAxis, for kernels.
struct Axis {
  int64_t step, image;
  const PoolAxis::Entries *entries;
  const int64_t *begin, *covering;
};

/// All axes, for kernels.
struct Axes {
  Axis axis[3];

  __device__ const PoolAxis::Entries &entries(int a, int64_t o) const {
    return axis[a].entries[o];
  }
  /// What the mean of a window counts.
  __device__ float divisor(int64_t od, int64_t oh, int64_t ow) const {
    return entries(0, od).divisor * entries(1, oh).divisor *
           entries(2, ow).divisor;
  }
  /// The number of a position in the global image.
  __device__ int64_t number(int64_t d, int64_t h, int64_t w) const {
    return (d * axis[1].image + h) * axis[2].image + w;
  }

  /// Calls f(offset in x, number of the position in the global image) for the
  /// entries of a window inside the image, in scan order.
  template <class F>
  __device__ void for_entries(const PoolImage &x, int64_t od, int64_t oh,
                              int64_t ow, F f) const {
    const PoolAxis::Entries d = entries(0, od), h = entries(1, oh),
                            w = entries(2, ow);
    for (int64_t i = d.first; i < d.end; i += axis[0].step)
      for (int64_t j = h.first; j < h.end; j += axis[1].step)
        for (int64_t k = w.first; k < w.end; k += axis[2].step)
          f(x.offset_of(0, i - x.lo[2], j - x.lo[3], k - x.lo[4]),
            number(i, j, k));
  }

  /// Calls f(od, oh, ow) for the windows that cover a pixel of the image.
  template <class F>
  __device__ void for_windows(int64_t d, int64_t h, int64_t w, F f) const {
    for (int64_t i = axis[0].begin[d]; i < axis[0].begin[d + 1]; ++i)
      for (int64_t j = axis[1].begin[h]; j < axis[1].begin[h + 1]; ++j)
        for (int64_t k = axis[2].begin[w]; k < axis[2].begin[w + 1]; ++k)
          f(axis[0].covering[i], axis[1].covering[j], axis[2].covering[k]);
  }
};

/// An axis of a plan in device memory.
struct AxisTables {
  int64_t step, image;
  cuda::DeviceTable<PoolAxis::Entries> entries;
  cuda::DeviceTable<int64_t> begin, covering;

  explicit AxisTables(const PoolAxis &axis)
      : step(axis.step), image(axis.image), entries(axis.entries),
        begin(axis.begin), covering(axis.covering) {}
  Axis view() const {
    return {step, image, entries.data(), begin.data(), covering.data()};
  }
};

/// A position in a tile.
struct Position {
  int64_t n, c, d, h, w;
};

/// The position of the first element of span i of an image, counted as they lie
/// in memory: `width` channels, or one element.
class Positions {
public:
  explicit Positions(const PoolImage &t, int width)
      : last(t.stride[1] == 1), width(width),
        coordinates(extents(t, last, width)) {}
  __device__ Position operator()(int64_t i) const {
    const auto at = coordinates(i);
    return last ? Position{at[0], at[4] * width, at[1], at[2], at[3]}
                : Position{at[0], at[1], at[2], at[3], at[4]};
  }

private:
  static std::array<int64_t, 5> extents(const PoolImage &t, bool last,
                                        int width) {
    const int64_t *e = t.extent;
    if (last)
      return {e[0], e[2], e[3], e[4], e[1] / width};
    return {e[0], e[1], e[2], e[3], e[4]};
  }
  bool last; ///< channels
  int width;
  cuda::Coordinates<5> coordinates;
};

/// Do groups of channels begin wherever the first of them is read or written?
bool has_groups(const PoolImage &t) {
  bool result = t.stride[1] == 1 && t.extent[1] % cuda::kGroup == 0;
  for (int d : {0, 2, 3, 4})
    result &= t.stride[d] % cuda::kGroup == 0 || t.extent[d] == 1;
  return result;
}

/// f(number of neighbours that a thread has, as a constant). `pointers` are
/// what is read and written besides the images.
template <class F, class... T>
void with_width(const PoolImage &a, const PoolImage &b, const F &f,
                const T *...pointers) {
  if (has_groups(a) && has_groups(b) &&
      (a.lo[1] - b.lo[1]) % cuda::kGroup == 0 &&
      (cuda::begins_group(pointers) && ...))
    f(std::integral_constant<int, cuda::kGroup>());
  else
    f(std::integral_constant<int, 1>());
}

} // namespace

struct PoolPlan {
  AxisTables depth, height, width;

  Axes axes() const { return {{depth.view(), height.view(), width.view()}}; }
};

std::shared_ptr<const PoolPlan> plan_pool(PoolGeometry geometry) {
  const PoolAxis *axis = geometry.axis;
  return std::shared_ptr<PoolPlan>(new PoolPlan{
      AxisTables(axis[0]), AxisTables(axis[1]), AxisTables(axis[2])});
}

//===----------------------------------------------------------------------===//
// Maximum
//===----------------------------------------------------------------------===//

template <int kWide, class X, class Y>
static void max_forward(const Axes &axes, const PoolImage &x, const X *from,
                        const PoolImage &y, Y *to, int32_t *index) {
  const Positions positions(y, kWide);
  cuda::for_elements(
      y.elements() / kWide, FFRT_LAMBDA(int64_t i) {
        constexpr cuda::Span kSpan{0, kWide, kWide > 1};
        const Position p = positions(i);
        const X *image = from + p.n * x.stride[0] + p.c * x.stride[1];
        float best[kWide];
        int32_t where[kWide];
        FFRT_UNROLL
        for (int k = 0; k < kWide; ++k) {
          best[k] = -HUGE_VALF;
          where[k] = -1;
        }
        axes.for_entries(x, p.d, p.h, p.w, [&](int64_t offset, int64_t number) {
          const cuda::Group<X> values = cuda::read(image + offset, kSpan);
          FFRT_UNROLL
          for (int k = 0; k < kWide; ++k)
            if (const float value = values[k];
                value > best[k] || value != value) {
              best[k] = value;
              where[k] = int32_t(number);
            }
        });
        cuda::Group<Y> found{};
        cuda::Group<int32_t> places{};
        FFRT_UNROLL
        for (int k = 0; k < kWide; ++k) {
          found[k] = Y(best[k]);
          places[k] = where[k];
        }
        cuda::write(to + i * kWide, kSpan, found);
        if (index)
          cuda::write(index + i * kWide, kSpan, places);
      });
}

void MaxPoolForward::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  with_data(
      [&](const auto *from, auto *to) {
        const PoolImage image(x), result(y);
        auto *index = out.begin()[1].as<int32_t>();
        from += (result.lo[1] - image.lo[1]) * image.stride[1];
        with_width(
            image, result,
            [&](auto wide) {
              max_forward<wide()>(plan->axes(), image, from, result, to, index);
            },
            from, to, index);
      },
      x, y);
}

template <int kWide, class Y, class X>
static void max_backward(const Axes &axes, const PoolImage &y, const Y *from,
                         const int32_t *index, const PoolImage &x, X *to) {
  const Positions positions(x, kWide);
  cuda::for_elements(
      x.elements() / kWide, FFRT_LAMBDA(int64_t i) {
        constexpr cuda::Span kSpan{0, kWide, kWide > 1};
        const Position p = positions(i);
        const auto here =
            int32_t(axes.number(x.lo[2] + p.d, x.lo[3] + p.h, x.lo[4] + p.w));
        float sum[kWide] = {};
        axes.for_windows(
            p.d, p.h, p.w, [&](int64_t od, int64_t oh, int64_t ow) {
              const int64_t at =
                  y.offset_of(p.n, od, oh, ow) + p.c * y.stride[1];
              const cuda::Group<Y> values = cuda::read(from + at, kSpan);
              const cuda::Group<int32_t> places = cuda::read(index + at, kSpan);
              FFRT_UNROLL
              for (int k = 0; k < kWide; ++k)
                sum[k] += places[k] == here ? float(values[k]) : 0.0f;
            });
        cuda::Group<X> sums{};
        FFRT_UNROLL
        for (int k = 0; k < kWide; ++k)
          sums[k] = X(sum[k]);
        cuda::write(to + i * kWide, kSpan, sums);
      });
}

void MaxPoolBackward::operator()(Tensors in, Tensors out) {
  const Tensor &y = in.begin()[0], &x = out.begin()[0];
  with_data(
      [&](const auto *from, auto *to) {
        const PoolImage slopes(y), image(x);
        const int64_t first = (image.lo[1] - slopes.lo[1]) * slopes.stride[1];
        const int32_t *index = in.begin()[1].as<int32_t>() + first;
        from += first;
        with_width(
            slopes, image,
            [&](auto wide) {
              max_backward<wide()>(plan->axes(), slopes, from, index, image,
                                   to);
            },
            from, index, to);
      },
      y, x);
}

//===----------------------------------------------------------------------===//
// Mean
//===----------------------------------------------------------------------===//

template <int kWide, class X, class Y>
static void average_forward(const Axes &axes, const PoolImage &x, const X *from,
                            const PoolImage &y, Y *to) {
  const Positions positions(y, kWide);
  cuda::for_elements(
      y.elements() / kWide, FFRT_LAMBDA(int64_t i) {
        constexpr cuda::Span kSpan{0, kWide, kWide > 1};
        const Position p = positions(i);
        const X *image = from + p.n * x.stride[0] + p.c * x.stride[1];
        float sum[kWide] = {};
        axes.for_entries(x, p.d, p.h, p.w, [&](int64_t offset, int64_t) {
          const cuda::Group<X> values = cuda::read(image + offset, kSpan);
          FFRT_UNROLL
          for (int k = 0; k < kWide; ++k)
            sum[k] += float(values[k]);
        });
        const float count = axes.divisor(p.d, p.h, p.w);
        cuda::Group<Y> means{};
        FFRT_UNROLL
        for (int k = 0; k < kWide; ++k)
          means[k] = Y(count > 0 ? sum[k] * (1.0f / count) : 0.0f);
        cuda::write(to + i * kWide, kSpan, means);
      });
}

void AveragePoolForward::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  with_data(
      [&](const auto *from, auto *to) {
        const PoolImage image(x), result(y);
        from += (result.lo[1] - image.lo[1]) * image.stride[1];
        with_width(
            image, result,
            [&](auto wide) {
              average_forward<wide()>(plan->axes(), image, from, result, to);
            },
            from, to);
      },
      x, y);
}

template <int kWide, class Y, class X>
static void average_backward(const Axes &axes, const PoolImage &y,
                             const Y *from, const PoolImage &x, X *to) {
  const Positions positions(x, kWide);
  cuda::for_elements(
      x.elements() / kWide, FFRT_LAMBDA(int64_t i) {
        constexpr cuda::Span kSpan{0, kWide, kWide > 1};
        const Position p = positions(i);
        float sum[kWide] = {};
        axes.for_windows(
            p.d, p.h, p.w, [&](int64_t od, int64_t oh, int64_t ow) {
              const int64_t at =
                  y.offset_of(p.n, od, oh, ow) + p.c * y.stride[1];
              const float part = 1.0f / axes.divisor(od, oh, ow);
              const cuda::Group<Y> values = cuda::read(from + at, kSpan);
              FFRT_UNROLL
              for (int k = 0; k < kWide; ++k)
                sum[k] += float(values[k]) * part;
            });
        cuda::Group<X> sums{};
        FFRT_UNROLL
        for (int k = 0; k < kWide; ++k)
          sums[k] = X(sum[k]);
        cuda::write(to + i * kWide, kSpan, sums);
      });
}

void AveragePoolBackward::operator()(Tensors in, Tensors out) {
  const Tensor &y = in.begin()[0], &x = out.begin()[0];
  with_data(
      [&](const auto *from, auto *to) {
        const PoolImage slopes(y), image(x);
        from += (image.lo[1] - slopes.lo[1]) * slopes.stride[1];
        with_width(
            slopes, image,
            [&](auto wide) {
              average_backward<wide()>(plan->axes(), slopes, from, image, to);
            },
            from, to);
      },
      y, x);
}

} // namespace ffrt
