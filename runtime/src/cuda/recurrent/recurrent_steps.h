//===- recurrent_steps.h - what both directions of a layer share *- C++ -*-===//
#ifndef FFRT_CUDA_RECURRENT_STEPS_H
#define FFRT_CUDA_RECURRENT_STEPS_H

#include "common/recurrent/recurrent.h"
#include "cuda/matmul/gemm.h"
#include "ffrt/cuda/launch.h"

#include <utility>

namespace ffrt::cuda {

/// A product of vectors of all samples with gates `first` to `first + count -
/// 1` of r. Gate vectors have these gates only.
class GateProduct {
public:
  enum Direction {
    to_gates,  ///< gates = states * r^T
    to_states, ///< states = gates * r
    add_to_states
  };
  GateProduct(const RecurrentSteps &steps, Direction direction, int64_t first,
              int64_t count)
      : rows(first * steps.units * steps.units),
        product(shape_of(steps, direction, count)) {}

  void operator()(const float *from, const Tensor &r, float *to) const {
    product(from, r.as<float>() + rows, nullptr, nullptr, to);
  }

private:
  static GemmShape shape_of(const RecurrentSteps &steps, Direction direction,
                            int64_t count) {
    GemmShape shape;
    shape.tf32 = steps.tf32;
    shape.m = steps.samples;
    shape.n = steps.units;
    shape.k = count * steps.units;
    if (direction == to_gates)
      std::swap(shape.n, shape.k);
    shape.trans_b = direction == to_gates;
    // A step, or the rows of a gate.
    shape.begins_after(steps.units * int64_t(sizeof(float)));
    if (direction == add_to_states)
      shape.addend = GemmShape::Addend::result;
    return shape;
  }

  int64_t rows; ///< of r before it, in elements
  Gemm product;
};

/// f(sample, unit, where it lies in a vector of all samples) for all.
template <class F> void for_units(const RecurrentSteps &steps, F f) {
  const int64_t units = steps.units;
  for_elements(
      steps.state(), FFRT_LAMBDA(int64_t i) {
        const int64_t sample = i / units;
        f(sample, i - sample * units, i);
      });
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_RECURRENT_STEPS_H
