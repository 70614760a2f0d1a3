//===- recurrent_steps.h - what both directions of a layer share *- C++ -*-===//
#ifndef FFRT_CPU_RECURRENT_STEPS_H
#define FFRT_CPU_RECURRENT_STEPS_H

#include "cpu/dnnl.h"
#include "ffrt/kernel.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <string>
#include <vector>

namespace ffrt {

enum class Cell { lstm, gru, gru_reset_after, rnn_tanh, rnn_relu };

/// Numbers of elements, and the order of steps.
struct RecurrentSteps {
  const char *kernel;
  Cell cell;
  bool reverse;
  int64_t steps, samples, units;
  int64_t gates; ///< gate vectors of a sample and step
  int64_t saved; ///< vectors that the gradient needs

  /// From r and `sequence`, which holds vectors for all steps.
  RecurrentSteps(const char *kernel, const std::string &kind, int64_t reverse,
                 const Tensor &r, const Tensor &sequence);

  /// The step that is done as number `i`.
  int64_t at(int64_t i) const { return reverse ? steps - 1 - i : i; }
  /// Elements of a vector of every sample.
  int64_t state() const { return samples * units; }

  /// These throw unless the tensor is absent or as its name says.
  void expect_sequence(const char *name, const Tensor &t,
                       int64_t vectors) const;
  void expect_state(const char *name, const Tensor &t) const;

  /// Calls f(sample, first unit, units) for disjoint parts of all, on threads.
  template <class F> void for_units(F &&f) const {
    parallel_for(state(), 4096, [&](int64_t begin, int64_t end) {
      for (int64_t at = begin; at < end;) {
        const int64_t unit = at % units, n = std::min(units - unit, end - at);
        f(at / units, unit, n);
        at += n;
      }
    });
  }
};

/// Data of a tensor, or of memory of our own where it is absent.
struct Spare {
  std::vector<float> own;
  /// Memory for an absent `t`; it starts as zeros.
  void make(const Tensor &t, int64_t elements) {
    if (!t.data)
      own.resize(std::size_t(elements));
  }
  float *of(const Tensor &t) { return t.data ? t.as<float>() : own.data(); }
};

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
