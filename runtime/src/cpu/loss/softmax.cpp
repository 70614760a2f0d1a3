//===- softmax.cpp - softmax and its logarithm ----------------------------===//
#include "ffrt/softmax.h"

#include "common/elementwise/cast.h"
#include "common/loss/softmax.h"
#include "cpu/loss/exponentials.h"

#include <algorithm>
#include <cmath>

namespace ffrt {

namespace {

//===----------------------------------------------------------------------===//
// Geometry
//===----------------------------------------------------------------------===//

/// The sets of jointly normalised elements of a tensor, each made of runs.
struct Sets {
  Nest<2> outer, inner;

  Sets(const Tensor &x, const bool *normalised)
      : outer(softmax_nest(x, normalised, false)),
        inner(softmax_nest(x, normalised, true)) {}

  /// Calls f(offset, number) for every set, on threads.
  template <class F> void for_all(F &&f) const {
    const int64_t n = outer.inner();
    const Nest<2>::Offsets s = outer.inner_stride();
    const int64_t grain =
        1 + 16384 / std::max<int64_t>(inner.rows() * inner.inner(), 1);
    parallel_for(outer.rows() * n, grain, [&](int64_t begin, int64_t end) {
      for (int64_t set = begin; set < end;) {
        int64_t row = set / n, i = set % n;
        outer.for_rows(row, row + 1, [&](const Nest<2>::Offsets &at) {
          for (; i < n && set < end; ++i, ++set)
            f(at[0] + i * s[0], at[1] + i * s[1]);
        });
      }
    });
  }

  /// Calls f(offset, n, stride) for the runs of a set.
  template <class F> void for_runs(int64_t set, F &&f) const {
    const int64_t n = inner.inner(), s = inner.inner_stride()[0];
    inner.for_rows(0, inner.rows(), [&](const Nest<2>::Offsets &at) {
      with_stride(s, [&](auto stride) { f(set + at[0], n, stride); });
    });
  }
};

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

template <class X> Real top_of(const Sets &sets, const X *x, int64_t set) {
  Real top = -__builtin_inff();
  sets.for_runs(set, [&](int64_t at, int64_t n, auto s) {
    top = max_of(x + at, n, s, top);
  });
  return top;
}

template <class X>
double sum_of(const Sets &sets, const X *x, int64_t set, Real top) {
  double sum = 0;
  sets.for_runs(set, [&](int64_t at, int64_t n, auto s) {
    sum += sum_of_exp(x + at, n, s, top);
  });
  return sum;
}

void apply(const Sets &sets, const Real *x, Real *y, int64_t set, Real top,
           double sum, bool log) {
  const auto factor = Real(1.0 / sum), offset = Real(std::log(sum));
  sets.for_runs(set, [&](int64_t at, int64_t n, auto s) {
    const Real *p = x + at;
    Real *q = y + at;
    if (log)
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        q[i * s] = (p[i * s] - top) - offset;
    else
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        q[i * s] = fast_exp(p[i * s] - top) * factor;
  });
}

/// Of dy * y, of dy if `log`.
double gradient_sum(const Sets &sets, const Real *dy, const Real *y,
                    int64_t set, bool log) {
  double sum = 0;
  sets.for_runs(set, [&](int64_t at, int64_t n, auto s) {
    const Real *g = dy + at, *p = y + at;
    sum += log ? sum_over(n, [=](int64_t i) { return g[i * s]; })
               : sum_over(n, [=](int64_t i) { return g[i * s] * p[i * s]; });
  });
  return sum;
}

void apply_gradient(const Sets &sets, const Real *dy, const Real *y, Real *dx,
                    int64_t set, Real sum, bool log) {
  sets.for_runs(set, [&](int64_t at, int64_t n, auto s) {
    const Real *g = dy + at, *p = y + at;
    Real *q = dx + at;
    if (log)
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        q[i * s] = g[i * s] - fast_exp(p[i * s]) * sum;
    else
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        q[i * s] = p[i * s] * (g[i * s] - sum);
  });
}

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

const Real *data(Tensors tensors, int i) {
  return tensors.begin()[i].as<Real>();
}
Real *result(Tensors tensors) { return tensors.begin()->as<Real>(); }

} // namespace

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

void SoftmaxForward::operator()(Tensors in, Tensors out) {
  const Sets sets(*in.begin(), normalised);
  const Real *x = data(in, 0);
  Real *y = result(out);
  sets.for_all([&](int64_t set, int64_t) {
    const Real top = top_of(sets, x, set);
    if (log)
      return apply(sets, x, y, set, top, sum_of(sets, x, set, top), true);
    // The exponentials are kept, which saves computing them twice.
    double sum = 0;
    sets.for_runs(set, [&](int64_t at, int64_t n, auto s) {
      sum += store_exp(x + at, n, s, top, y + at, s);
    });
    const auto factor = Real(1.0 / sum);
    sets.for_runs(set, [&](int64_t at, int64_t n, auto s) {
      Real *q = y + at;
      for (int64_t i = 0; i < n; ++i)
        q[i * s] *= factor;
    });
  });
}

void SoftmaxMax::operator()(Tensors in, Tensors out) {
  const Sets sets(*in.begin(), normalised);
  with_data(
      [&](const auto *x) {
        sets.for_all([&](int64_t set, int64_t s) {
          result(out)[s] = top_of(sets, x, set);
        });
      },
      *in.begin());
}

void SoftmaxSum::operator()(Tensors in, Tensors out) {
  const Sets sets(*in.begin(), normalised);
  with_data(
      [&](const auto *x) {
        sets.for_all([&](int64_t set, int64_t s) {
          result(out)[s] = Real(sum_of(sets, x, set, data(in, 1)[s]));
        });
      },
      *in.begin());
}

void SoftmaxApply::operator()(Tensors in, Tensors out) {
  const Sets sets(*in.begin(), normalised);
  sets.for_all([&](int64_t set, int64_t s) {
    apply(sets, data(in, 0), result(out), set, data(in, 1)[s], data(in, 2)[s],
          log);
  });
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

void SoftmaxBackward::operator()(Tensors in, Tensors out) {
  const Sets sets(*in.begin(), normalised);
  const Real *dy = data(in, 0), *y = data(in, 1);
  sets.for_all([&](int64_t set, int64_t) {
    const auto sum = Real(gradient_sum(sets, dy, y, set, log));
    apply_gradient(sets, dy, y, result(out), set, sum, log);
  });
}

void SoftmaxBackwardSum::operator()(Tensors in, Tensors out) {
  const Sets sets(*in.begin(), normalised);
  sets.for_all([&](int64_t set, int64_t s) {
    result(out)[s] =
        Real(gradient_sum(sets, data(in, 0), data(in, 1), set, log));
  });
}

void SoftmaxBackwardApply::operator()(Tensors in, Tensors out) {
  const Sets sets(*in.begin(), normalised);
  sets.for_all([&](int64_t set, int64_t s) {
    apply_gradient(sets, data(in, 0), data(in, 1), result(out), set,
                   data(in, 2)[s], log);
  });
}

} // namespace ffrt
