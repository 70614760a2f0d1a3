//===- optimizer.cu - parameter updates -----------------------------------===//
#include "ffrt/optimizer.h"

#include "common/optimizer.h"
#include "cuda/sum.h"

#include <cmath>

namespace ffrt {

using cuda::for_elements;
using cuda::Scalars;

namespace {

/// What every update works on.
struct Parameter {
  float *w;
  const float *g, *scale;
  const Scalars *now;
  int64_t n;

  Parameter(const Context &cx, Tensors in)
      : w(in.begin()[0].as<float>()), g(in.begin()[1].as<float>()),
        scale(in.begin()[2].as<float>()), now(cuda::device().scalars(cx)),
        n(in.begin()[0].elements()) {}

  __device__ float rate() const { return now->learning_rate; }
  __device__ float gradient(int64_t i) const {
    return scale ? *scale * g[i] : g[i];
  }
  /// With weight decay.
  __device__ float slope(int64_t i) const {
    return gradient(i) + now->weight_decay * w[i];
  }
};

float *slot(Tensors in, int i) { return in.begin()[3 + i].as<float>(); }

/// The direction of an element; changes its moments.
struct Moments {
  float beta1, beta2, epsilon;
  double log1, log2; ///< of the betas
  float *m, *v;

  Moments(const MomentNumbers &numbers, float *m, float *v)
      : beta1(float(numbers.beta1)), beta2(float(numbers.beta2)),
        epsilon(float(numbers.epsilon)), log1(std::log(numbers.beta1)),
        log2(std::log(numbers.beta2)), m(m), v(v) {}

  __device__ float operator()(int64_t step, float slope, int64_t i) const {
    // 1 / (1 - beta^t)
    const float first = float(-1 / expm1(log1 * double(step + 1))),
                second = float(-1 / expm1(log2 * double(step + 1)));
    m[i] = beta1 * m[i] + (1.0f - beta1) * slope;
    v[i] = beta2 * v[i] + (1.0f - beta2) * slope * slope;
    return first * m[i] / (sqrtf(second * v[i]) + epsilon);
  }
};

/// norms = the sums of squares of w and r.
void square_sums(const float *w, const float *r, int64_t n, float *norms) {
  for (const float *x : {w, r})
    cuda::sum_elements(
        n, FFRT_LAMBDA(int64_t i) { return double(x[i]) * double(x[i]); }, 1.0,
        norms++);
}

} // namespace

void SgdUpdate::operator()(Tensors in, Tensors) {
  const Parameter p(cx, in);
  if (in.size() == 3)
    return for_elements(
        p.n, FFRT_LAMBDA(int64_t i) { p.w[i] -= p.rate() * p.slope(i); });
  float *v = slot(in, 0);
  const float mu = momentum;
  const bool ahead = nesterov;
  for_elements(
      p.n, FFRT_LAMBDA(int64_t i) {
        const float slope = p.slope(i), speed = mu * v[i] + slope;
        v[i] = speed;
        p.w[i] -= p.rate() * (ahead ? slope + mu * speed : speed);
      });
}

void AdamUpdate::operator()(Tensors in, Tensors) {
  const Parameter p(cx, in);
  const Moments moments(numbers, slot(in, 0), slot(in, 1));
  for_elements(
      p.n, FFRT_LAMBDA(int64_t i) {
        p.w[i] -= p.rate() * moments(p.now->step, p.slope(i), i);
      });
}

void AdamwUpdate::operator()(Tensors in, Tensors) {
  const Parameter p(cx, in);
  const Moments moments(numbers, slot(in, 0), slot(in, 1));
  for_elements(
      p.n, FFRT_LAMBDA(int64_t i) {
        const float direction = moments(p.now->step, p.gradient(i), i);
        p.w[i] -= p.rate() * (direction + p.now->weight_decay * p.w[i]);
      });
}

void AdagradUpdate::operator()(Tensors in, Tensors) {
  const Parameter p(cx, in);
  float *s = slot(in, 0);
  const float small = epsilon;
  for_elements(
      p.n, FFRT_LAMBDA(int64_t i) {
        const float slope = p.slope(i);
        s[i] += slope * slope;
        p.w[i] -= p.rate() * slope / (sqrtf(s[i]) + small);
      });
}

void RmspropUpdate::operator()(Tensors in, Tensors) {
  const Parameter p(cx, in);
  float *s = slot(in, 0), *v = in.size() == 4 ? nullptr : slot(in, 1);
  const float keep = alpha, small = epsilon, mu = momentum;
  for_elements(
      p.n, FFRT_LAMBDA(int64_t i) {
        const float slope = p.slope(i);
        s[i] = keep * s[i] + (1.0f - keep) * slope * slope;
        float direction = slope / (sqrtf(s[i]) + small);
        if (v)
          direction = v[i] = mu * v[i] + direction;
        p.w[i] -= p.rate() * direction;
      });
}

void LambDirection::operator()(Tensors in, Tensors out) {
  const Parameter p(cx, in);
  const Moments moments(numbers, slot(in, 0), slot(in, 1));
  float *r = out.begin()[2].as<float>();
  for_elements(
      p.n, FFRT_LAMBDA(int64_t i) {
        r[i] = moments(p.now->step, p.gradient(i), i) +
               p.now->weight_decay * p.w[i];
      });
  square_sums(p.w, r, p.n, out.begin()[3].as<float>());
}

void LambUpdate::operator()(Tensors in, Tensors) {
  float *w = in.begin()[0].as<float>();
  const float *r = in.begin()[1].as<float>(),
              *norms = in.begin()[2].as<float>();
  const Scalars *now = cuda::device().scalars(cx);
  for_elements(
      in.begin()[0].elements(), FFRT_LAMBDA(int64_t i) {
        const float trust = norms[0] > 0.0f && norms[1] > 0.0f
                                ? sqrtf(norms[0] / norms[1])
                                : 1.0f;
        w[i] -= now->learning_rate * trust * r[i];
      });
}

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

void SquareSum::operator()(Tensors in, Tensors out) {
  const float *x = in.begin()->as<float>();
  cuda::sum_elements(
      in.begin()->elements(),
      FFRT_LAMBDA(int64_t i) { return double(x[i]) * double(x[i]); }, 1.0,
      out.begin()->as<float>());
}

namespace {

/// Sums that are clipped by, as many as a launch takes.
struct Sums {
  static constexpr int kMost = 256;
  const float *at[kMost];
  int count = 0;
};

/// scale = what was added up before, in `so_far`, and these.
__global__ void clip_scale_kernel(Sums sums, double *so_far, bool first,
                                  double max_norm, float *scale) {
  double sum = first ? 0.0 : *so_far;
  for (int i = 0; i < sums.count; ++i)
    sum += double(*sums.at[i]);
  *so_far = sum;
  *scale = float(fmin(1.0, max_norm / (sqrt(sum) + 1e-6)));
}

} // namespace

void ClipScale::operator()(Tensors in, Tensors out) {
  double *so_far = cuda::device().scratch<double>();
  for (std::size_t next = 0; next == 0 || next < in.size();) {
    Sums sums;
    const bool first = next == 0;
    for (; next < in.size() && sums.count < Sums::kMost; ++next)
      sums.at[sums.count++] = in.begin()[next].as<float>();
    cuda::launch(1, 1, clip_scale_kernel, sums, so_far, first, max_norm,
                 out.begin()->as<float>());
    if (in.size() == 0)
      break;
  }
}

} // namespace ffrt
