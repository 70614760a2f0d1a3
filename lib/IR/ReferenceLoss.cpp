//===- ReferenceLoss.cpp - meaning of losses ------------------------------===//

#include "ReferenceFamilies.h"
#include "ffc/IR/Reference.h"

#include <algorithm>
#include <cmath>

using namespace ffc;
using namespace ffc::ff;
using llvm::ArrayRef;
using llvm::SmallVector;

//===----------------------------------------------------------------------===//
// Cross-entropy
//===----------------------------------------------------------------------===//

/// The distribution of one sample: `at` is its index in the logits with class
/// 0.
struct Sample {
  SmallVector<int64_t> at;
  int64_t axis;
  int64_t label;
  /// Largest logit, and the sum of exp(logit - top).
  double top, sum;
};

/// Calls `body` for every sample of the tile.
template <class Body>
static void forEachSample(const ReferenceCall &call, Body body) {
  const View &logits = call.ins[0], &target = call.ins[1];
  int64_t axis = call.i64("axis"), classes = logits.global()[axis];
  plan::Box firsts = call.tile;
  firsts[axis] = {0, 1};
  forEachIndex(firsts, [&](ArrayRef<int64_t> first) {
    SmallVector<int64_t> label(first);
    label.erase(label.begin() + axis);
    Sample sample{SmallVector<int64_t>(first), axis,
                  static_cast<int64_t>(target.at(label)), 0, 0};
    SmallVector<int64_t> i = sample.at;
    sample.top = logits.at(i);
    for (i[axis] = 0; i[axis] < classes; ++i[axis])
      sample.top = std::max(sample.top, logits.at(i));
    for (i[axis] = 0; i[axis] < classes; ++i[axis])
      sample.sum += std::exp(logits.at(i) - sample.top);
    body(sample);
  });
}

static double elements(const View &view) {
  return static_cast<double>(plan::numElements(view.global()));
}

static void crossEntropyForward(const ReferenceCall &call) {
  double sum = 0;
  forEachSample(call, [&](const Sample &sample) {
    SmallVector<int64_t> i = sample.at;
    i[sample.axis] = sample.label;
    sum += std::log(sample.sum) + sample.top - call.ins[0].at(i);
  });
  call.outs[0].at(ArrayRef<int64_t>()) = sum / elements(call.ins[1]);
}

static void crossEntropyBackward(const ReferenceCall &call) {
  double share = 1 / elements(call.ins[1]);
  forEachSample(call, [&](const Sample &sample) {
    SmallVector<int64_t> i = sample.at;
    int64_t &label = i[sample.axis];
    for (label = 0; label < call.ins[0].global()[sample.axis]; ++label) {
      double p = std::exp(call.ins[0].at(i) - sample.top) / sample.sum;
      call.outs[0].at(i) = share * (p - (label == sample.label ? 1 : 0));
    }
  });
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

void ff::registerLossReferences() {
  registerReference("cross_entropy_forward", crossEntropyForward);
  registerReference("cross_entropy_backward", crossEntropyBackward);
  registerReference("mse_forward", mseForward);
  registerReference("mse_backward", mseBackward);
  registerReference("bce_forward", bceForward);
  registerReference("bce_backward", bceBackward);
}
