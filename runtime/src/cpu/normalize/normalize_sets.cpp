//===- normalize_sets.cpp - statistics per set of elements ----------------===//
//
// One thread handles a set at a time: its statistics, then its results while
// the set is in cache.
//
//===----------------------------------------------------------------------===//
#include "cpu/kernels/widened.h"
#include "cpu/normalize/normalize_sums.h"
#include "cpu/normalize/normalize_work.h"

#include <algorithm>
#include <cmath>

namespace ffrt::sets {

namespace {

/// Offsets in x, in the statistics and in the parameters.
using Space = Nest<3>;
using Offsets = Space::Offsets;

/// The dimensions of `x` that are reduced, or those that are not.
Space part_of(const NormalizeWork &work, const Tensor &x, bool reduced) {
  Index shape;
  for (int d = 0; d < x.rank; ++d)
    shape[d] = work.reduced[d] == reduced ? x.shape[d] : 1;
  return Space(x.rank, shape, {x.strides(), work.statistic, work.parameter});
}

/// Tensors of x's shape as sets of elements, each made of runs.
struct Sets {
  const NormalizeWork &work;
  Space outer, inner;
  int64_t n;         ///< elements of a run
  int64_t in_memory; ///< their distance there
  bool narrow;       ///< is a tensor?
  int64_t stride;    ///< distance of the elements that loops see
  int64_t parameter; ///< stride of a run in the parameters
  double size;       ///< elements of a set in this tile

  Sets(const NormalizeWork &work, const Tensor &x, const Tensor &second = {},
       const Tensor &third = {}, const Tensor &fourth = {})
      : work(work), outer(part_of(work, x, false)),
        inner(part_of(work, x, true)), n(inner.inner()),
        in_memory(inner.inner_stride()[0]),
        narrow(is_low_precision(x.type) || is_low_precision(second.type) ||
               is_low_precision(third.type) || is_low_precision(fourth.type)),
        stride(narrow ? 1 : in_memory), parameter(inner.inner_stride()[2]),
        size(double(inner.rows() * n)) {}

  /// The elements of one of the tensors: where one is bf16 or f16, and so goes
  /// through a buffer, all do unless they are neighbours.
  Elements elements(const Tensor &t, Real *buffer) const {
    const bool apart = narrow && in_memory != 1;
    return {t, in_memory, apart || is_low_precision(t.type) ? buffer : nullptr};
  }

  /// Calls f(part, offsets) for all sets, the parts on threads, each of which
  /// has an f = make(buffers).
  template <class Make> void for_all(Make &&make) const {
    const int64_t row = outer.inner(), total = outer.rows() * row;
    const Offsets s = outer.inner_stride();
    parallel_for(work.parts, 1, [&](int64_t first, int64_t last) {
      Buffers buffers;
      const auto f = make(buffers);
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

/// The sum that add(element, sum) makes over a set.
template <class Add>
double sum_of(const Sets &sets, const Elements &x, const Offsets &set,
              Add add) {
  Sums sums;
  sets.for_runs(set, [&](int64_t offset, int64_t) {
    for_blocks(sets.n, [&](int64_t first, int64_t n) {
      const Real *p = x.read(offset + first * sets.in_memory, n);
      with_stride(sets.stride, [&](auto s) {
        add_up(n, sums,
               [=](int64_t i, Real &sum, Real &) { sum = add(p[i * s], sum); });
      });
    });
  });
  return sums.a;
}

double sum_of(const Sets &sets, const Elements &x, const Offsets &set) {
  return sum_of(sets, x, set, [](Real value, Real sum) { return sum + value; });
}

double squares_of(const Sets &sets, const Elements &x, const Offsets &set,
                  Real mean) {
  return sum_of(sets, x, set, [=](Real value, Real sum) {
    return add_square(sum, value - mean);
  });
}

/// What makes the results of sets.
struct Apply {
  const Real *scale, *bias; ///< may be null
  Elements x, addend, y;    ///< the last two may be absent

  Apply(const Sets &sets, const Tensor &x, const Forward &to, Buffers &buffers)
      : scale(to.scale), bias(to.bias), x(sets.elements(x, buffers[0])),
        addend(sets.elements(to.addend, buffers[1])),
        y(sets.elements(to.y, buffers[2])) {}
};

/// The results of one block; `finish(value, i)` makes one of what scale and
/// bias, whose strides are k, give.
template <class Finish>
void apply_to(int64_t n, int64_t stride, const Real *p, Real *q,
              const Real *scale, const Real *bias, int64_t k, Real mean,
              Real inverse, Finish finish) {
  with_stride(stride, [=](auto s) {
    if (k == 0 || (!scale && !bias)) {
      const Real a = scale ? inverse * *scale : inverse;
      const Real b = bias ? *bias : 0.0f;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        q[i * s] = finish((p[i * s] - mean) * a + b, i * s);
    } else if (k == 1 && scale && bias) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        q[i * s] =
            finish((p[i * s] - mean) * inverse * scale[i] + bias[i], i * s);
    } else {
      for (int64_t i = 0; i < n; ++i)
        q[i * s] =
            finish((p[i * s] - mean) * inverse * (scale ? scale[i * k] : 1.0f) +
                       (bias ? bias[i * k] : 0.0f),
                   i * s);
    }
  });
}

void apply_to(const Sets &sets, const Offsets &set, const Apply &to) {
  if (!to.y)
    return;
  const fn::Clip clip = sets.work.clip;
  const Real mean = sets.work.mean[set[1]], inverse = sets.work.inverse[set[1]];
  const int64_t k = sets.parameter;
  sets.for_runs(set, [&](int64_t offset, int64_t parameter) {
    for_blocks(sets.n, [&](int64_t first, int64_t n) {
      const int64_t at = offset + first * sets.in_memory,
                    own = parameter + first * k;
      const Real *p = to.x.read(at, n),
                 *scale = to.scale ? to.scale + own : nullptr,
                 *bias = to.bias ? to.bias + own : nullptr;
      Real *q = to.y.place(at);
      auto apply = [&](auto finish) {
        apply_to(n, sets.stride, p, q, scale, bias, k, mean, inverse, finish);
      };
      if (to.addend) {
        const Real *more = to.addend.read(at, n);
        apply([=](Real value, int64_t i) { return clip(value + more[i]); });
      } else {
        apply([=](Real value, int64_t) { return clip(value); });
      }
      to.y.write(at, n);
    });
  });
}

/// Sums of the parameters' gradients of one part: singles that are moved to
/// doubles now and then.
struct ParameterSums {
  double *scale, *bias;
  Real *lines; ///< scale, then bias
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

/// What gradients are made of.
struct Gradient {
  const Real *scale;          ///< may be null
  Elements dy, x, addend, dx; ///< the last two may be absent

  Gradient(const Sets &sets, const Tensor &dy, const Tensor &x,
           const Backward &to, Buffers &buffers)
      : scale(to.scale), dy(sets.elements(dy, buffers[0])),
        x(sets.elements(x, buffers[1])),
        addend(sets.elements(to.addend, buffers[2])),
        dx(sets.elements(to.dx, buffers[3])) {}
};

/// Whatever the element is.
struct NoCut {
  NoCut(const NormalizeWork &, int64_t) {}
  Real operator()(Real dy, Real) const { return dy; }
};

/// 0 where the result was cut.
struct Cut {
  Real mean, a, b;
  fn::ClipGradient slope;

  Cut(const NormalizeWork &work, int64_t s)
      : mean(work.mean[s]), a(work.line_a[s]),
        b(work.line_b[s]), slope{work.clip.alpha, work.clip.beta} {}
  Real operator()(Real dy, Real x) const {
    return slope(dy, (x - mean) * a + b);
  }
};

/// Sums of g and g * h of one set; adds to the sums of the parameters.
template <class Slope>
Sums gradient_of(const Sets &sets, const Offsets &set, const Gradient &of,
                 ParameterSums sums, bool parameters) {
  const Slope slope(sets.work, set[1]);
  const Real mean = sets.work.mean[set[1]], inverse = sets.work.inverse[set[1]];
  const int64_t k = sets.parameter;
  Sums total;
  sets.for_runs(set, [&](int64_t offset, int64_t parameter) {
    Sums run;
    for_blocks(sets.n, [&](int64_t first, int64_t n) {
      const int64_t at = offset + first * sets.in_memory,
                    own = parameter + first * k;
      const Real *g = of.dy.read(at, n), *p = of.x.read(at, n),
                 *scale = of.scale ? of.scale + own : nullptr;
      with_stride(sets.stride, [&](auto s) {
        auto plain = [=](int64_t i) {
          const Real own = slope(g[i * s], p[i * s]);
          return Pair{own, own * ((p[i * s] - mean) * inverse)};
        };
        const auto add = [=](int64_t i, Real &a, Real &b) {
          const Pair here = plain(i);
          a += here.a;
          b += here.b;
        };
        if (k == 0)
          return add_up(n, run, add);
        if (!scale)
          add_up(n, total, add);
        else
          add_up(n, total, [=](int64_t i, Real &a, Real &b) {
            const Pair here = plain(i);
            a += here.a * scale[i * k];
            b += here.b * scale[i * k];
          });
        if (!parameters)
          return;
        Real *__restrict to = sums.lines + own;
        Real *__restrict bias = to + sums.parameters;
#pragma GCC ivdep
        for (int64_t i = 0; i < n; ++i) {
          const Pair here = plain(i);
          to[i * k] += here.b;
          bias[i * k] += here.a;
        }
      });
    });
    if (k == 0) {
      const Real scale = of.scale ? of.scale[parameter] : 1.0f;
      total.a += run.a * scale;
      total.b += run.b * scale;
      sums.bias[parameter] += run.a;
      sums.scale[parameter] += run.b;
    }
  });
  return total;
}

/// dx of one block from the means of g and g * h; `finish(value, i)` makes it
/// of what the block's gradient is.
template <class Slope, class Finish>
void data_of(int64_t n, int64_t stride, const Real *g, const Real *p, Real *q,
             const Real *scale, int64_t k, const Slope &own, Real mean,
             Real inverse, Real mean_g, Real mean_gh, Finish finish) {
  with_stride(stride, [=](auto s) {
    const Real slope = inverse * mean_gh;
    if (k == 0 || !scale) {
      const Real a = scale ? *scale : 1.0f;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        q[i * s] = finish(inverse * (own(g[i * s], p[i * s]) * a - mean_g -
                                     (p[i * s] - mean) * slope),
                          i * s);
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        q[i * s] = finish(inverse * (own(g[i * s], p[i * s]) * scale[i * k] -
                                     mean_g - (p[i * s] - mean) * slope),
                          i * s);
    }
  });
}

/// dx of one set.
template <class Slope>
void data_of(const Sets &sets, const Offsets &set, const Gradient &of,
             Real mean_g, Real mean_gh) {
  const Slope own(sets.work, set[1]);
  const Real mean = sets.work.mean[set[1]], inverse = sets.work.inverse[set[1]];
  const int64_t k = sets.parameter;
  sets.for_runs(set, [&](int64_t offset, int64_t parameter) {
    for_blocks(sets.n, [&](int64_t first, int64_t n) {
      const int64_t at = offset + first * sets.in_memory;
      const Real *g = of.dy.read(at, n), *p = of.x.read(at, n);
      const Real *scale = of.scale ? of.scale + parameter + first * k : nullptr;
      Real *q = of.dx.place(at);
      auto store = [&](auto finish) {
        data_of(n, sets.stride, g, p, q, scale, k, own, mean, inverse, mean_g,
                mean_gh, finish);
      };
      if (of.addend) {
        const Real *more = of.addend.read(at, n);
        store([=](Real value, int64_t i) { return value + more[i]; });
      } else {
        store([](Real value, int64_t) { return value; });
      }
      of.dx.write(at, n);
    });
  });
}

} // namespace

void apply(NormalizeWork &work, const Tensor &x, const Forward &to) {
  const Sets sets(work, x, to.addend, to.y);
  sets.for_all([&](Buffers &buffers) {
    return [&, apply = Apply(sets, x, to, buffers)](
               int64_t, const Offsets &set) { apply_to(sets, set, apply); };
  });
}

void forward(NormalizeWork &work, const Tensor &x, const Forward &to) {
  const Sets sets(work, x, to.addend, to.y);
  sets.for_all([&](Buffers &buffers) {
    return
        [&, apply = Apply(sets, x, to, buffers)](int64_t, const Offsets &set) {
          const int64_t s = set[1];
          const double mean = sum_of(sets, apply.x, set) / sets.size;
          work.mean[s] = Real(mean);
          work.first[s] = mean;
          work.second[s] = squares_of(sets, apply.x, set, work.mean[s]);
          work.inverse[s] =
              Real(1.0 / std::sqrt(work.second[s] / sets.size + work.epsilon));
          apply_to(sets, set, apply);
        };
  });
}

void sum(NormalizeWork &work, const Tensor &x) {
  const Sets sets(work, x);
  sets.for_all([&](Buffers &buffers) {
    return
        [&, from = sets.elements(x, buffers[0])](int64_t, const Offsets &set) {
          work.first[set[1]] = sum_of(sets, from, set);
        };
  });
}

void squares(NormalizeWork &work, const Tensor &x) {
  const Sets sets(work, x);
  sets.for_all([&](Buffers &buffers) {
    return
        [&, from = sets.elements(x, buffers[0])](int64_t, const Offsets &set) {
          const int64_t s = set[1];
          work.second[s] = squares_of(sets, from, set, work.mean[s]);
        };
  });
}

namespace {

template <class Slope>
void gradient_by(NormalizeWork &work, const Tensor &dy, const Tensor &x,
                 const Backward &to, bool whole) {
  const Sets sets(work, dy, x, to.dx, to.addend);
  const bool parameters = to.dscale || to.dbias;
  constexpr int kFlush = 64; ///< sets added up in single precision
  for (int part = 0; part < work.parts; ++part) {
    ParameterSums(work, part).clear();
    work.pending[std::size_t(part)] = 0;
  }
  sets.for_all([&](Buffers &buffers) {
    return [&, of = Gradient(sets, dy, x, to, buffers)](int64_t part,
                                                        const Offsets &set) {
      ParameterSums sums(work, part);
      const Sums total = gradient_of<Slope>(sets, set, of, sums, parameters);
      work.first[set[1]] = total.a;
      work.second[set[1]] = total.b;
      if (whole && of.dx)
        data_of<Slope>(sets, set, of, Real(total.a / work.count),
                       Real(total.b / work.count));
      if (parameters && ++work.pending[std::size_t(part)] % kFlush == 0)
        sums.flush();
    };
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
      to.dscale[i] = Real(scale);
    if (to.dbias)
      to.dbias[i] = Real(bias);
  }
}

template <class Slope>
void data_by(NormalizeWork &work, const Tensor &dy, const Tensor &x,
             const Backward &to) {
  const Sets sets(work, dy, x, to.dx, to.addend);
  sets.for_all([&](Buffers &buffers) {
    return [&, of = Gradient(sets, dy, x, to, buffers)](int64_t,
                                                        const Offsets &set) {
      const int64_t s = set[1];
      data_of<Slope>(sets, set, of, Real(work.first[s] / work.count),
                     Real(work.second[s] / work.count));
    };
  });
}

} // namespace

void gradient(NormalizeWork &work, const Tensor &dy, const Tensor &x,
              const Backward &to, bool whole) {
  (work.cuts ? gradient_by<Cut> : gradient_by<NoCut>)(work, dy, x, to, whole);
}

void gradient_data(NormalizeWork &work, const Tensor &dy, const Tensor &x,
                   const Backward &to) {
  (work.cuts ? data_by<Cut> : data_by<NoCut>)(work, dy, x, to);
}

} // namespace ffrt::sets
