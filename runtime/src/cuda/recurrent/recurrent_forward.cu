//===- recurrent_forward.cu - a step of a recurrent layer -----------------===//
//
// A step is one product of the states with the recurrent weights and one kernel
// for the gates; two of both for a GRU whose last gate sees states after they
// were reset.
//
//===----------------------------------------------------------------------===//
#include "common/recurrent/recurrent_cells.h"
#include "cuda/recurrent/recurrent_layer.h"
#include "cuda/recurrent/recurrent_steps.h"

#include <optional>

namespace ffrt {

using cuda::for_units;
using cuda::GateProduct;

namespace {

/// `g` is what states add to the gates.
void lstm(const RecurrentSteps &steps, const ForwardVectors &v,
          const float *g) {
  const int64_t units = steps.units;
  for_units(
      steps, FFRT_LAMBDA(int64_t sample, int64_t u, int64_t) {
        const int64_t state = sample * units, gates = 4 * state;
        lstm_forward(v.x + gates, g + gates, v.saved + 5 * state,
                     v.cells + state, v.after + state, units, u);
      });
}

/// The first two gates, whose vectors in `g` are alone; and the states as the
/// third one sees them.
void gru_reset(const RecurrentSteps &steps, const ForwardVectors &v,
               const float *g, float *seen) {
  const int64_t units = steps.units;
  for_units(
      steps, FFRT_LAMBDA(int64_t sample, int64_t u, int64_t) {
        const int64_t state = sample * units;
        gru_reset_forward(v.x + 3 * state, g + 2 * state, v.before + state,
                          v.saved + 3 * state, seen + state, units, u);
      });
}

/// The third gate, whose vectors in `g` are alone.
void gru_update(const RecurrentSteps &steps, const ForwardVectors &v,
                const float *g) {
  const int64_t units = steps.units;
  for_units(
      steps, FFRT_LAMBDA(int64_t sample, int64_t u, int64_t) {
        const int64_t state = sample * units;
        gru_update_forward(v.x + 3 * state + 2 * units, g + state,
                           v.before + state, v.saved + 3 * state,
                           v.after + state, units, u);
      });
}

void gru_reset_after(const RecurrentSteps &steps, const ForwardVectors &v,
                     const float *g) {
  const int64_t units = steps.units;
  for_units(
      steps, FFRT_LAMBDA(int64_t sample, int64_t u, int64_t) {
        const int64_t state = sample * units, gates = 3 * state;
        gru_reset_after_forward(v.x + gates, g + gates, v.bias,
                                v.before + state, v.saved + 4 * state,
                                v.after + state, units, u);
      });
}

template <class F>
void rnn(const RecurrentSteps &steps, const ForwardVectors &v, const float *g) {
  for_units(
      steps, FFRT_LAMBDA(int64_t, int64_t, int64_t i) {
        v.saved[i] = v.after[i] = F::squash(v.x[i] + g[i]);
      });
}

class CudaForwardStep : public ForwardStep {
public:
  explicit CudaForwardStep(const RecurrentSteps &steps)
      : steps(steps),
        product(steps, GateProduct::to_gates, 0, gates_of_states()) {
    gates.make(gates_of_states() * steps.state());
    if (steps.cell == Cell::gru) {
      seen_product.emplace(steps, GateProduct::to_gates, 2, 1);
      seen_gate.make(steps.state());
      seen.make(steps.state());
    }
  }

  void prepare(const Tensor &weights) override { r = weights; }
  void operator()(const ForwardVectors &v) override;

private:
  int64_t gates_of_states() const {
    return steps.cell == Cell::gru ? 2 : steps.gates;
  }

  RecurrentSteps steps;
  Tensor r;
  GateProduct product;
  std::optional<GateProduct> seen_product; ///< of a GRU
  OwnFloats gates;                         ///< what states add to them
  OwnFloats seen;                          ///< states after they were reset
  OwnFloats seen_gate;                     ///< what these add
};

void CudaForwardStep::operator()(const ForwardVectors &v) {
  float *g = gates.data();
  if (v.from_zeros)
    start_floats({}, gates_of_states() * steps.state(), g);
  else
    product(v.before, r, g);
  switch (steps.cell) {
  case Cell::lstm:
    return lstm(steps, v, g);
  case Cell::gru:
    gru_reset(steps, v, g, seen.data());
    (*seen_product)(seen.data(), r, seen_gate.data());
    return gru_update(steps, v, seen_gate.data());
  case Cell::gru_reset_after:
    return gru_reset_after(steps, v, g);
  case Cell::rnn_tanh:
    return rnn<TanhCell>(steps, v, g);
  case Cell::rnn_relu:
    return rnn<ReluCell>(steps, v, g);
  }
}

} // namespace

std::unique_ptr<ForwardLayer> forward_in_steps(const RecurrentSteps &steps,
                                               const ForwardOperands &t) {
  return step_by_step(steps, t, std::make_unique<CudaForwardStep>(steps));
}

} // namespace ffrt
