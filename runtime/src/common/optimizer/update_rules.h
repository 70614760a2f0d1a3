//===- update_rules.h - the formulas of the optimizers ----------*- C++ -*-===//
//
// One functor per update rule, for the CPU and for GPUs. A rule says, of one
// element, what becomes of the parameter w and of its slots:
//
//   static constexpr int kSlots;
//   static constexpr bool kHasRates;         // is w a parameter?
//   Step step(const StepNumbers &) const;    // what elements need of a step,
//                                            // a Rates
//   static Real scale(const Real *);         // of g, from operand `scale`
//   static bool skips(Real scale);           // is nothing changed?
//   void operator()(const Step &, Real scale, Real g, Real &w,
//                   Real &slot...) const;
//   bool operator==(const Rule &) const;
//
// ffrt/optimizer.h has the formulas in words. Members are the optimizer's
// numbers by the names that they have there.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_COMMON_UPDATE_RULES_H
#define FFRT_COMMON_UPDATE_RULES_H

#include "common/optimizer/optimizer.h"
#include "ffrt/optimizer.h"
#include "ffrt/real.h"

#include <cmath>

namespace ffrt::rules {

//===----------------------------------------------------------------------===//
// Numbers of a step
//===----------------------------------------------------------------------===//

/// Operand `scale` of updates: what gradients are multiplied by, or, if it is
/// not finite, that the step changes nothing.
struct Scale {
  const Real *factor = nullptr;  ///< null: 1
  const Real *skipped = nullptr; ///< how many steps were; null: none

  Scale() = default;
  explicit Scale(const Tensor &t)
      : factor(t.as<Real>()),
        skipped(t.elements() == 2 ? factor + 1 : nullptr) {}
};

FFRT_FUNCTION inline Real value_or(const Real *x, Real missing) {
  return x ? *x : missing;
}

/// What a parameter has of its own (UpdateRates).
struct OwnRates {
  Real share = 1, weight_decay = 0;
  OwnRates() = default;
  explicit OwnRates(const UpdateRates &rates)
      : share(Real(rates.share)), weight_decay(Real(rates.weight_decay)) {}
};

struct StepNumbers {
  double t; ///< from 1 on, without the steps that were skipped
  Real learning_rate, clip_value;
};

struct Rates {
  Real learning_rate;
  Real clip_value;
  Real weight_decay; ///< 0 until of() sets it, with the parameter's rate
  FFRT_FUNCTION void of(const OwnRates &own) {
    learning_rate *= own.share;
    weight_decay = own.weight_decay;
  }
  /// The gradient of the loss, no element of which is over clip_value; what is
  /// not a number stays so.
  FFRT_FUNCTION Real clipped(Real scale, Real g) const {
    const Real x = scale * g;
    return x < -clip_value ? -clip_value : x > clip_value ? clip_value : x;
  }
  /// That of the weight decay as well.
  FFRT_FUNCTION Real gradient(Real scale, Real g, Real w) const {
    return clipped(scale, g) + weight_decay * w;
  }
};

/// Of rows of a table: those that nothing looks up do not decay either.
struct RatesOfRows {
  Real learning_rate;
  FFRT_FUNCTION Real gradient(Real scale, Real g, Real) const {
    return scale * g;
  }
};

//===----------------------------------------------------------------------===//
// What rules have in common
//===----------------------------------------------------------------------===//

template <int Slots> struct Rule {
  static constexpr int kSlots = Slots;
  static constexpr bool kHasRates = true; ///< is w a parameter?
  using Step = Rates;
  FFRT_FUNCTION Rates step(const StepNumbers &now) const {
    return {now.learning_rate, now.clip_value, 0};
  }
  FFRT_FUNCTION static Real scale(const Real *scale) {
    return value_or(scale, 1.0f);
  }
  FFRT_FUNCTION static bool skips(Real scale) { return !is_finite(scale); }
};

/// Running means of the gradient and its square, m and v.
struct Moments {
  Real beta1, beta2, epsilon;
  double log1, log2; ///< of the betas

  Moments() = default;
  explicit Moments(const MomentNumbers &numbers)
      : beta1(Real(numbers.beta1)), beta2(Real(numbers.beta2)),
        epsilon(Real(numbers.epsilon)), log1(std::log(numbers.beta1)),
        log2(std::log(numbers.beta2)) {}
  bool operator==(const Moments &o) const {
    return log1 == o.log1 && log2 == o.log2 && epsilon == o.epsilon;
  }

  struct Step : Rates {
    Real correction1, correction2; ///< of the bias: 1 / (1 - beta^t)
    Real epsilon;
  };
  FFRT_FUNCTION Step step(const StepNumbers &now) const {
    return {{now.learning_rate, now.clip_value, 0},
            Real(-1 / expm1(log1 * now.t)),
            Real(-1 / expm1(log2 * now.t)),
            epsilon};
  }
  /// The direction of the step, from the gradient.
  FFRT_FUNCTION Real direction(const Step &by, Real gradient, Real &m,
                               Real &v) const {
    m = beta1 * m + (1.0f - beta1) * gradient;
    v = beta2 * v + (1.0f - beta2) * gradient * gradient;
    return by.correction1 * m / (std::sqrt(by.correction2 * v) + by.epsilon);
  }
};

/// Rules with moments.
struct MomentRule : Rule<2> {
  Moments moments;
  MomentRule() = default;
  explicit MomentRule(const MomentNumbers &numbers) : moments(numbers) {}
  bool operator==(const MomentRule &o) const { return moments == o.moments; }

  using Step = Moments::Step;
  FFRT_FUNCTION Step step(const StepNumbers &now) const {
    return moments.step(now);
  }
};

//===----------------------------------------------------------------------===//
// The rules
//===----------------------------------------------------------------------===//

struct Sgd : Rule<0> {
  bool operator==(const Sgd &) const { return true; }
  template <class Rates>
  FFRT_FUNCTION void operator()(const Rates &by, Real scale, Real g,
                                Real &w) const {
    w -= by.learning_rate * by.gradient(scale, g, w);
  }
};

struct Momentum : Rule<1> {
  Real momentum;
  bool nesterov;
  Momentum() = default;
  Momentum(Real momentum, bool nesterov)
      : momentum(momentum), nesterov(nesterov) {}
  bool operator==(const Momentum &o) const {
    return momentum == o.momentum && nesterov == o.nesterov;
  }
  FFRT_FUNCTION void operator()(const Rates &by, Real scale, Real g, Real &w,
                                Real &v) const {
    const Real gradient = by.gradient(scale, g, w);
    v = momentum * v + gradient;
    w -= by.learning_rate * (nesterov ? gradient + momentum * v : v);
  }
};

struct Lion : Rule<1> {
  Real beta1, beta2;
  Lion() = default;
  Lion(Real beta1, Real beta2) : beta1(beta1), beta2(beta2) {}
  bool operator==(const Lion &o) const {
    return beta1 == o.beta1 && beta2 == o.beta2;
  }
  FFRT_FUNCTION void operator()(const Rates &by, Real scale, Real g, Real &w,
                                Real &m) const {
    const Real gradient = by.clipped(scale, g),
               mean = beta1 * m + (1.0f - beta1) * gradient,
               sign = mean > 0.0f   ? 1.0f
                      : mean < 0.0f ? -1.0f
                                    : mean;
    w -= by.learning_rate * (sign + by.weight_decay * w);
    m = beta2 * m + (1.0f - beta2) * gradient;
  }
};

struct Ema : Rule<0> {
  static constexpr bool kHasRates = false;
  Real decay;
  Ema() = default;
  explicit Ema(Real decay) : decay(decay) {}
  bool operator==(const Ema &o) const { return decay == o.decay; }
  FFRT_FUNCTION void operator()(const Rates &, Real, Real parameter,
                                Real &w) const {
    w += (1.0f - decay) * (parameter - w);
  }
};

struct Adagrad : Rule<1> {
  Real epsilon;
  Adagrad() = default;
  explicit Adagrad(Real epsilon) : epsilon(epsilon) {}
  bool operator==(const Adagrad &o) const { return epsilon == o.epsilon; }
  template <class Rates>
  FFRT_FUNCTION void operator()(const Rates &by, Real scale, Real g, Real &w,
                                Real &s) const {
    const Real gradient = by.gradient(scale, g, w);
    s += gradient * gradient;
    w -= by.learning_rate * gradient / (std::sqrt(s) + epsilon);
  }
};

/// What both forms of RMSProp do.
struct RmspropNumbers {
  Real alpha, epsilon, momentum;
  bool operator==(const RmspropNumbers &o) const {
    return alpha == o.alpha && epsilon == o.epsilon && momentum == o.momentum;
  }
  FFRT_FUNCTION Real direction(Real gradient, Real &s) const {
    s = alpha * s + (1.0f - alpha) * gradient * gradient;
    return gradient / (std::sqrt(s) + epsilon);
  }
};

struct Rmsprop : Rule<1> {
  RmspropNumbers numbers;
  Rmsprop() = default;
  explicit Rmsprop(const RmspropNumbers &numbers) : numbers(numbers) {}
  bool operator==(const Rmsprop &o) const { return numbers == o.numbers; }
  FFRT_FUNCTION void operator()(const Rates &by, Real scale, Real g, Real &w,
                                Real &s) const {
    w -= by.learning_rate * numbers.direction(by.gradient(scale, g, w), s);
  }
};

struct RmspropMomentum : Rule<2> {
  RmspropNumbers numbers;
  RmspropMomentum() = default;
  explicit RmspropMomentum(const RmspropNumbers &numbers) : numbers(numbers) {}
  bool operator==(const RmspropMomentum &o) const {
    return numbers == o.numbers;
  }
  FFRT_FUNCTION void operator()(const Rates &by, Real scale, Real g, Real &w,
                                Real &s, Real &v) const {
    v = numbers.momentum * v + numbers.direction(by.gradient(scale, g, w), s);
    w -= by.learning_rate * v;
  }
};

/// Weight decay is a part of the gradient.
struct Adam : MomentRule {
  using MomentRule::MomentRule;
  FFRT_FUNCTION void operator()(const Step &by, Real scale, Real g, Real &w,
                                Real &m, Real &v) const {
    w -= by.learning_rate *
         moments.direction(by, by.gradient(scale, g, w), m, v);
  }
};

/// Weight decay is a part of the direction.
struct Adamw : MomentRule {
  using MomentRule::MomentRule;
  FFRT_FUNCTION void operator()(const Step &by, Real scale, Real g, Real &w,
                                Real &m, Real &v) const {
    w -= by.learning_rate * (moments.direction(by, by.clipped(scale, g), m, v) +
                             by.weight_decay * w);
  }
};

struct HfAdamw : MomentRule {
  double epsilon;
  HfAdamw() = default;
  explicit HfAdamw(const MomentNumbers &numbers)
      : MomentRule(numbers), epsilon(numbers.epsilon) {}

  /// With an epsilon beside the corrected root that does the same.
  FFRT_FUNCTION Step step(const StepNumbers &now) const {
    Step result = moments.step(now);
    result.epsilon = Real(epsilon / sqrt(-expm1(moments.log2 * now.t)));
    return result;
  }
  FFRT_FUNCTION void operator()(const Step &by, Real scale, Real g, Real &w,
                                Real &m, Real &v) const {
    w -= by.learning_rate * moments.direction(by, by.clipped(scale, g), m, v);
    w -= by.learning_rate * by.weight_decay * w;
  }
};

/// The direction of LAMB, r, which is no update yet: w stays.
struct LambDirection : MomentRule {
  using MomentRule::MomentRule;
  FFRT_FUNCTION Real operator()(const Step &by, Real scale, Real g, Real w,
                                Real &m, Real &v) const {
    return moments.direction(by, by.clipped(scale, g), m, v) +
           by.weight_decay * w;
  }
};

/// The update of LAMB: in place of a gradient it has r, and the sums of squares
/// of w and r in place of its scale.
struct Lamb : Rule<0> {
  bool operator==(const Lamb &) const { return true; }
  /// How far w is to be trusted.
  FFRT_FUNCTION static Real scale(const Real *norms) {
    return norms[0] > 0.0f && norms[1] > 0.0f ? std::sqrt(norms[0] / norms[1])
                                              : 1.0f;
  }
  /// r is zero in steps that are skipped.
  FFRT_FUNCTION static bool skips(Real) { return false; }
  FFRT_FUNCTION void operator()(const Rates &by, Real trust, Real r,
                                Real &w) const {
    w -= by.learning_rate * trust * r;
  }
};

} // namespace ffrt::rules

#endif // FFRT_COMMON_UPDATE_RULES_H
