//===- FlexFlowCosts.cpp - what a part of a layer takes -------------------===//

#include "FlexFlow/FlexFlowCosts.h"

#include <algorithm>

using namespace ffc::plan;

float ffc::plan::timeOf(const FlexFlowKernels &kernels,
                        const FlexFlowMachine &machine) {
  const double compute = kernels.flops / machine.flopsPerMs;
  const double memory = kernels.bytes / machine.bytesPerMs;
  return static_cast<float>(kernels.number *
                            (machine.launchMs + std::max(compute, memory)));
}

FlexFlowKernels ffc::plan::convKernels(int64_t samples, const Shape &x,
                                       const Shape &weights, const Shape &y) {
  const auto batch = static_cast<double>(samples);
  const double inputs = batch * elements(x), outputs = batch * elements(y);
  const double perOutput =
      elements(weights) / static_cast<double>(weights.front());
  return {3, 2 * outputs * perOutput,
          kBytesOfFloat * (inputs + outputs + elements(weights))};
}

FlexFlowKernels ffc::plan::linearKernels(int64_t rows, int64_t inputs,
                                         int64_t outputs) {
  return convKernels(rows, {inputs}, {outputs, inputs}, {outputs});
}

FlexFlowKernels ffc::plan::lstmKernels(int64_t samples, int64_t inputs,
                                       int64_t hidden) {
  constexpr int64_t kGates = 4;
  FlexFlowKernels step =
      linearKernels(samples, inputs + hidden, kGates * hidden);
  step.number *= static_cast<int>(kFlexFlowTimeSteps);
  return step;
}

FlexFlowKernels ffc::plan::poolKernels(int64_t samples, const Shape &x,
                                       const Shape &y) {
  return {2, 0,
          kBytesOfFloat * static_cast<double>(samples) *
              (elements(x) + elements(y))};
}
