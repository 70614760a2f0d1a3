//===- loss.cpp - losses element by element -------------------------------===//
#include "ffrt/loss.h"

#include "common/kernels/nest.h"
#include "common/loss/loss.h"
#include "ffrt/fast_math.h"

#include <algorithm>
#include <cmath>

namespace ffrt {

namespace {

/// Sums f(a, b) over the tile in a fixed order.
template <class F> double sum_pairs(const Tensor &a, const Tensor &b, F f) {
  const Nest<2> nest(a.rank, a.shape, {a.strides(), b.strides()});
  const Nest<2>::Offsets s = nest.inner_stride();
  double sum = 0.0;
  nest.for_rows(0, nest.rows(), [&](const Nest<2>::Offsets &at) {
    const Real *x = a.as<Real>() + at[0], *y = b.as<Real>() + at[1];
    for (int64_t i = 0; i < nest.inner(); ++i)
      sum += f(double(x[i * s[0]]), double(y[i * s[1]]));
  });
  return sum;
}

/// result = f(a, b) for every element of the tile.
template <class F>
void map_pairs(const Tensor &result, const Tensor &a, const Tensor &b, F f) {
  const Nest<3> nest(a.rank, a.shape,
                     {result.strides(), a.strides(), b.strides()});
  const Nest<3>::Offsets s = nest.inner_stride();
  nest.run([&](const Nest<3>::Offsets &at, int64_t n) {
    Real *to = result.as<Real>() + at[0];
    const Real *x = a.as<Real>() + at[1], *y = b.as<Real>() + at[2];
    for (int64_t i = 0; i < n; ++i)
      to[i * s[0]] = f(x[i * s[1]], y[i * s[2]]);
  });
}

} // namespace

void MseForward::operator()(Tensors in, Tensors out) {
  double sum = sum_pairs(in.begin()[0], in.begin()[1],
                         [](double y, double t) { return (y - t) * (y - t); });
  *out.begin()->as<Real>() = Real(sum / global_elements(in.begin()[1]));
}

void MseBackward::operator()(Tensors in, Tensors out) {
  const Real scale = Real(2.0 / global_elements(in.begin()[1]));
  map_pairs(out.begin()[0], in.begin()[0], in.begin()[1],
            [=](Real y, Real t) { return scale * (y - t); });
}

void BceForward::operator()(Tensors in, Tensors out) {
  double sum = sum_pairs(in.begin()[0], in.begin()[1], [](double x, double t) {
    return std::max(x, 0.0) - x * t + std::log1p(std::exp(-std::abs(x)));
  });
  *out.begin()->as<Real>() = Real(sum / global_elements(in.begin()[1]));
}

void BceBackward::operator()(Tensors in, Tensors out) {
  const Real scale = Real(1.0 / global_elements(in.begin()[1]));
  map_pairs(out.begin()[0], in.begin()[0], in.begin()[1],
            [=](Real x, Real t) { return scale * (fast_logistic(x) - t); });
}

} // namespace ffrt
