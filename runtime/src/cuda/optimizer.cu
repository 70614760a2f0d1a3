//===- optimizer.cu - parameter updates -----------------------------------===//
#include "ffrt/optimizer.h"

#include "common/optimizer.h"
#include "cuda/moments.h"
#include "cuda/update_queue.h"

namespace ffrt {

using cuda::Moments;
using cuda::Rates;
using cuda::Scalars;
using cuda::Scale;

namespace {

//===----------------------------------------------------------------------===//
// Rules of updates (cuda/update_queue.h)
//===----------------------------------------------------------------------===//

template <int Slots> struct Rule {
  static constexpr int kSlots = Slots;
  using Step = Rates;
  __device__ Rates step(const Scalars &now, float) const {
    return {now.learning_rate, now.weight_decay};
  }
  __device__ static float factor(const float *scale) {
    return cuda::value_or(scale, 1);
  }
};

struct Sgd : Rule<0> {
  bool operator==(const Sgd &) const { return true; }
  __device__ void operator()(const Rates &by, float gradient,
                             float (&state)[1]) const {
    state[0] -= by.rate * by.slope(gradient, state[0]);
  }
};

struct Momentum : Rule<1> {
  float mu;
  bool ahead; ///< by Nesterov
  Momentum(float mu, bool ahead) : mu(mu), ahead(ahead) {}
  Momentum() = default;
  bool operator==(const Momentum &o) const {
    return mu == o.mu && ahead == o.ahead;
  }
  __device__ void operator()(const Rates &by, float gradient,
                             float (&state)[2]) const {
    auto &[w, v] = state;
    const float slope = by.slope(gradient, w), speed = mu * v + slope;
    v = speed;
    w -= by.rate * (ahead ? slope + mu * speed : speed);
  }
};

struct Adagrad : Rule<1> {
  float epsilon;
  explicit Adagrad(float epsilon) : epsilon(epsilon) {}
  Adagrad() = default;
  bool operator==(const Adagrad &o) const { return epsilon == o.epsilon; }
  __device__ void operator()(const Rates &by, float gradient,
                             float (&state)[2]) const {
    auto &[w, s] = state;
    const float slope = by.slope(gradient, w);
    s += slope * slope;
    w -= by.rate * slope / (sqrtf(s) + epsilon);
  }
};

template <bool Moves> struct Rmsprop : Rule<Moves ? 2 : 1> {
  float keep, epsilon, mu;
  Rmsprop(float keep, float epsilon, float mu)
      : keep(keep), epsilon(epsilon), mu(mu) {}
  Rmsprop() = default;
  bool operator==(const Rmsprop &o) const {
    return keep == o.keep && epsilon == o.epsilon && mu == o.mu;
  }
  __device__ void operator()(const Rates &by, float gradient,
                             float (&state)[Moves ? 3 : 2]) const {
    float &w = state[0], &s = state[1];
    const float slope = by.slope(gradient, w);
    s = keep * s + (1.0f - keep) * slope * slope;
    float direction = slope / (sqrtf(s) + epsilon);
    if constexpr (Moves)
      direction = state[2] = mu * state[2] + direction;
    w -= by.rate * direction;
  }
};

/// `Apart`: weight decay is no part of the gradient.
template <bool Apart> struct Adam : Rule<2> {
  Moments moments;
  Adam() = default;
  explicit Adam(const MomentNumbers &numbers) : moments(numbers) {}
  bool operator==(const Adam &o) const { return moments == o.moments; }

  using Step = Moments::Step;
  __device__ Step step(const Scalars &now, float skipped) const {
    return moments.step(now, skipped);
  }
  __device__ void operator()(const Step &by, float gradient,
                             float (&state)[3]) const {
    auto &[w, m, v] = state;
    if (Apart)
      w -= by.rate * (moments(by, gradient, m, v) + by.decay * w);
    else
      w -= by.rate * moments(by, by.slope(gradient, w), m, v);
  }
};

struct HfAdamw : Rule<2> {
  Moments moments;
  HfAdamw() = default;
  explicit HfAdamw(const MomentNumbers &numbers) : moments(numbers) {}
  bool operator==(const HfAdamw &o) const { return moments == o.moments; }

  struct Step : Moments::Step {
    float epsilon; ///< beside the corrected root
  };
  __device__ Step step(const Scalars &now, float skipped) const {
    Step result;
    static_cast<Moments::Step &>(result) = moments.step(now, skipped);
    result.epsilon = moments.epsilon * sqrtf(result.second);
    return result;
  }
  __device__ void operator()(const Step &by, float gradient,
                             float (&state)[3]) const {
    auto &[w, m, v] = state;
    Moments corrected = moments;
    corrected.epsilon = by.epsilon;
    w -= by.rate * corrected(by, gradient, m, v);
    w -= by.rate * by.decay * w;
  }
};

/// The second half of LAMB: the gradient is the direction, which the ratio of
/// the norms is a factor of.
struct Lamb : Rule<0> {
  bool operator==(const Lamb &) const { return true; }
  __device__ static float factor(const float *norms) {
    return norms[0] > 0.0f && norms[1] > 0.0f ? sqrtf(norms[0] / norms[1])
                                              : 1.0f;
  }
  __device__ void operator()(const Rates &by, float direction,
                             float (&state)[1]) const {
    state[0] -= by.rate * direction;
  }
};

/// Operands w, g, what R::factor() takes, and slots; results as
/// ffrt/optimizer.h says.
template <class R>
void update(const R &rule, const Context &cx, Tensors in, Tensors out,
            const float *skipped = nullptr) {
  const auto data = [&](int i) { return in.begin()[i].as<float>(); };
  cuda::Update<R::kSlots> parameter(data(0), data(1), data(2),
                                    in.begin()[0].elements());
  for (int s = 0; s < R::kSlots; ++s)
    parameter.state[1 + s] = data(3 + s);
  if (has_rounded(in, out)) {
    const Tensor &rounded = out.begin()[out.size() - 1];
    parameter.rounded = rounded.data;
    parameter.is_f16 = rounded.type == DType::f16;
  }
  cuda::update(rule, cuda::device().scalars(cx), skipped, parameter);
}

} // namespace

void SgdUpdate::operator()(Tensors in, Tensors out) {
  if (in.size() == 3)
    update(Sgd(), cx, in, out);
  else
    update(Momentum(momentum, nesterov), cx, in, out);
}

void AdamUpdate::operator()(Tensors in, Tensors out) {
  update(Adam<false>(numbers), cx, in, out, Scale(in.begin()[2]).skipped);
}

void AdamwUpdate::operator()(Tensors in, Tensors out) {
  update(Adam<true>(numbers), cx, in, out, Scale(in.begin()[2]).skipped);
}

void HfAdamwUpdate::operator()(Tensors in, Tensors out) {
  update(HfAdamw(numbers), cx, in, out, Scale(in.begin()[2]).skipped);
}

void AdagradUpdate::operator()(Tensors in, Tensors out) {
  update(Adagrad(epsilon), cx, in, out);
}

void RmspropUpdate::operator()(Tensors in, Tensors out) {
  if (in.size() == 4)
    update(Rmsprop<false>(alpha, epsilon, momentum), cx, in, out);
  else
    update(Rmsprop<true>(alpha, epsilon, momentum), cx, in, out);
}

void LambUpdate::operator()(Tensors in, Tensors out) {
  update(Lamb(), cx, in, out);
}

} // namespace ffrt
