//===- ReferenceOptimizer.cpp - meaning of updates of parameters ----------===//
//
// As ff.update says, element by element. Operands are w, g, scale and the
// slots, results w and the slots.
//
//===----------------------------------------------------------------------===//

#include "ReferenceFamilies.h"

#include <cmath>

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;

/// What the gradient is multiplied by.
static double scaleOf(const ReferenceCall &call) {
  return call.ins[2].present() ? call.ins[2].at({}) : 1.0;
}

static void sgd(const ReferenceCall &call) {
  double rate = call.context.learningRate, decay = call.context.weightDecay;
  double momentum = call.f64("momentum"), scale = scaleOf(call);
  bool nesterov = call.i64("nesterov") != 0;
  bool hasV = call.ins.size() > 3;
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    double w = call.ins[0].at(i);
    double slope = scale * call.ins[1].at(i) + decay * w;
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
  auto step = static_cast<double>(call.context.step + 1);
  double m = beta1 * call.ins[3].at(i) + (1 - beta1) * slope;
  double v = beta2 * call.ins[4].at(i) + (1 - beta2) * slope * slope;
  first.at(i) = m;
  second.at(i) = v;
  return m / (1 - std::pow(beta1, step)) /
         (std::sqrt(v / (1 - std::pow(beta2, step))) + call.f64("epsilon"));
}

/// `decoupled`: weights decay by themselves and not as part of the slope.
static void adam(const ReferenceCall &call, bool decoupled) {
  double rate = call.context.learningRate, decay = call.context.weightDecay;
  double scale = scaleOf(call);
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    double w = call.ins[0].at(i), slope = scale * call.ins[1].at(i);
    if (!decoupled)
      slope += decay * w;
    double direction = moments(call, i, slope, call.outs[1], call.outs[2]);
    if (decoupled)
      direction += decay * w;
    call.outs[0].at(i) = w - rate * direction;
  });
}

static void adagrad(const ReferenceCall &call) {
  double rate = call.context.learningRate, decay = call.context.weightDecay;
  double scale = scaleOf(call);
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    double w = call.ins[0].at(i);
    double slope = scale * call.ins[1].at(i) + decay * w;
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
    double slope = scale * call.ins[1].at(i) + decay * w;
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
/// direction.
static void lambDirection(const ReferenceCall &call) {
  double decay = call.context.weightDecay, scale = scaleOf(call);
  const View &direction = call.outs[2], &norms = call.outs[3];
  norms.at({0}) = norms.at({1}) = 0;
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    double w = call.ins[0].at(i), slope = scale * call.ins[1].at(i);
    double r = moments(call, i, slope, call.outs[0], call.outs[1]) + decay * w;
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
}

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

static void squareSum(const ReferenceCall &call) {
  double sum = 0;
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    sum += call.ins[0].at(i) * call.ins[0].at(i);
  });
  call.outs[0].at({}) = sum;
}

static void clipScale(const ReferenceCall &call) {
  double sum = 0;
  for (const View &one : call.ins)
    sum += one.at({});
  call.outs[0].at({}) =
      std::min(1.0, call.f64("max_norm") / (std::sqrt(sum) + 1e-6));
}

void ff::registerOptimizerReferences() {
  registerReference("sgd_update", sgd);
  registerReference("adam_update",
                    [](const ReferenceCall &call) { adam(call, false); });
  registerReference("adamw_update",
                    [](const ReferenceCall &call) { adam(call, true); });
  registerReference("adagrad_update", adagrad);
  registerReference("rmsprop_update", rmsprop);
  registerReference("lamb_direction", lambDirection);
  registerReference("lamb_update", lamb);
  registerReference("square_sum", squareSum);
  registerReference("clip_scale", clipScale);
}
