//===- loss.cpp - loss functions ------------------------------------------===//
#include "ffrt/loss.h"

#include "common/loss.h"
#include "ffrt/error.h"
#include "ffrt/fast_math.h"

#include <algorithm>
#include <cmath>

namespace ffrt {

namespace {

/// log of the sum of exp over the classes, relative to the largest logit.
struct LogSum {
  float top;
  double sum;
  LogSum(const float *x, int64_t n, int64_t s) : top(x[0]), sum(0.0) {
    for (int64_t c = 1; c < n; ++c)
      top = std::max(top, x[c * s]);
    for (int64_t c = 0; c < n; ++c)
      sum += fast_exp(x[c * s] - top);
  }
};

/// Sums f(a, b) over the tile in a fixed order.
template <class F> double sum_pairs(const Tensor &a, const Tensor &b, F f) {
  const Nest<2> nest(a.rank, a.shape, {a.strides(), b.strides()});
  const Nest<2>::Offsets s = nest.inner_stride();
  double sum = 0.0;
  nest.for_rows(0, nest.rows(), [&](const Nest<2>::Offsets &at) {
    const float *x = a.as<float>() + at[0], *y = b.as<float>() + at[1];
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
    float *to = result.as<float>() + at[0];
    const float *x = a.as<float>() + at[1], *y = b.as<float>() + at[2];
    for (int64_t i = 0; i < n; ++i)
      to[i * s[0]] = f(x[i * s[1]], y[i * s[2]]);
  });
}

} // namespace

void CrossEntropyForward::operator()(Tensors in, Tensors out) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1];
  const Nest<3> nest = loss_samples(logits, target, logits, axis);
  const Nest<3>::Offsets s = nest.inner_stride();
  const int64_t classes = logits.shape[axis], cs = logits.strides()[axis];
  double loss = 0.0;
  nest.for_rows(0, nest.rows(), [&](const Nest<3>::Offsets &at) {
    for (int64_t i = 0; i < nest.inner(); ++i) {
      const float *x = logits.as<float>() + at[1] + i * s[1];
      const int64_t label = target.as<int32_t>()[at[0] + i * s[0]];
      // Targets that are no input of the program are checked nowhere else.
      if (label < 0 || label >= classes)
        throw Error("cross entropy forward: expected targets from 0 to " +
                    std::to_string(classes - 1) + ", found " +
                    std::to_string(label));
      const LogSum all(x, classes, cs);
      loss += std::log(all.sum) + double(all.top) - double(x[label * cs]);
    }
  });
  *out.begin()->as<float>() = float(loss / global_elements(target));
}

void CrossEntropyBackward::operator()(Tensors in, Tensors out) {
  const Tensor &logits = in.begin()[0], &target = in.begin()[1];
  const Tensor &gradient = out.begin()[0];
  const Nest<3> nest = loss_samples(logits, target, gradient, axis);
  const Nest<3>::Offsets s = nest.inner_stride();
  const int64_t classes = logits.shape[axis], cs = logits.strides()[axis];
  const int64_t gs = gradient.strides()[axis];
  const float share = float(1.0 / global_elements(target));
  nest.run([&](const Nest<3>::Offsets &at, int64_t n) {
    for (int64_t i = 0; i < n; ++i) {
      const float *x = logits.as<float>() + at[1] + i * s[1];
      float *g = gradient.as<float>() + at[2] + i * s[2];
      const int64_t label = target.as<int32_t>()[at[0] + i * s[0]];
      const LogSum all(x, classes, cs);
      const float scale = float(double(share) / all.sum);
      for (int64_t c = 0; c < classes; ++c)
        g[c * gs] = fast_exp(x[c * cs] - all.top) * scale;
      g[label * gs] -= share;
    }
  });
}

void MseForward::operator()(Tensors in, Tensors out) {
  double sum = sum_pairs(in.begin()[0], in.begin()[1],
                         [](double y, double t) { return (y - t) * (y - t); });
  *out.begin()->as<float>() = float(sum / global_elements(in.begin()[1]));
}

void MseBackward::operator()(Tensors in, Tensors out) {
  const float scale = float(2.0 / global_elements(in.begin()[1]));
  map_pairs(out.begin()[0], in.begin()[0], in.begin()[1],
            [=](float y, float t) { return scale * (y - t); });
}

void BceForward::operator()(Tensors in, Tensors out) {
  double sum = sum_pairs(in.begin()[0], in.begin()[1], [](double x, double t) {
    return std::max(x, 0.0) - x * t + std::log1p(std::exp(-std::abs(x)));
  });
  *out.begin()->as<float>() = float(sum / global_elements(in.begin()[1]));
}

void BceBackward::operator()(Tensors in, Tensors out) {
  const float scale = float(1.0 / global_elements(in.begin()[1]));
  map_pairs(out.begin()[0], in.begin()[0], in.begin()[1],
            [=](float x, float t) { return scale * (fast_logistic(x) - t); });
}

} // namespace ffrt
