//===- softmax.cpp - softmax and its logarithm ----------------------------===//
#include "ffrt/softmax.h"

#include "common/check.h"
#include "common/nest.h"
#include "cpu/lanes.h"
#include "ffrt/elementwise.h"

#include <algorithm>
#include <cmath>

namespace ffrt {

namespace {

//===----------------------------------------------------------------------===//
// Geometry
//===----------------------------------------------------------------------===//

/// Distances in a tensor that lacks the normalised dimensions, and its size.
Index strides_without(const Tensor &x, const bool *normalised,
                      int64_t &elements) {
  Index strides;
  elements = 1;
  for (int d = x.rank - 1; d >= 0; --d)
    if (!normalised[d]) {
      strides[d] = elements;
      elements *= x.shape[d];
    }
  return strides;
}

/// The dimensions of `x` with `chosen` equal to `which`; the rest get extent 1.
Nest<2> part_of(const Tensor &x, const bool *chosen, bool which) {
  Index shape;
  for (int d = 0; d < x.rank; ++d)
    shape[d] = chosen[d] == which ? x.shape[d] : 1;
  int64_t elements;
  return Nest<2>(x.rank, shape,
                 {x.strides(), strides_without(x, chosen, elements)});
}

/// The sets of jointly normalised elements of a tensor, each made of runs.
struct Sets {
  Nest<2> outer, inner;

  Sets(const Tensor &x, const bool *normalised)
      : outer(part_of(x, normalised, false)),
        inner(part_of(x, normalised, true)) {}

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

  /// Calls f(offset, n, stride) for the runs of a set; the stride is a constant
  /// if it is 1, so that loops vectorise.
  template <class F> void for_runs(int64_t set, F &&f) const {
    const int64_t n = inner.inner(), s = inner.inner_stride()[0];
    inner.for_rows(0, inner.rows(), [&](const Nest<2>::Offsets &at) {
      if (s == 1)
        f(set + at[0], n, std::integral_constant<int64_t, 1>());
      else
        f(set + at[0], n, s);
    });
  }
};

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

float max_of(const Sets &sets, const float *x, int64_t set) {
  float top = -__builtin_inff();
  sets.for_runs(set, [&](int64_t at, int64_t n, auto s) {
    const float *p = x + at;
    top = max_over(n, top, [=](int64_t i) { return p[i * s]; });
  });
  return top;
}

double sum_of(const Sets &sets, const float *x, int64_t set, float top) {
  double sum = 0;
  sets.for_runs(set, [&](int64_t at, int64_t n, auto s) {
    const float *p = x + at;
    sum += sum_over(n, [=](int64_t i) { return fast_exp(p[i * s] - top); });
  });
  return sum;
}

void apply(const Sets &sets, const float *x, float *y, int64_t set, float top,
           double sum, bool log) {
  const auto factor = float(1.0 / sum), offset = float(std::log(sum));
  sets.for_runs(set, [&](int64_t at, int64_t n, auto s) {
    const float *p = x + at;
    float *q = y + at;
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
double gradient_sum(const Sets &sets, const float *dy, const float *y,
                    int64_t set, bool log) {
  double sum = 0;
  sets.for_runs(set, [&](int64_t at, int64_t n, auto s) {
    const float *g = dy + at, *p = y + at;
    sum += log ? sum_over(n, [=](int64_t i) { return g[i * s]; })
               : sum_over(n, [=](int64_t i) { return g[i * s] * p[i * s]; });
  });
  return sum;
}

void apply_gradient(const Sets &sets, const float *dy, const float *y,
                    float *dx, int64_t set, float sum, bool log) {
  sets.for_runs(set, [&](int64_t at, int64_t n, auto s) {
    const float *g = dy + at, *p = y + at;
    float *q = dx + at;
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
// Checks
//===----------------------------------------------------------------------===//

const float *data(Tensors tensors, int i) {
  return tensors.begin()[i].as<float>();
}
float *result(Tensors tensors) { return tensors.begin()->as<float>(); }

/// The first `whole` operands have x's shape, the others lack the normalised
/// dimensions; `kept` tells which of these the result is like.
void check(const char *kernel, Tensors in, Tensors out, std::size_t whole,
           std::size_t all, bool kept, const bool *normalised) {
  expect_count(kernel, "operands", in.size(), all);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &x = in.begin()[0];
  auto check_one = [&](const char *name, const Tensor &t, bool is_whole) {
    expect_type(kernel, name, t, DType::f32);
    if (is_whole) {
      expect_same_shape(kernel, name, t, x);
      expect_same_order(kernel, name, t, x);
      return;
    }
    int64_t elements;
    strides_without(x, normalised, elements);
    expect_row_major(kernel, name, t);
    expect(kernel, t.elements() == elements,
           std::string(name) + ": expected " + std::to_string(elements) +
               " elements, found " + std::to_string(t.elements()));
  };
  for (std::size_t i = 0; i < all; ++i)
    check_one("operand", in.begin()[i], i < whole);
  check_one("result", out.begin()[0], !kept);
}

void expect_whole(const char *kernel, const Tensor &x, const Ints &axes) {
  for (int64_t axis : axes)
    expect(kernel, x.shape[int(axis)] == x.global[int(axis)],
           "axes: expected whole dimensions, found dimension " +
               std::to_string(axis) + " split");
}

} // namespace

SoftmaxKernel::SoftmaxKernel(const Tensor &x, const Ints &axes, int64_t log)
    : log(log != 0) {
  for (int64_t axis : axes) {
    expect("softmax", axis >= 0 && axis < x.rank,
           "axes: expected dimensions of the operand, found " +
               std::to_string(axis));
    normalised[axis] = true;
  }
}

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

SoftmaxForward::SoftmaxForward(Context &, Tensors in, Tensors out,
                               const Ints &axes, int64_t log)
    : SoftmaxKernel(*out.begin(), axes, log) {
  check("softmax forward", in, out, 1, 1, false, normalised);
  expect_whole("softmax forward", *in.begin(), axes);
}

void SoftmaxForward::operator()(Tensors in, Tensors out) {
  const Sets sets(*in.begin(), normalised);
  const float *x = data(in, 0);
  float *y = result(out);
  sets.for_all([&](int64_t set, int64_t) {
    const float top = max_of(sets, x, set);
    if (log)
      return apply(sets, x, y, set, top, sum_of(sets, x, set, top), true);
    // The exponentials are kept, which saves computing them twice.
    double sum = 0;
    sets.for_runs(set, [&](int64_t at, int64_t n, auto s) {
      const float *p = x + at;
      float *q = y + at;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        q[i * s] = fast_exp(p[i * s] - top);
      sum += sum_over(n, [=](int64_t i) { return q[i * s]; });
    });
    const auto factor = float(1.0 / sum);
    sets.for_runs(set, [&](int64_t at, int64_t n, auto s) {
      float *q = y + at;
      for (int64_t i = 0; i < n; ++i)
        q[i * s] *= factor;
    });
  });
}

SoftmaxMax::SoftmaxMax(Context &, Tensors in, Tensors out, const Ints &axes,
                       int64_t log)
    : SoftmaxKernel(*in.begin(), axes, log) {
  check("softmax max", in, out, 1, 1, true, normalised);
}

void SoftmaxMax::operator()(Tensors in, Tensors out) {
  const Sets sets(*in.begin(), normalised);
  sets.for_all([&](int64_t set, int64_t s) {
    result(out)[s] = max_of(sets, data(in, 0), set);
  });
}

SoftmaxSum::SoftmaxSum(Context &, Tensors in, Tensors out, const Ints &axes,
                       int64_t log)
    : SoftmaxKernel(*in.begin(), axes, log) {
  check("softmax sum", in, out, 1, 2, true, normalised);
}

void SoftmaxSum::operator()(Tensors in, Tensors out) {
  const Sets sets(*in.begin(), normalised);
  sets.for_all([&](int64_t set, int64_t s) {
    result(out)[s] = float(sum_of(sets, data(in, 0), set, data(in, 1)[s]));
  });
}

SoftmaxApply::SoftmaxApply(Context &, Tensors in, Tensors out, const Ints &axes,
                           int64_t log)
    : SoftmaxKernel(*in.begin(), axes, log) {
  check("softmax apply", in, out, 1, 3, false, normalised);
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

SoftmaxBackward::SoftmaxBackward(Context &, Tensors in, Tensors out,
                                 const Ints &axes, int64_t log)
    : SoftmaxKernel(*out.begin(), axes, log) {
  check("softmax backward", in, out, 2, 2, false, normalised);
  expect_whole("softmax backward", *in.begin(), axes);
}

void SoftmaxBackward::operator()(Tensors in, Tensors out) {
  const Sets sets(*in.begin(), normalised);
  const float *dy = data(in, 0), *y = data(in, 1);
  sets.for_all([&](int64_t set, int64_t) {
    const auto sum = float(gradient_sum(sets, dy, y, set, log));
    apply_gradient(sets, dy, y, result(out), set, sum, log);
  });
}

SoftmaxBackwardSum::SoftmaxBackwardSum(Context &, Tensors in, Tensors out,
                                       const Ints &axes, int64_t log)
    : SoftmaxKernel(*in.begin(), axes, log) {
  check("softmax backward sum", in, out, 2, 2, true, normalised);
}

void SoftmaxBackwardSum::operator()(Tensors in, Tensors out) {
  const Sets sets(*in.begin(), normalised);
  sets.for_all([&](int64_t set, int64_t s) {
    result(out)[s] =
        float(gradient_sum(sets, data(in, 0), data(in, 1), set, log));
  });
}

SoftmaxBackwardApply::SoftmaxBackwardApply(Context &, Tensors in, Tensors out,
                                           const Ints &axes, int64_t log)
    : SoftmaxKernel(*in.begin(), axes, log) {
  check("softmax backward apply", in, out, 2, 3, false, normalised);
}

void SoftmaxBackwardApply::operator()(Tensors in, Tensors out) {
  const Sets sets(*in.begin(), normalised);
  sets.for_all([&](int64_t set, int64_t s) {
    apply_gradient(sets, data(in, 0), data(in, 1), result(out), set,
                   data(in, 2)[s], log);
  });
}

} // namespace ffrt
