//===- softmax.cpp - softmax ----------------------------------------------===//
#include "ffrt/softmax.h"

#include "common/check.h"
#include "common/nest.h"
#include "ffrt/elementwise.h"

#include <algorithm>

namespace ffrt {

namespace {

void check_softmax(const char *kernel, Tensors in, Tensors out,
                   std::size_t operands, const Ints &axes, bool *normalised) {
  expect_count(kernel, "operands", in.size(), operands);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &y = out.begin()[0];
  expect_type(kernel, "result", y, DType::f32);
  for (const Tensor &x : in) {
    expect_type(kernel, "operand", x, DType::f32);
    expect_same_shape(kernel, "operand", x, y);
    expect_same_order(kernel, "operand", x, y);
  }
  for (int64_t axis : axes) {
    expect(kernel, axis >= 0 && axis < y.rank,
           "axes: expected dimensions of the operand, found " +
               std::to_string(axis));
    expect(kernel, y.shape[int(axis)] == y.global[int(axis)],
           "axes: expected whole dimensions, found dimension " +
               std::to_string(axis) + " split");
    normalised[axis] = true;
  }
}

/// The dimensions of `t` with `chosen` equal to `which`; the rest get extent 1.
Nest<1> part_of(const Tensor &t, const bool *chosen, bool which) {
  Index shape;
  for (int d = 0; d < t.rank; ++d)
    shape[d] = chosen[d] == which ? t.shape[d] : 1;
  return Nest<1>(t.rank, shape, {t.strides()});
}

/// Calls f(offset) for every set of jointly normalised elements.
template <class F>
void for_sets(const Nest<1> &outer, int64_t set_size, F &&f) {
  const int64_t n = outer.inner(), s = outer.inner_stride()[0];
  const int64_t grain = 1 + 16384 / std::max<int64_t>(set_size, 1);
  parallel_for(outer.rows() * n, grain, [&](int64_t begin, int64_t end) {
    for (int64_t set = begin; set < end;) {
      int64_t row = set / n, i = set % n;
      outer.for_rows(row, row + 1, [&](const Nest<1>::Offsets &at) {
        for (; i < n && set < end; ++i, ++set)
          f(at[0] + i * s);
      });
    }
  });
}

/// Calls f(offset) for every element of a set that starts at `base`.
template <class F>
void for_elements(const Nest<1> &inner, int64_t base, F &&f) {
  const int64_t n = inner.inner(), s = inner.inner_stride()[0];
  inner.for_rows(0, inner.rows(), [&](const Nest<1>::Offsets &at) {
    if (s == 1)
      for (int64_t i = 0; i < n; ++i)
        f(base + at[0] + i);
    else
      for (int64_t i = 0; i < n; ++i)
        f(base + at[0] + i * s);
  });
}

} // namespace

SoftmaxForward::SoftmaxForward(Context &, Tensors in, Tensors out,
                               const Ints &axes) {
  check_softmax("softmax forward", in, out, 1, axes, normalised);
}

void SoftmaxForward::operator()(Tensors in, Tensors out) {
  const float *x = in.begin()[0].as<float>();
  float *y = out.begin()[0].as<float>();
  const Nest<1> inner = part_of(out.begin()[0], normalised, true);
  const Nest<1> outer = part_of(out.begin()[0], normalised, false);
  for_sets(outer, inner.rows() * inner.inner(), [&](int64_t base) {
    float top = -__builtin_inff();
    for_elements(inner, base, [&](int64_t i) { top = std::max(top, x[i]); });
    for_elements(inner, base, [&](int64_t i) { y[i] = fast_exp(x[i] - top); });
    double sum = 0.0;
    for_elements(inner, base, [&](int64_t i) { sum += y[i]; });
    const float scale = float(1.0 / sum);
    for_elements(inner, base, [&](int64_t i) { y[i] *= scale; });
  });
}

SoftmaxBackward::SoftmaxBackward(Context &, Tensors in, Tensors out,
                                 const Ints &axes) {
  check_softmax("softmax backward", in, out, 2, axes, normalised);
}

void SoftmaxBackward::operator()(Tensors in, Tensors out) {
  const float *dy = in.begin()[0].as<float>(), *y = in.begin()[1].as<float>();
  float *dx = out.begin()[0].as<float>();
  const Nest<1> inner = part_of(out.begin()[0], normalised, true);
  const Nest<1> outer = part_of(out.begin()[0], normalised, false);
  for_sets(outer, inner.rows() * inner.inner(), [&](int64_t base) {
    double dot = 0.0;
    for_elements(inner, base,
                 [&](int64_t i) { dot += double(dy[i]) * double(y[i]); });
    for_elements(inner, base,
                 [&](int64_t i) { dx[i] = y[i] * (dy[i] - float(dot)); });
  });
}

} // namespace ffrt
