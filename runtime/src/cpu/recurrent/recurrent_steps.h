//===- recurrent_steps.h - what both directions of a layer share *- C++ -*-===//
#ifndef FFRT_CPU_RECURRENT_STEPS_H
#define FFRT_CPU_RECURRENT_STEPS_H

#include "common/recurrent/recurrent.h"
#include "cpu/kernels/dnnl.h"
#include "ffrt/parallel.h"

#include <algorithm>

namespace ffrt {

/// Calls f(sample, first unit, units) for disjoint parts of all, on threads.
template <class F> void for_units(const RecurrentSteps &steps, F &&f) {
  const int64_t units = steps.units;
  parallel_for(steps.state(), 4096, [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end;) {
      const int64_t unit = at % units, n = std::min(units - unit, end - at);
      f(at / units, unit, n);
      at += n;
    }
  });
}

/// A product of vectors of all samples with some gates of r, once per step.
class StepProduct {
public:
  enum Direction {
    to_gates,  ///< gates = states * r^T
    to_states, ///< states = gates * r
    add_to_states
  };
  StepProduct() = default;
  /// With gates `first` to `first + count - 1`; rows of gate vectors have all
  /// gates. Products of one layer have slots of their own (see Converted).
  StepProduct(const RecurrentSteps &steps, Direction direction, int64_t first,
              int64_t count, int slot = 0);

  /// Before the first product of a call.
  void prepare(const Tensor &r);
  /// `gates` points at the vectors of gate 0.
  void operator()(float *states, float *gates);

private:
  bool to_gates_ = false;
  int64_t offset = 0; ///< of the first gate in a row of gates
  int64_t rows = 0;   ///< of r before it, in elements
  dnnl::memory states, gates;
  Converted weights;
  Primitive product;
};

} // namespace ffrt

#endif // FFRT_CPU_RECURRENT_STEPS_H
