//===- FlexFlowCosts.h - what a part of a layer takes -----------*- C++ -*-===//
//
// Where the program measured kernels of cuDNN and cuBLAS stands a roofline of
// the machine's devices. Kernels of one part, forward and backward, count as
// one: the larger of all flops and all bytes, plus a launch for each.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_FLEXFLOWCOSTS_H
#define FFC_LIB_PLAN_FLEXFLOWCOSTS_H

#include "ffc/Plan/FlexFlowModel.h"

namespace ffc::plan {

/// Of every value: the program knows f32 only.
constexpr float kBytesOfFloat = 4;

inline double elements(const Shape &shape) {
  return static_cast<double>(numElements(shape));
}

/// Alike kernels of one part.
struct FlexFlowKernels {
  int number = 0;
  double flops = 0, bytes = 0; ///< of each
};

float timeOf(const FlexFlowKernels &kernels, const FlexFlowMachine &machine);

/// Result, gradient of the input, gradient of the weights. `x`, `y`: extents of
/// a sample.
FlexFlowKernels convKernels(int64_t samples, const Shape &x,
                            const Shape &weights, const Shape &y);
FlexFlowKernels linearKernels(int64_t rows, int64_t inputs, int64_t outputs);
/// The same three for each of kFlexFlowTimeSteps.
FlexFlowKernels lstmKernels(int64_t samples, int64_t inputs, int64_t hidden);
/// Result and gradient of the input.
FlexFlowKernels poolKernels(int64_t samples, const Shape &x, const Shape &y);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_FLEXFLOWCOSTS_H
