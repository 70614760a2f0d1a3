//===- normalize_sets.cpp - statistics per set of elements ----------------===//
//
// One thread handles a set at a time: its statistics, then its results while
// the set is in cache.
//
//===----------------------------------------------------------------------===//
#include "common/cast.h"
#include "cpu/normalize_work.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace ffrt::sets {

namespace {

/// Offsets in x, in the statistics and in the parameters.
using Space = Nest<3>;
using Offsets = Space::Offsets;

struct Pair {
  float a, b;
};
struct Sums {
  double a = 0, b = 0;
};

/// The dimensions of `x` that are reduced, or those that are not.
Space part_of(const NormalizeWork &work, const Tensor &x, bool reduced) {
  Index shape;
  for (int d = 0; d < x.rank; ++d)
    shape[d] = work.reduced[d] == reduced ? x.shape[d] : 1;
  return Space(x.rank, shape, {x.strides(), work.statistic, work.parameter});
}

/// A tensor as sets of elements, each made of runs.
struct Sets {
  const NormalizeWork &work;
  Space outer, inner;
  int64_t n, stride; ///< of a run in x
  int64_t parameter; ///< stride of a run in the parameters
  double size;       ///< elements of a set in this tile

  Sets(const NormalizeWork &work, const Tensor &x)
      : work(work), outer(part_of(work, x, false)),
        inner(part_of(work, x, true)), n(inner.inner()),
        stride(inner.inner_stride()[0]), parameter(inner.inner_stride()[2]),
        size(double(inner.rows() * n)) {}

  /// Calls f(part, offsets) for all sets, the parts on threads.
  template <class F> void for_all(F &&f) const {
    const int64_t row = outer.inner(), total = outer.rows() * row;
    const Offsets s = outer.inner_stride();
    parallel_for(work.parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        const int64_t end = total * (part + 1) / work.parts;
        for (int64_t set = total * part / work.parts; set < end;) {
          int64_t i = set % row;
          outer.for_rows(set / row, set / row + 1, [&](const Offsets &at) {
            for (; i < row && set < end; ++i, ++set)
              f(part,
                Offsets{at[0] + i * s[0], at[1] + i * s[1], at[2] + i * s[2]});
          });
        }
      }
    });
  }

  /// Calls f(offset in x, offset in the parameters) for the runs of a set.
  template <class F> void for_runs(const Offsets &set, F &&f) const {
    inner.for_rows(0, inner.rows(), [&](const Offsets &at) {
      f(set[0] + at[0], set[2] + at[2]);
    });
  }
};

/// Calls f(stride), a constant if it is 1, so that loops vectorise.
template <class F> void with_stride(int64_t stride, F &&f) {
  if (stride == 1)
    f(std::integral_constant<int64_t, 1>());
  else
    f(stride);
}

/// Adds f(0), ..., f(n - 1) to `to`, in single precision a few thousand at a
/// time.
template <class F> void add_up(int64_t n, Sums &to, F f) {
  constexpr int64_t kLanes = 16, kBlock = 4096;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = std::min(begin + kBlock, n);
    float a[kLanes] = {}, b[kLanes] = {};
    int64_t i = begin;
    for (; i + kLanes <= end; i += kLanes)
#pragma GCC ivdep
      for (int64_t k = 0; k < kLanes; ++k) {
        const Pair p = f(i + k);
        a[k] += p.a;
        b[k] += p.b;
      }
    for (; i < end; ++i) {
      const Pair p = f(i);
      a[i % kLanes] += p.a;
      b[i % kLanes] += p.b;
    }
    for (int64_t k = 0; k < kLanes; ++k) {
      to.a += a[k];
      to.b += b[k];
    }
  }
}

double sum_of(const Sets &sets, const float *x, const Offsets &set) {
  Sums sums;
  sets.for_runs(set, [&](int64_t offset, int64_t) {
    const float *p = x + offset;
    with_stride(sets.stride, [&](auto s) {
      add_up(sets.n, sums, [=](int64_t i) { return Pair{p[i * s], 0.0f}; });
    });
  });
  return sums.a;
}

double squares_of(const Sets &sets, const float *x, const Offsets &set,
                  float mean) {
  Sums sums;
  sets.for_runs(set, [&](int64_t offset, int64_t) {
    const float *p = x + offset;
    with_stride(sets.stride, [&](auto s) {
      add_up(sets.n, sums, [=](int64_t i) {
        const float d = p[i * s] - mean;
        return Pair{d * d, 0.0f};
      });
    });
  });
  return sums.a;
}

/// The results of one set; `finish(value, offset)` makes one of what scale and
/// bias give.
template <class Y, class Finish>
void apply_to(const Sets &sets, const float *x, const Offsets &set,
              const Forward &to, Y *y, Finish finish) {
  const float mean = sets.work.mean[set[1]],
              inverse = sets.work.inverse[set[1]];
  sets.for_runs(set, [&](int64_t offset, int64_t parameter) {
    const float *p = x + offset;
    const float *scale = to.scale ? to.scale + parameter : nullptr;
    const float *bias = to.bias ? to.bias + parameter : nullptr;
    Y *q = y + offset;
    const int64_t n = sets.n, k = sets.parameter;
    with_stride(sets.stride, [=](auto s) {
      if (k == 0 || (!scale && !bias)) {
        const float a = scale ? inverse * *scale : inverse;
        const float b = bias ? *bias : 0.0f;
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i)
          q[i * s] = Y(finish((p[i * s] - mean) * a + b, offset + i * s));
      } else if (k == 1 && scale && bias) {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i)
          q[i * s] = Y(finish((p[i * s] - mean) * inverse * scale[i] + bias[i],
                              offset + i * s));
      } else {
        for (int64_t i = 0; i < n; ++i)
          q[i * s] = Y(finish((p[i * s] - mean) * inverse *
                                      (scale ? scale[i * k] : 1.0f) +
                                  (bias ? bias[i * k] : 0.0f),
                              offset + i * s));
      }
    });
  });
}

void apply_to(const Sets &sets, const float *x, const Offsets &set,
              const Forward &to) {
  if (!to.y.data)
    return;
  const fn::Clip clip = sets.work.clip;
  const float *more = to.addend;
  with_factor(to.y.type, [&](auto *type) {
    const auto y = static_cast<decltype(type)>(to.y.data);
    if (more)
      apply_to(sets, x, set, to, y, [=](float value, int64_t offset) {
        return clip(value + more[offset]);
      });
    else
      apply_to(sets, x, set, to, y,
               [=](float value, int64_t) { return clip(value); });
  });
}

/// Sums of the parameters' gradients of one part: singles that are moved to
/// doubles now and then.
struct ParameterSums {
  double *scale, *bias;
  float *lines; ///< scale, then bias
  int64_t parameters;

  ParameterSums(NormalizeWork &work, int64_t part)
      : scale(work.partial.data() + 2 * part * work.parameters),
        bias(scale + work.parameters),
        lines(work.lines.data() + part * work.line),
        parameters(work.parameters) {}

  void clear() {
    std::fill_n(scale, 2 * parameters, 0.0);
    std::fill_n(lines, 2 * parameters, 0.0f);
  }
  void flush() {
    for (int64_t i = 0; i < 2 * parameters; ++i) {
      scale[i] += lines[i];
      lines[i] = 0.0f;
    }
  }
};

/// Sums of g and g * h of one set; adds to the sums of the parameters.
Sums gradient_of(const Sets &sets, const float *dy, const float *x,
                 const Offsets &set, const float *scales, ParameterSums sums,
                 bool parameters) {
  const float mean = sets.work.mean[set[1]],
              inverse = sets.work.inverse[set[1]];
  Sums total;
  sets.for_runs(set, [&](int64_t offset, int64_t parameter) {
    const float *p = x + offset, *g = dy + offset;
    const float *scale = scales ? scales + parameter : nullptr;
    const int64_t n = sets.n, k = sets.parameter;
    with_stride(sets.stride, [&](auto s) {
      auto plain = [=](int64_t i) {
        return Pair{g[i * s], g[i * s] * ((p[i * s] - mean) * inverse)};
      };
      if (k == 0) {
        Sums run;
        add_up(n, run, plain);
        total.a += run.a * (scale ? *scale : 1.0f);
        total.b += run.b * (scale ? *scale : 1.0f);
        sums.bias[parameter] += run.a;
        sums.scale[parameter] += run.b;
        return;
      }
      if (!scale)
        add_up(n, total, plain);
      else
        add_up(n, total, [=](int64_t i) {
          const Pair here = plain(i);
          return Pair{here.a * scale[i * k], here.b * scale[i * k]};
        });
      if (!parameters)
        return;
      float *__restrict to = sums.lines + parameter;
      float *__restrict bias = to + sums.parameters;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i) {
        const Pair here = plain(i);
        to[i * k] += here.b;
        bias[i * k] += here.a;
      }
    });
  });
  return total;
}

/// dx of one set from the means of g and g * h.
template <class Dx>
void data_of(const Sets &sets, const float *dy, const float *x,
             const Offsets &set, const float *scales, Dx *dx, float mean_g,
             float mean_gh) {
  const float mean = sets.work.mean[set[1]],
              inverse = sets.work.inverse[set[1]];
  sets.for_runs(set, [&](int64_t offset, int64_t parameter) {
    const float *p = x + offset, *g = dy + offset;
    const float *scale = scales ? scales + parameter : nullptr;
    Dx *q = dx + offset;
    const int64_t n = sets.n, k = sets.parameter;
    with_stride(sets.stride, [=](auto s) {
      const float slope = inverse * mean_gh;
      if (k == 0 || !scale) {
        const float a = scale ? *scale : 1.0f;
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i)
          q[i * s] =
              Dx(inverse * (g[i * s] * a - mean_g - (p[i * s] - mean) * slope));
      } else {
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i)
          q[i * s] = Dx(inverse * (g[i * s] * scale[i * k] - mean_g -
                                   (p[i * s] - mean) * slope));
      }
    });
  });
}

void data_of(const Sets &sets, const float *dy, const float *x,
             const Offsets &set, const Backward &to, float mean_g,
             float mean_gh) {
  with_factor(to.dx.type, [&](auto *type) {
    data_of(sets, dy, x, set, to.scale, static_cast<decltype(type)>(to.dx.data),
            mean_g, mean_gh);
  });
}

} // namespace

void apply(NormalizeWork &work, const Tensor &x, const Forward &to) {
  const Sets sets(work, x);
  const float *from = x.as<float>();
  sets.for_all(
      [&](int64_t, const Offsets &set) { apply_to(sets, from, set, to); });
}

void forward(NormalizeWork &work, const Tensor &x, const Forward &to) {
  const Sets sets(work, x);
  const float *from = x.as<float>();
  sets.for_all([&](int64_t, const Offsets &set) {
    const int64_t s = set[1];
    const double mean = sum_of(sets, from, set) / sets.size;
    work.mean[s] = float(mean);
    work.first[s] = mean;
    work.second[s] = squares_of(sets, from, set, work.mean[s]);
    work.inverse[s] =
        float(1.0 / std::sqrt(work.second[s] / sets.size + work.epsilon));
    apply_to(sets, from, set, to);
  });
}

void sum(NormalizeWork &work, const Tensor &x) {
  const Sets sets(work, x);
  sets.for_all([&](int64_t, const Offsets &set) {
    work.first[set[1]] = sum_of(sets, x.as<float>(), set);
  });
}

void squares(NormalizeWork &work, const Tensor &x) {
  const Sets sets(work, x);
  sets.for_all([&](int64_t, const Offsets &set) {
    work.second[set[1]] =
        squares_of(sets, x.as<float>(), set, work.mean[set[1]]);
  });
}

void gradient(NormalizeWork &work, const Tensor &dy, const Tensor &x,
              const Backward &to, bool whole) {
  const Sets sets(work, x);
  const float *g = dy.as<float>(), *p = x.as<float>();
  const bool parameters = to.dscale || to.dbias;
  constexpr int kFlush = 64; ///< sets added up in single precision
  for (int part = 0; part < work.parts; ++part) {
    ParameterSums(work, part).clear();
    work.pending[std::size_t(part)] = 0;
  }
  sets.for_all([&](int64_t part, const Offsets &set) {
    ParameterSums sums(work, part);
    const Sums total = gradient_of(sets, g, p, set, to.scale, sums, parameters);
    work.first[set[1]] = total.a;
    work.second[set[1]] = total.b;
    if (whole && to.dx.data)
      data_of(sets, g, p, set, to, float(total.a / work.count),
              float(total.b / work.count));
    if (parameters && ++work.pending[std::size_t(part)] % kFlush == 0)
      sums.flush();
  });
  if (!parameters)
    return;
  for (int part = 0; part < work.parts; ++part)
    ParameterSums(work, part).flush();
  for (int64_t i = 0; i < work.parameters; ++i) {
    double scale = 0, bias = 0;
    for (int part = 0; part < work.parts; ++part) {
      const ParameterSums sums(work, part);
      scale += sums.scale[i];
      bias += sums.bias[i];
    }
    if (to.dscale)
      to.dscale[i] = float(scale);
    if (to.dbias)
      to.dbias[i] = float(bias);
  }
}

void gradient_data(NormalizeWork &work, const Tensor &dy, const Tensor &x,
                   const Backward &to) {
  const Sets sets(work, x);
  const float *g = dy.as<float>(), *p = x.as<float>();
  sets.for_all([&](int64_t, const Offsets &set) {
    const int64_t s = set[1];
    data_of(sets, g, p, set, to, float(work.first[s] / work.count),
            float(work.second[s] / work.count));
  });
}

} // namespace ffrt::sets
