//===- ReferenceOptimizer.cpp - meaning of updates of parameters ----------===//
//
// As ff.update says, element by element. Operands are w, g, scale and the
// slots, results w, the slots, and perhaps w rounded. What decides about a step
// is at the end.
//
//===----------------------------------------------------------------------===//

#include "ReferenceFamilies.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;

double ff::updateScaleOf(const ReferenceCall &call, size_t operand) {
  const View &scale = call.ins[operand];
  if (!scale.present())
    return 1;
  return scale.global().empty() ? scale.at({}) : scale.at({0});
}

static double scaleOf(const ReferenceCall &call) {
  return updateScaleOf(call, 2);
}

/// The number of the step, from 1 on, without those that were skipped.
static double stepOf(const ReferenceCall &call) {
  const View &scale = call.ins[2];
  auto step = static_cast<double>(call.context.step + 1);
  return scale.present() && !scale.global().empty() ? step - scale.at({1})
                                                    : step;
}

/// An element of the gradient, scaled and clipped.
static double slopeAt(const ReferenceCall &call, double scale,
                      ArrayRef<int64_t> i) {
  const double most = call.context.clipValue;
  return std::clamp(scale * call.ins[1].at(i), -most, most);
}

/// Result number `rounded`, if there is one, is result 0.
static void copyRounded(const ReferenceCall &call, size_t rounded) {
  if (rounded < call.outs.size())
    forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
      call.outs[rounded].at(i) = call.outs[0].at(i);
    });
}

/// The update, unless the step is skipped: then the slots stay as they are, and
/// so does w where the kernel writes it.
template <void (*Update)(const ReferenceCall &)>
static void unlessSkipped(const ReferenceCall &call) {
  const size_t slots = call.ins.size() - 3;
  if (std::isfinite(scaleOf(call)))
    Update(call);
  else
    forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
      call.outs[0].at(i) = call.ins[0].at(i);
      for (size_t slot = 0; slot < slots; ++slot)
        call.outs[1 + slot].at(i) = call.ins[3 + slot].at(i);
    });
  copyRounded(call, 1 + slots);
}

static void sgd(const ReferenceCall &call) {
  double rate = call.context.learningRate, decay = call.context.weightDecay;
  double momentum = call.f64("momentum"), scale = scaleOf(call);
  bool nesterov = call.i64("nesterov") != 0;
  bool hasV = call.ins.size() > 3;
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    double w = call.ins[0].at(i);
    double slope = slopeAt(call, scale, i) + decay * w;
    double direction = slope;
    if (hasV) {
      double v = momentum * call.ins[3].at(i) + slope;
      call.outs[1].at(i) = v;
      direction = nesterov ? slope + momentum * v : v;
    }
    call.outs[0].at(i) = w - rate * direction;
  });
}

/// The two moments of an element after `slope`, which are written, and the
/// direction that they give.
static double moments(const ReferenceCall &call, ArrayRef<int64_t> i,
                      double slope, const View &first, const View &second) {
  double beta1 = call.f64("beta1"), beta2 = call.f64("beta2");
  const double step = stepOf(call);
  double m = beta1 * call.ins[3].at(i) + (1 - beta1) * slope;
  double v = beta2 * call.ins[4].at(i) + (1 - beta2) * slope * slope;
  first.at(i) = m;
  second.at(i) = v;
  return m / (1 - std::pow(beta1, step)) /
         (std::sqrt(v / (1 - std::pow(beta2, step))) + call.f64("epsilon"));
}

/// Decoupled: weights decay by themselves and not as part of the slope.
template <bool Decoupled> static void adam(const ReferenceCall &call) {
  double rate = call.context.learningRate, decay = call.context.weightDecay;
  double scale = scaleOf(call);
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    double w = call.ins[0].at(i), slope = slopeAt(call, scale, i);
    if (!Decoupled)
      slope += decay * w;
    double direction = moments(call, i, slope, call.outs[1], call.outs[2]);
    if (Decoupled)
      direction += decay * w;
    call.outs[0].at(i) = w - rate * direction;
  });
}

/// Epsilon stands beside the root that is not corrected, and weights decay when
/// they are updated.
static void hfAdamW(const ReferenceCall &call) {
  double rate = call.context.learningRate, decay = call.context.weightDecay;
  double scale = scaleOf(call), step = stepOf(call);
  double beta1 = call.f64("beta1"), beta2 = call.f64("beta2");
  double size =
      rate * std::sqrt(1 - std::pow(beta2, step)) / (1 - std::pow(beta1, step));
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    double slope = slopeAt(call, scale, i);
    double m = beta1 * call.ins[3].at(i) + (1 - beta1) * slope;
    double v = beta2 * call.ins[4].at(i) + (1 - beta2) * slope * slope;
    double w =
        call.ins[0].at(i) - size * m / (std::sqrt(v) + call.f64("epsilon"));
    call.outs[0].at(i) = w - rate * decay * w;
    call.outs[1].at(i) = m;
    call.outs[2].at(i) = v;
  });
}

/// The sign of a mean that leans to the slope, which is then taken into the one
/// that is kept.
static void lion(const ReferenceCall &call) {
  double rate = call.context.learningRate, decay = call.context.weightDecay;
  double beta1 = call.f64("beta1"), beta2 = call.f64("beta2");
  double scale = scaleOf(call);
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    double w = call.ins[0].at(i), m = call.ins[3].at(i);
    double slope = slopeAt(call, scale, i);
    double mean = beta1 * m + (1 - beta1) * slope;
    double sign = mean > 0 ? 1 : mean < 0 ? -1 : mean;
    call.outs[0].at(i) = w - rate * (sign + decay * w);
    call.outs[1].at(i) = beta2 * m + (1 - beta2) * slope;
  });
}

/// The gradient is a parameter as it is.
static void ema(const ReferenceCall &call) {
  const double decay = call.f64("decay");
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    const double w = call.ins[0].at(i);
    call.outs[0].at(i) = w + (1 - decay) * (call.ins[1].at(i) - w);
  });
}

static void adagrad(const ReferenceCall &call) {
  double rate = call.context.learningRate, decay = call.context.weightDecay;
  double scale = scaleOf(call);
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    double w = call.ins[0].at(i);
    double slope = slopeAt(call, scale, i) + decay * w;
    double sum = call.ins[3].at(i) + slope * slope;
    call.outs[1].at(i) = sum;
    call.outs[0].at(i) =
        w - rate * slope / (std::sqrt(sum) + call.f64("epsilon"));
  });
}

static void rmsprop(const ReferenceCall &call) {
  double rate = call.context.learningRate, decay = call.context.weightDecay;
  double scale = scaleOf(call), alpha = call.f64("alpha");
  bool hasV = call.ins.size() > 4;
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    double w = call.ins[0].at(i);
    double slope = slopeAt(call, scale, i) + decay * w;
    double mean = alpha * call.ins[3].at(i) + (1 - alpha) * slope * slope;
    call.outs[1].at(i) = mean;
    double direction = slope / (std::sqrt(mean) + call.f64("epsilon"));
    if (hasV) {
      direction += call.f64("momentum") * call.ins[4].at(i);
      call.outs[2].at(i) = direction;
    }
    call.outs[0].at(i) = w - rate * direction;
  });
}

/// Results: the moments, the direction, and the sums of squares of w and the
/// direction, which is 0 if the step is skipped.
static void lambDirection(const ReferenceCall &call) {
  double decay = call.context.weightDecay, scale = scaleOf(call);
  const View &direction = call.outs[2], &norms = call.outs[3];
  norms.at({0}) = norms.at({1}) = 0;
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    double w = call.ins[0].at(i), r = 0;
    if (std::isfinite(scale)) {
      double slope = slopeAt(call, scale, i);
      r = moments(call, i, slope, call.outs[0], call.outs[1]) + decay * w;
    } else {
      call.outs[0].at(i) = call.ins[3].at(i);
      call.outs[1].at(i) = call.ins[4].at(i);
    }
    direction.at(i) = r;
    norms.at({0}) += w * w;
    norms.at({1}) += r * r;
  });
}

static void lamb(const ReferenceCall &call) {
  double ofW = call.ins[2].at({0}), ofDirection = call.ins[2].at({1});
  double trust = ofW > 0 && ofDirection > 0 ? std::sqrt(ofW / ofDirection) : 1;
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    call.outs[0].at(i) = call.ins[0].at(i) -
                         call.context.learningRate * trust * call.ins[1].at(i);
  });
  copyRounded(call, 1);
}

//===----------------------------------------------------------------------===//
// What decides about a step
//===----------------------------------------------------------------------===//

static void squareSum(const ReferenceCall &call) {
  double sum = 0;
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    sum += call.ins[0].at(i) * call.ins[0].at(i);
  });
  call.outs[0].at({}) = sum;
}

/// The norm of all gradients, whose sums of squares are the operands from
/// number `first` on.
static double normOf(const ReferenceCall &call, size_t first) {
  double sum = 0;
  for (size_t i = first; i < call.ins.size(); ++i)
    sum += call.ins[i].at({});
  return std::sqrt(sum);
}

static double clipBy(double norm, double most) {
  return std::min(1.0, most / (norm + 1e-6));
}

static void clipScale(const ReferenceCall &call) {
  call.outs[0].at({}) = clipBy(normOf(call, 0), call.f64("max_norm"));
}

static void lossScale(const ReferenceCall &call) {
  const double scale = call.ins[0].at({}), norm = normOf(call, 3) / scale,
               maxNorm = call.f64("max_norm"), count = call.ins[1].at({}) + 1,
               skipped = call.ins[2].at({});
  const bool counts = std::isfinite(norm),
             grows = counts && count == call.i64("interval");
  const View &factor = call.outs[0];
  factor.at({0}) = !counts ? std::numeric_limits<double>::infinity()
                           : (maxNorm > 0 ? clipBy(norm, maxNorm) : 1) / scale;
  call.outs[1].at({}) =
      std::clamp(counts ? (grows ? 2 * scale : scale) : scale / 2,
                 call.f64("least"), call.f64("most"));
  call.outs[2].at({}) = counts && !grows ? count : 0;
  call.outs[3].at({}) = factor.at({1}) = counts ? skipped : skipped + 1;
}

void ff::registerReferenceOptimizer() {
  registerReference("sgd_update", unlessSkipped<sgd>);
  registerReference("adam_update", unlessSkipped<adam<false>>);
  registerReference("adamw_update", unlessSkipped<adam<true>>);
  registerReference("hf_adamw_update", unlessSkipped<hfAdamW>);
  registerReference("lion_update", unlessSkipped<lion>);
  registerReference("ema_update", unlessSkipped<ema>);
  registerReference("adagrad_update", unlessSkipped<adagrad>);
  registerReference("rmsprop_update", unlessSkipped<rmsprop>);
  registerReference("lamb_direction", lambDirection);
  registerReference("lamb_update", lamb);
  registerReference("square_sum", squareSum);
  registerReference("clip_scale", clipScale);
  registerReference("loss_scale", lossScale);
}
