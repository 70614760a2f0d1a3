//===- optimizer.cpp - parameter updates ----------------------------------===//
#include "ffrt/optimizer.h"

#include "common/cast.h"
#include "common/optimizer.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <cmath>

namespace ffrt {

namespace {

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

/// What every update works on.
struct Parameter {
  float *w;
  const float *g;
  float scale;
  int64_t n;

  explicit Parameter(Tensors in)
      : w(in.begin()[0].as<float>()), g(in.begin()[1].as<float>()),
        scale(in.begin()[2].data ? *in.begin()[2].as<float>() : 1.0f),
        n(in.begin()[0].elements()) {}
};

float *slot(Tensors in, int i) { return in.begin()[3 + i].as<float>(); }

/// Does the step change nothing?
bool is_skipped(Tensors in) { return !is_finite(Parameter(in).scale); }

/// The number of the step, from 1 on, without those that were skipped.
double step_of(const Context &cx, Tensors in) {
  const Tensor &scale = in.begin()[2];
  const double skipped =
      scale.elements() == 2 ? double(scale.as<float>()[1]) : 0.0;
  return double(cx.step + 1) - skipped;
}

/// Writes w rounded where that is a result.
void write_rounded(Tensors in, Tensors out) {
  if (has_rounded(in, out))
    cast_elements(in.begin()[0], out.begin()[out.size() - 1]);
}

/// Calls f(i) for all elements; vectorised.
template <class F> void for_elements(int64_t n, F &&f) {
  parallel_for(n, 16384, [=](int64_t begin, int64_t end) {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i)
      f(i);
  });
}

//===----------------------------------------------------------------------===//
// Sums
//===----------------------------------------------------------------------===//

/// partial[width * block] on: what f(begin, end, sums) finds for the elements
/// of a block; returns nothing until they are added up in order.
template <class F>
void for_blocks(int64_t n, int width, double *partial, F &&f) {
  parallel_for(sum_blocks(n), 2, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block)
      f(block * kSumBlock, std::min(n, (block + 1) * kSumBlock),
        partial + block * width);
  });
}

double total(const double *partial, int64_t n, int width, int which) {
  double sum = 0;
  for (int64_t block = 0; block < sum_blocks(n); ++block)
    sum += partial[block * width + which];
  return sum;
}

//===----------------------------------------------------------------------===//
// Two moments
//===----------------------------------------------------------------------===//

/// The direction of an element; changes its moments.
struct Moments {
  float beta1, beta2, epsilon, first, second;

  /// `step`: its number, from 1 on.
  Moments(const MomentNumbers &numbers, double step)
      : beta1(float(numbers.beta1)), beta2(float(numbers.beta2)),
        epsilon(float(numbers.epsilon)),
        first(float(1 / (1 - std::pow(numbers.beta1, step)))),
        second(float(1 / (1 - std::pow(numbers.beta2, step)))) {}

  float operator()(float slope, float &m, float &v) const {
    m = beta1 * m + (1.0f - beta1) * slope;
    v = beta2 * v + (1.0f - beta2) * slope * slope;
    return first * m / (std::sqrt(second * v) + epsilon);
  }
};

} // namespace

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

void SgdUpdate::operator()(Tensors in, Tensors out) {
  if (is_skipped(in))
    return;
  const auto [w, g, scale, n] = Parameter(in);
  const float rate = float(cx.learning_rate), decay = float(cx.weight_decay);
  if (in.size() == 3) {
    for_elements(n, [=, w = w, g = g, scale = scale](int64_t i) {
      w[i] -= rate * (scale * g[i] + decay * w[i]);
    });
    return write_rounded(in, out);
  }
  float *v = slot(in, 0);
  for_elements(n, [=, w = w, g = g, scale = scale, mu = momentum,
                   ahead = nesterov](int64_t i) {
    float slope = scale * g[i] + decay * w[i];
    float speed = mu * v[i] + slope;
    v[i] = speed;
    w[i] -= rate * (ahead ? slope + mu * speed : speed);
  });
  write_rounded(in, out);
}

void AdamUpdate::operator()(Tensors in, Tensors out) {
  if (is_skipped(in))
    return;
  const auto [w, g, scale, n] = Parameter(in);
  const float rate = float(cx.learning_rate), decay = float(cx.weight_decay);
  float *m = slot(in, 0), *v = slot(in, 1);
  for_elements(n, [=, w = w, g = g, scale = scale,
                   moments = Moments(numbers, step_of(cx, in))](int64_t i) {
    w[i] -= rate * moments(scale * g[i] + decay * w[i], m[i], v[i]);
  });
  write_rounded(in, out);
}

void AdamwUpdate::operator()(Tensors in, Tensors out) {
  if (is_skipped(in))
    return;
  const auto [w, g, scale, n] = Parameter(in);
  const float rate = float(cx.learning_rate), decay = float(cx.weight_decay);
  float *m = slot(in, 0), *v = slot(in, 1);
  for_elements(n, [=, w = w, g = g, scale = scale,
                   moments = Moments(numbers, step_of(cx, in))](int64_t i) {
    w[i] -= rate * (moments(scale * g[i], m[i], v[i]) + decay * w[i]);
  });
  write_rounded(in, out);
}

void HfAdamwUpdate::operator()(Tensors in, Tensors out) {
  if (is_skipped(in))
    return;
  const auto [w, g, scale, n] = Parameter(in);
  const float rate = float(cx.learning_rate), decay = float(cx.weight_decay);
  float *m = slot(in, 0), *v = slot(in, 1);
  // An epsilon beside the corrected root that does the same.
  const double step = step_of(cx, in);
  MomentNumbers corrected = numbers;
  corrected.epsilon /= std::sqrt(1 - std::pow(numbers.beta2, step));
  for_elements(n, [=, w = w, g = g, scale = scale,
                   moments = Moments(corrected, step)](int64_t i) {
    w[i] -= rate * moments(scale * g[i], m[i], v[i]);
    w[i] -= rate * decay * w[i];
  });
  write_rounded(in, out);
}

void AdagradUpdate::operator()(Tensors in, Tensors out) {
  if (is_skipped(in))
    return;
  const auto [w, g, scale, n] = Parameter(in);
  const float rate = float(cx.learning_rate), decay = float(cx.weight_decay);
  float *s = slot(in, 0);
  for_elements(n,
               [=, w = w, g = g, scale = scale, epsilon = epsilon](int64_t i) {
                 float slope = scale * g[i] + decay * w[i];
                 s[i] += slope * slope;
                 w[i] -= rate * slope / (std::sqrt(s[i]) + epsilon);
               });
  write_rounded(in, out);
}

void RmspropUpdate::operator()(Tensors in, Tensors out) {
  if (is_skipped(in))
    return;
  const auto [w, g, scale, n] = Parameter(in);
  const float rate = float(cx.learning_rate), decay = float(cx.weight_decay);
  float *s = slot(in, 0);
  auto direction = [=, w = w, g = g, scale = scale, alpha = alpha,
                    epsilon = epsilon](int64_t i) {
    float slope = scale * g[i] + decay * w[i];
    s[i] = alpha * s[i] + (1.0f - alpha) * slope * slope;
    return slope / (std::sqrt(s[i]) + epsilon);
  };
  if (in.size() == 4) {
    for_elements(n, [=, w = w](int64_t i) { w[i] -= rate * direction(i); });
    return write_rounded(in, out);
  }
  float *v = slot(in, 1);
  for_elements(n, [=, w = w, mu = momentum](int64_t i) {
    v[i] = mu * v[i] + direction(i);
    w[i] -= rate * v[i];
  });
  write_rounded(in, out);
}

void LambDirection::operator()(Tensors in, Tensors out) {
  const auto [w, g, scale, n] = Parameter(in);
  const float decay = float(cx.weight_decay);
  float *m = slot(in, 0), *v = slot(in, 1), *r = out.begin()[2].as<float>();
  const Moments moments(numbers, step_of(cx, in));
  double *const sums_of = static_cast<double *>(partial.get());
  for_blocks(n, 2, sums_of,
             [=, w = w, g = g, scale = scale, skipped = is_skipped(in)](
                 int64_t begin, int64_t end, double *sums) {
               if (skipped) {
                 std::fill(r + begin, r + end, 0.0f);
               } else {
#pragma GCC ivdep
                 for (int64_t i = begin; i < end; ++i)
                   r[i] = moments(scale * g[i], m[i], v[i]) + decay * w[i];
               }
               double of_w = 0, of_r = 0;
               for (int64_t i = begin; i < end; ++i) {
                 of_w += double(w[i]) * double(w[i]);
                 of_r += double(r[i]) * double(r[i]);
               }
               sums[0] = of_w;
               sums[1] = of_r;
             });
  float *norms = out.begin()[3].as<float>();
  norms[0] = float(total(sums_of, n, 2, 0));
  norms[1] = float(total(sums_of, n, 2, 1));
}

void LambUpdate::operator()(Tensors in, Tensors out) {
  float *w = in.begin()[0].as<float>();
  const float *r = in.begin()[1].as<float>(),
              *norms = in.begin()[2].as<float>();
  const float trust = norms[0] > 0.0f && norms[1] > 0.0f
                          ? std::sqrt(norms[0] / norms[1])
                          : 1.0f;
  const float rate = float(cx.learning_rate) * trust;
  for_elements(in.begin()[0].elements(),
               [=](int64_t i) { w[i] -= rate * r[i]; });
  write_rounded(in, out);
}

//===----------------------------------------------------------------------===//
// What decides about a step
//===----------------------------------------------------------------------===//

void SquareSum::operator()(Tensors in, Tensors out) {
  const float *x = in.begin()->as<float>();
  const int64_t n = in.begin()->elements();
  double *const sums_of = static_cast<double *>(partial.get());
  for_blocks(n, 1, sums_of, [x](int64_t begin, int64_t end, double *sums) {
    double sum = 0;
    for (int64_t i = begin; i < end; ++i)
      sum += double(x[i]) * double(x[i]);
    *sums = sum;
  });
  *out.begin()->as<float>() = float(total(sums_of, n, 1, 0));
}

static double total(const Tensor *begin, const Tensor *end) {
  double sum = 0;
  for (const Tensor *one = begin; one != end; ++one)
    sum += double(*one->as<float>());
  return sum;
}

void ClipScale::operator()(Tensors in, Tensors out) {
  const double norm = std::sqrt(total(in.begin(), in.end()));
  *out.begin()->as<float>() = float(clip_by(norm, max_norm));
}

void LossScale::operator()(Tensors in, Tensors out) {
  const ScaleOfLoss state(in, out, interval, least, max_norm, most);
  state.decide(total(in.begin() + 3, in.end()));
}

} // namespace ffrt
