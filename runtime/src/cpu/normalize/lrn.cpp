//===- lrn.cpp - local response normalisation -----------------------------===//
#include "ffrt/lrn.h"

#include "common/kernels/nest.h"
#include "common/normalize/lrn.h"

#include <algorithm>
#include <cmath>
#include <omp.h>
#include <vector>

namespace ffrt {

namespace {

/// x^-beta. The usual exponent is spelt with square roots, which vectorise.
void inverse_power(const Real *x, Real *y, int64_t n, Real beta) {
  if (beta == 0.75f) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) {
      Real root = std::sqrt(x[i]);
      y[i] = 1.0f / (root * std::sqrt(root));
    }
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    y[i] = std::pow(x[i], -beta);
}

/// All positions but the channel, over tensors that differ in channels only.
template <int K>
Nest<K> positions(const Tensor &like, const std::array<Index, K> &strides) {
  Index shape = like.shape;
  shape[1] = 1;
  return Nest<K>(like.rank, shape, strides);
}

/// Calls f(position offsets) for all positions of the nest, on threads.
template <int K, class F>
void for_positions(const Nest<K> &nest, int64_t work, F &&f) {
  const auto s = nest.inner_stride();
  const int64_t n = nest.inner();
  parallel_for(nest.rows() * n, 1 + 8192 / work,
               [&](int64_t begin, int64_t end) {
                 for (int64_t p = begin; p < end;) {
                   int64_t row = p / n, i = p % n;
                   nest.for_rows(row, row + 1, [&](auto at) {
                     for (; i < n && p < end; ++i, ++p) {
                       auto here = at;
                       for (int k = 0; k < K; ++k)
                         here[k] += i * s[k];
                       f(here);
                     }
                   });
                 }
               });
}

constexpr int64_t kBlock = 64; ///< channels handled at a time

} // namespace

void LrnForward::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0], &scale = out.begin()[1];
  const int64_t channels = y.shape[1], cs = y.strides()[1];
  const int64_t xs = x.strides()[1], start = y.lo[1] - x.lo[1];
  const auto nest = positions<2>(y, {y.strides(), x.strides()});
  for_positions(nest, channels * (below + above + 1), [&](auto at) {
    const Real *px = x.as<Real>() + at[1];
    Real *py = y.as<Real>() + at[0];
    Real *ps = scale.data ? scale.as<Real>() + at[0] : nullptr;
    for (int64_t c0 = 0; c0 < channels; c0 += kBlock) {
      const int64_t n = std::min(kBlock, channels - c0), first = start + c0;
      Real sum[kBlock] = {}, power[kBlock];
      for (int64_t d = -below; d <= above; ++d) {
        int64_t i0 = std::max<int64_t>(0, -(first + d));
        int64_t i1 = std::min(n, x.shape[1] - first - d);
        const Real *p = px + (first + d) * xs;
        if (xs == 1)
          for (int64_t i = i0; i < i1; ++i)
            sum[i] += p[i] * p[i];
        else
          for (int64_t i = i0; i < i1; ++i)
            sum[i] += p[i * xs] * p[i * xs];
      }
      for (int64_t i = 0; i < n; ++i)
        sum[i] = bias + alpha * sum[i];
      inverse_power(sum, power, n, beta);
      for (int64_t i = 0; i < n; ++i)
        py[(c0 + i) * cs] = px[(first + i) * xs] * power[i];
      if (ps)
        for (int64_t i = 0; i < n; ++i)
          ps[(c0 + i) * cs] = sum[i];
    }
  });
}

struct LrnBackward::Plan {
  std::vector<Real> scratch; ///< two lines of channels per thread
};

LrnBackward::LrnBackward(Context &, Tensors in, Tensors out, double alpha,
                         double beta, double bias, int64_t size)
    : LrnWindow(check_lrn_backward(in, out, alpha, beta, bias, size)),
      plan(std::make_shared<Plan>()) {
  plan->scratch.resize(std::size_t(omp_get_max_threads()) * 2 *
                       std::size_t(in.begin()->shape[1]));
}

void LrnBackward::operator()(Tensors in, Tensors out) {
  const Tensor &dy = in.begin()[0], &x = in.begin()[1], &scale = in.begin()[2],
               &dx = out.begin()[0];
  const int64_t channels = dx.shape[1], all = dy.shape[1];
  const int64_t cs = dx.strides()[1], ys = dy.strides()[1];
  const int64_t start = dx.lo[1] - dy.lo[1];
  const auto nest = positions<2>(dx, {dx.strides(), dy.strides()});
  for_positions(nest, channels * (below + above + 1), [&](auto at) {
    Real *power = plan->scratch.data() + omp_get_thread_num() * 2 * all;
    Real *term = power + all;
    const Real *py = dy.as<Real>() + at[1], *px = x.as<Real>() + at[1];
    const Real *ps = scale.as<Real>() + at[1];
    Real *to = dx.as<Real>() + at[0];
    for (int64_t j = 0; j < all; ++j)
      term[j] = ps[j * ys];
    inverse_power(term, power, all, beta);
#pragma GCC ivdep
    for (int64_t j = 0; j < all; ++j)
      term[j] = py[j * ys] * px[j * ys] * power[j] / term[j];
    for (int64_t c0 = 0; c0 < channels; c0 += kBlock) {
      const int64_t n = std::min(kBlock, channels - c0), first = start + c0;
      Real sum[kBlock] = {};
      for (int64_t d = -above; d <= below; ++d) {
        int64_t i0 = std::max<int64_t>(0, -(first + d));
        int64_t i1 = std::min(n, all - first - d);
        const Real *p = term + first + d;
        for (int64_t i = i0; i < i1; ++i)
          sum[i] += p[i];
      }
      for (int64_t i = 0; i < n; ++i) {
        int64_t j = first + i;
        to[(c0 + i) * cs] = py[j * ys] * power[j] - alpha * px[j * ys] * sum[i];
      }
    }
  });
}

} // namespace ffrt
