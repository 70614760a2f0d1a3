//===- ReferenceLoss.cpp - meaning of losses ------------------------------===//

#include "ReferenceFamilies.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

/// One sample of the tile: its place in the target, in maxima and in sums, and
/// its classes in the logits.
struct Sample {
  SmallVector<int64_t> place;
  plan::Box classes;

  template <class Body> void forEachClass(Body body) const {
    forEachIndex(classes, body);
  }
};

template <class Body>
static void forEachSample(const ReferenceCall &call, Body body) {
  int64_t axis = call.i64("axis");
  plan::Box firsts = call.tile;
  firsts[axis] = {0, 1};
  forEachIndex(firsts, [&](ArrayRef<int64_t> first) {
    Sample sample{SmallVector<int64_t>(first), call.tile};
    for (auto [d, i] : llvm::enumerate(first))
      if (static_cast<int64_t>(d) != axis)
        sample.classes[d] = {i, i + 1};
    sample.place.erase(sample.place.begin() + axis);
    body(sample);
  });
}

static double elements(const View &view) {
  return static_cast<double>(plan::numElements(view.global()));
}

/// The largest of a sample's logits in the tile.
static double topOf(const ReferenceCall &call, const Sample &sample) {
  double top = -std::numeric_limits<double>::infinity();
  sample.forEachClass(
      [&](ArrayRef<int64_t> i) { top = std::max(top, call.ins[0].at(i)); });
  return top;
}

/// The sum of exp(logit - top).
static double sumOf(const ReferenceCall &call, const Sample &sample,
                    double top) {
  double sum = 0;
  sample.forEachClass(
      [&](ArrayRef<int64_t> i) { sum += std::exp(call.ins[0].at(i) - top); });
  return sum;
}

/// Calls body(sample, top, sum), which are operands or those of the tile.
template <class Body>
static void forEachDistribution(const ReferenceCall &call, Body body) {
  bool given = call.ins.size() > 3; // maxima and sums
  forEachSample(call, [&](const Sample &sample) {
    double top = given ? call.ins[2].at(sample.place) : topOf(call, sample);
    body(sample, top,
         given ? call.ins[3].at(sample.place) : sumOf(call, sample, top));
  });
}

static void crossEntropyMax(const ReferenceCall &call) {
  forEachSample(call, [&](const Sample &sample) {
    call.outs[0].at(sample.place) = topOf(call, sample);
  });
}

static void crossEntropySum(const ReferenceCall &call) {
  forEachSample(call, [&](const Sample &sample) {
    call.outs[0].at(sample.place) =
        sumOf(call, sample, call.ins[1].at(sample.place));
  });
}

static double smoothingOf(const ReferenceCall &call) {
  return call.args.contains("smoothing") ? call.f64("smoothing") : 0;
}

/// What of a sample's target is a class.
static double targetOf(const ReferenceCall &call, ArrayRef<int64_t> i,
                       int64_t label) {
  const int64_t axis = call.i64("axis");
  const double smoothing = smoothingOf(call);
  return smoothing / static_cast<double>(call.ins[0].global()[axis]) +
         (i[axis] == label ? 1 - smoothing : 0);
}

/// The loss of a sample, of which the tile may lack the label.
static double lossOf(const ReferenceCall &call, const Sample &sample,
                     double top, double sum) {
  auto label = static_cast<int64_t>(call.ins[1].at(sample.place));
  double loss = 0;
  sample.forEachClass([&](ArrayRef<int64_t> i) {
    if (const double share = targetOf(call, i, label); share > 0)
      loss += share * (std::log(sum) + top - call.ins[0].at(i));
  });
  return loss;
}

static void crossEntropyForward(const ReferenceCall &call) {
  double loss = 0;
  forEachDistribution(call, [&](const Sample &sample, double top, double sum) {
    loss += lossOf(call, sample, top, sum);
  });
  call.outs[0].at(ArrayRef<int64_t>()) = loss / elements(call.ins[1]);
}

static void crossEntropyBackward(const ReferenceCall &call) {
  const View &slope = call.ins.back(), &loss = call.outs[0];
  double share = (slope.present() ? slope.at(ArrayRef<int64_t>()) : 1) /
                 elements(call.ins[1]);
  double losses = 0;
  forEachDistribution(call, [&](const Sample &sample, double top, double sum) {
    if (loss.present())
      losses += lossOf(call, sample, top, sum);
    if (!call.outs[1].present())
      return;
    auto label = static_cast<int64_t>(call.ins[1].at(sample.place));
    sample.forEachClass([&](ArrayRef<int64_t> i) {
      double p = std::exp(call.ins[0].at(i) - top) / sum;
      call.outs[1].at(i) = share * (p - targetOf(call, i, label));
    });
  });
  if (loss.present())
    loss.at(ArrayRef<int64_t>()) = losses / elements(call.ins[1]);
}

//===----------------------------------------------------------------------===//
// Losses element by element
//===----------------------------------------------------------------------===//

/// The tile's share of the mean of f(x, target).
template <class Function>
static void mean(const ReferenceCall &call, Function f) {
  double sum = 0;
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    sum += f(call.ins[0].at(i), call.ins[1].at(i));
  });
  call.outs[0].at(ArrayRef<int64_t>()) = sum / elements(call.ins[0]);
}

/// The gradient of such a mean, `df` being the derivative in x.
template <class Function>
static void meanGradient(const ReferenceCall &call, Function df) {
  forEachIndex(call.tile, [&](ArrayRef<int64_t> i) {
    call.outs[0].at(i) =
        df(call.ins[0].at(i), call.ins[1].at(i)) / elements(call.ins[0]);
  });
}

static void mseForward(const ReferenceCall &call) {
  mean(call, [](double x, double t) { return (x - t) * (x - t); });
}
static void mseBackward(const ReferenceCall &call) {
  meanGradient(call, [](double x, double t) { return 2 * (x - t); });
}

static void bceForward(const ReferenceCall &call) {
  mean(call, [](double x, double t) {
    return std::max(x, 0.0) - x * t + std::log1p(std::exp(-std::abs(x)));
  });
}
static void bceBackward(const ReferenceCall &call) {
  meanGradient(call,
               [](double x, double t) { return 1 / (1 + std::exp(-x)) - t; });
}

void ff::registerReferenceLoss() {
  registerReference("cross_entropy_forward", crossEntropyForward);
  registerReference("cross_entropy_backward", crossEntropyBackward);
  registerReference("cross_entropy_max", crossEntropyMax);
  registerReference("cross_entropy_sum", crossEntropySum);
  registerReference("cross_entropy_apply", crossEntropyForward);
  registerReference("cross_entropy_backward_apply", crossEntropyBackward);
  registerReference("mse_forward", mseForward);
  registerReference("mse_backward", mseBackward);
  registerReference("bce_forward", bceForward);
  registerReference("bce_backward", bceBackward);
}
