//===- pool.cu - pooling --------------------------------------------------===//
//
// A thread for every element of what is written, neighbours in memory beside
// each other. As on the CPU the backward kernels gather, so that the order of
// additions is fixed.
//
//===----------------------------------------------------------------------===//
#include "ffrt/pool.h"

#include "common/cast.h"
#include "common/pool_geometry.h"
#include "cuda/device_table.h"
#include "cuda/walk.h"
#include "ffrt/cuda/launch.h"

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

/// The position of element i of an image, counted as they lie in memory.
class Positions {
public:
  explicit Positions(const PoolImage &t)
      : last(t.stride[1] == 1), coordinates(extents(t, last)) {}
  __device__ Position operator()(int64_t i) const {
    const auto at = coordinates(i);
    return last ? Position{at[0], at[4], at[1], at[2], at[3]}
                : Position{at[0], at[1], at[2], at[3], at[4]};
  }

private:
  static std::array<int64_t, 5> extents(const PoolImage &t, bool last) {
    const int64_t *e = t.extent;
    if (last)
      return {e[0], e[2], e[3], e[4], e[1]};
    return {e[0], e[1], e[2], e[3], e[4]};
  }
  bool last; ///< channels
  cuda::Coordinates<5> coordinates;
};

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

template <class X, class Y>
static void max_forward(const Axes &axes, const PoolImage &x, const X *from,
                        const PoolImage &y, Y *to, int32_t *index) {
  from += (y.lo[1] - x.lo[1]) * x.stride[1];
  const Positions positions(y);
  cuda::for_elements(
      y.elements(), FFRT_LAMBDA(int64_t i) {
        const Position p = positions(i);
        const X *image = from + p.n * x.stride[0] + p.c * x.stride[1];
        float best = -HUGE_VALF;
        int64_t where = -1;
        axes.for_entries(x, p.d, p.h, p.w, [&](int64_t offset, int64_t number) {
          const float value = image[offset];
          if (value > best) {
            best = value;
            where = number;
          }
        });
        to[i] = Y(best);
        if (index)
          index[i] = int32_t(where);
      });
}

void MaxPoolForward::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  with_data(
      [&](const auto *from, auto *to) {
        max_forward(plan->axes(), PoolImage(x), from, PoolImage(y), to,
                    out.begin()[1].as<int32_t>());
      },
      x, y);
}

template <class Y, class X>
static void max_backward(const Axes &axes, const PoolImage &y, const Y *from,
                         const int32_t *index, const PoolImage &x, X *to) {
  const int64_t first = (x.lo[1] - y.lo[1]) * y.stride[1];
  from += first;
  index += first;
  const Positions positions(x);
  cuda::for_elements(
      x.elements(), FFRT_LAMBDA(int64_t i) {
        const Position p = positions(i);
        const int64_t here =
            axes.number(x.lo[2] + p.d, x.lo[3] + p.h, x.lo[4] + p.w);
        float sum = 0;
        axes.for_windows(p.d, p.h, p.w,
                         [&](int64_t od, int64_t oh, int64_t ow) {
                           const int64_t at =
                               y.offset_of(p.n, od, oh, ow) + p.c * y.stride[1];
                           sum += index[at] == here ? float(from[at]) : 0.0f;
                         });
        to[i] = X(sum);
      });
}

void MaxPoolBackward::operator()(Tensors in, Tensors out) {
  const Tensor &y = in.begin()[0], &x = out.begin()[0];
  with_data(
      [&](const auto *from, auto *to) {
        max_backward(plan->axes(), PoolImage(y), from,
                     in.begin()[1].as<int32_t>(), PoolImage(x), to);
      },
      y, x);
}

//===----------------------------------------------------------------------===//
// Mean
//===----------------------------------------------------------------------===//

template <class X, class Y>
static void average_forward(const Axes &axes, const PoolImage &x, const X *from,
                            const PoolImage &y, Y *to) {
  from += (y.lo[1] - x.lo[1]) * x.stride[1];
  const Positions positions(y);
  cuda::for_elements(
      y.elements(), FFRT_LAMBDA(int64_t i) {
        const Position p = positions(i);
        const X *image = from + p.n * x.stride[0] + p.c * x.stride[1];
        float sum = 0;
        axes.for_entries(x, p.d, p.h, p.w, [&](int64_t offset, int64_t) {
          sum += float(image[offset]);
        });
        const float count = axes.divisor(p.d, p.h, p.w);
        to[i] = Y(count > 0 ? sum * (1.0f / count) : 0.0f);
      });
}

void AveragePoolForward::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  with_data(
      [&](const auto *from, auto *to) {
        average_forward(plan->axes(), PoolImage(x), from, PoolImage(y), to);
      },
      x, y);
}

template <class Y, class X>
static void average_backward(const Axes &axes, const PoolImage &y,
                             const Y *from, const PoolImage &x, X *to) {
  from += (x.lo[1] - y.lo[1]) * y.stride[1];
  const Positions positions(x);
  cuda::for_elements(
      x.elements(), FFRT_LAMBDA(int64_t i) {
        const Position p = positions(i);
        float sum = 0;
        axes.for_windows(
            p.d, p.h, p.w, [&](int64_t od, int64_t oh, int64_t ow) {
              const int64_t at =
                  y.offset_of(p.n, od, oh, ow) + p.c * y.stride[1];
              sum += float(from[at]) * (1.0f / axes.divisor(od, oh, ow));
            });
        to[i] = X(sum);
      });
}

void AveragePoolBackward::operator()(Tensors in, Tensors out) {
  const Tensor &y = in.begin()[0], &x = out.begin()[0];
  with_data(
      [&](const auto *from, auto *to) {
        average_backward(plan->axes(), PoolImage(y), from, PoolImage(x), to);
      },
      y, x);
}

} // namespace ffrt
