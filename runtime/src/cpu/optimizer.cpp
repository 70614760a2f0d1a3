//===- optimizer.cpp - parameter updates ----------------------------------===//
#include "ffrt/optimizer.h"

#include "common/check.h"
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

void check_like(const char *kernel, const char *name, const Tensor &t,
                const Tensor &like) {
  expect_type(kernel, name, t, DType::f32);
  expect_same_shape(kernel, name, t, like);
  expect_same_order(kernel, name, t, like);
}

/// Operands w, g, scale and `slots` slots.
void check_operands(const char *kernel, Tensors in, std::size_t slots) {
  expect_count(kernel, "operands", in.size(), 3 + slots);
  const Tensor &w = in.begin()[0], &scale = in.begin()[2];
  expect_type(kernel, "w", w, DType::f32);
  check_like(kernel, "g", in.begin()[1], w);
  if (scale.data) {
    expect_type(kernel, "scale", scale, DType::f32);
    expect_rank(kernel, "scale", scale, 0);
  }
  for (std::size_t i = 0; i < slots; ++i)
    check_like(kernel, "slot", in.begin()[3 + i], w);
}

/// Results where the operand or slots are: those from number `first` on.
void check_in_place(const char *kernel, Tensors in, Tensors out,
                    std::size_t first, std::size_t slots) {
  for (std::size_t i = first; i < 1 + slots; ++i)
    expect(kernel,
           out.begin()[i - first].data == in.begin()[i == 0 ? 0 : 2 + i].data,
           "expected the results in place of w and the slots, found other "
           "buffers");
}

void check_update(const char *kernel, Tensors in, Tensors out,
                  std::size_t slots) {
  check_operands(kernel, in, slots);
  expect_count(kernel, "results", out.size(), 1 + slots);
  check_in_place(kernel, in, out, 0, slots);
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

/// Elements that are added up in one go, whatever the number of threads.
constexpr int64_t kBlock = 8192;

int64_t blocks_of(int64_t n) { return (n + kBlock - 1) / kBlock; }

/// partial[width * block] on: what f(begin, end, sums) finds for the elements
/// of a block; returns nothing until they are added up in order.
template <class F>
void for_blocks(int64_t n, int width, std::vector<double> &partial, F &&f) {
  parallel_for(blocks_of(n), 2, [&](int64_t begin, int64_t end) {
    for (int64_t block = begin; block < end; ++block)
      f(block * kBlock, std::min(n, (block + 1) * kBlock),
        partial.data() + block * width);
  });
}

double total(const std::vector<double> &partial, int width, int which) {
  double sum = 0;
  for (std::size_t i = std::size_t(which); i < partial.size();
       i += std::size_t(width))
    sum += partial[i];
  return sum;
}

//===----------------------------------------------------------------------===//
// Two moments
//===----------------------------------------------------------------------===//

/// The direction of an element; changes its moments.
struct Moments {
  float beta1, beta2, epsilon, first, second;

  Moments(const MomentNumbers &numbers, const Context &cx)
      : beta1(float(numbers.beta1)), beta2(float(numbers.beta2)),
        epsilon(float(numbers.epsilon)),
        first(float(1 / (1 - std::pow(numbers.beta1, double(cx.step + 1))))),
        second(float(1 / (1 - std::pow(numbers.beta2, double(cx.step + 1))))) {}

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

SgdUpdate::SgdUpdate(Context &cx, Tensors in, Tensors out, double momentum,
                     int64_t nesterov)
    : cx(cx), momentum(float(momentum)), nesterov(nesterov != 0) {
  check_update("sgd update", in, out, in.size() > 3 ? 1 : 0);
}

void SgdUpdate::operator()(Tensors in, Tensors) {
  const auto [w, g, scale, n] = Parameter(in);
  const float rate = float(cx.learning_rate), decay = float(cx.weight_decay);
  if (in.size() == 3) {
    for_elements(n, [=, w = w, g = g, scale = scale](int64_t i) {
      w[i] -= rate * (scale * g[i] + decay * w[i]);
    });
    return;
  }
  float *v = slot(in, 0);
  for_elements(n, [=, w = w, g = g, scale = scale, mu = momentum,
                   ahead = nesterov](int64_t i) {
    float slope = scale * g[i] + decay * w[i];
    float speed = mu * v[i] + slope;
    v[i] = speed;
    w[i] -= rate * (ahead ? slope + mu * speed : speed);
  });
}

AdamUpdate::AdamUpdate(Context &cx, Tensors in, Tensors out, double beta1,
                       double beta2, double epsilon)
    : cx(cx), numbers{beta1, beta2, epsilon} {
  check_update("adam update", in, out, 2);
}

void AdamUpdate::operator()(Tensors in, Tensors) {
  const auto [w, g, scale, n] = Parameter(in);
  const float rate = float(cx.learning_rate), decay = float(cx.weight_decay);
  float *m = slot(in, 0), *v = slot(in, 1);
  for_elements(n, [=, w = w, g = g, scale = scale,
                   moments = Moments(numbers, cx)](int64_t i) {
    w[i] -= rate * moments(scale * g[i] + decay * w[i], m[i], v[i]);
  });
}

AdamwUpdate::AdamwUpdate(Context &cx, Tensors in, Tensors out, double beta1,
                         double beta2, double epsilon)
    : cx(cx), numbers{beta1, beta2, epsilon} {
  check_update("adamw update", in, out, 2);
}

void AdamwUpdate::operator()(Tensors in, Tensors) {
  const auto [w, g, scale, n] = Parameter(in);
  const float rate = float(cx.learning_rate), decay = float(cx.weight_decay);
  float *m = slot(in, 0), *v = slot(in, 1);
  for_elements(n, [=, w = w, g = g, scale = scale,
                   moments = Moments(numbers, cx)](int64_t i) {
    w[i] -= rate * (moments(scale * g[i], m[i], v[i]) + decay * w[i]);
  });
}

AdagradUpdate::AdagradUpdate(Context &cx, Tensors in, Tensors out,
                             double epsilon)
    : cx(cx), epsilon(float(epsilon)) {
  check_update("adagrad update", in, out, 1);
}

void AdagradUpdate::operator()(Tensors in, Tensors) {
  const auto [w, g, scale, n] = Parameter(in);
  const float rate = float(cx.learning_rate), decay = float(cx.weight_decay);
  float *s = slot(in, 0);
  for_elements(n,
               [=, w = w, g = g, scale = scale, epsilon = epsilon](int64_t i) {
                 float slope = scale * g[i] + decay * w[i];
                 s[i] += slope * slope;
                 w[i] -= rate * slope / (std::sqrt(s[i]) + epsilon);
               });
}

RmspropUpdate::RmspropUpdate(Context &cx, Tensors in, Tensors out, double alpha,
                             double epsilon, double momentum)
    : cx(cx), alpha(float(alpha)), epsilon(float(epsilon)),
      momentum(float(momentum)) {
  check_update("rmsprop update", in, out, in.size() > 4 ? 2 : 1);
}

void RmspropUpdate::operator()(Tensors in, Tensors) {
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
    return;
  }
  float *v = slot(in, 1);
  for_elements(n, [=, w = w, mu = momentum](int64_t i) {
    v[i] = mu * v[i] + direction(i);
    w[i] -= rate * v[i];
  });
}

LambDirection::LambDirection(Context &cx, Tensors in, Tensors out, double beta1,
                             double beta2, double epsilon)
    : cx(cx), numbers{beta1, beta2, epsilon} {
  const char *kernel = "lamb direction";
  check_operands(kernel, in, 2);
  expect_count(kernel, "results", out.size(), 4);
  check_in_place(kernel, in, out, 1, 2);
  check_like(kernel, "r", out.begin()[2], in.begin()[0]);
  expect(kernel, out.begin()[3].elements() == 2,
         "norms: expected 2 elements, found " +
             std::to_string(out.begin()[3].elements()));
  partial.resize(std::size_t(2 * blocks_of(in.begin()[0].elements())));
}

void LambDirection::operator()(Tensors in, Tensors out) {
  const auto [w, g, scale, n] = Parameter(in);
  const float decay = float(cx.weight_decay);
  float *m = slot(in, 0), *v = slot(in, 1), *r = out.begin()[2].as<float>();
  const Moments moments(numbers, cx);
  for_blocks(n, 2, partial,
             [=, w = w, g = g, scale = scale](int64_t begin, int64_t end,
                                              double *sums) {
#pragma GCC ivdep
               for (int64_t i = begin; i < end; ++i)
                 r[i] = moments(scale * g[i], m[i], v[i]) + decay * w[i];
               double of_w = 0, of_r = 0;
               for (int64_t i = begin; i < end; ++i) {
                 of_w += double(w[i]) * double(w[i]);
                 of_r += double(r[i]) * double(r[i]);
               }
               sums[0] = of_w;
               sums[1] = of_r;
             });
  float *norms = out.begin()[3].as<float>();
  norms[0] = float(total(partial, 2, 0));
  norms[1] = float(total(partial, 2, 1));
}

LambUpdate::LambUpdate(Context &cx, Tensors in, Tensors out, double, double,
                       double)
    : cx(cx) {
  const char *kernel = "lamb update";
  expect_count(kernel, "operands", in.size(), 3);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &w = in.begin()[0];
  expect_type(kernel, "w", w, DType::f32);
  check_like(kernel, "r", in.begin()[1], w);
  expect(kernel, in.begin()[2].elements() == 2,
         "norms: expected 2 elements, found " +
             std::to_string(in.begin()[2].elements()));
  expect(kernel, out.begin()[0].data == w.data,
         "expected the result in place of w, found another buffer");
}

void LambUpdate::operator()(Tensors in, Tensors) {
  float *w = in.begin()[0].as<float>();
  const float *r = in.begin()[1].as<float>(),
              *norms = in.begin()[2].as<float>();
  const float trust = norms[0] > 0.0f && norms[1] > 0.0f
                          ? std::sqrt(norms[0] / norms[1])
                          : 1.0f;
  const float rate = float(cx.learning_rate) * trust;
  for_elements(in.begin()[0].elements(),
               [=](int64_t i) { w[i] -= rate * r[i]; });
}

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

SquareSum::SquareSum(Context &, Tensors in, Tensors out) {
  const char *kernel = "square sum";
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 1);
  expect_type(kernel, "x", *in.begin(), DType::f32);
  expect_type(kernel, "sum", *out.begin(), DType::f32);
  expect_rank(kernel, "sum", *out.begin(), 0);
  partial.resize(std::size_t(blocks_of(in.begin()->elements())));
}

void SquareSum::operator()(Tensors in, Tensors out) {
  const float *x = in.begin()->as<float>();
  for_blocks(in.begin()->elements(), 1, partial,
             [x](int64_t begin, int64_t end, double *sums) {
               double sum = 0;
               for (int64_t i = begin; i < end; ++i)
                 sum += double(x[i]) * double(x[i]);
               *sums = sum;
             });
  *out.begin()->as<float>() = float(total(partial, 1, 0));
}

ClipScale::ClipScale(Context &, Tensors in, Tensors out, double max_norm)
    : max_norm(max_norm) {
  const char *kernel = "clip scale";
  expect_count(kernel, "results", out.size(), 1);
  for (const Tensor &sum : in) {
    expect_type(kernel, "operand", sum, DType::f32);
    expect_rank(kernel, "operand", sum, 0);
  }
  expect_type(kernel, "scale", *out.begin(), DType::f32);
}

void ClipScale::operator()(Tensors in, Tensors out) {
  double sum = 0;
  for (const Tensor &one : in)
    sum += double(*one.as<float>());
  *out.begin()->as<float>() =
      float(std::min(1.0, max_norm / (std::sqrt(sum) + 1e-6)));
}

} // namespace ffrt
