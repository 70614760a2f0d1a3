//===- recurrent_backward.cu - the gradient of a step of a layer ----------===//
//
// One kernel turns the gradient of the states after a step into that of its
// gates, one product with the recurrent weights that into the gradient of the
// states before (two of both for a GRU whose last gate saw states after they
// were reset; its products take gates that lie apart from the others).
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

void lstm(const RecurrentSteps &steps, const BackwardVectors &v) {
  const int64_t units = steps.units;
  for_units(
      steps, FFRT_LAMBDA(int64_t sample, int64_t u, int64_t) {
        const int64_t state = sample * units;
        lstm_backward(v.saved + 5 * state, v.dy + state,
                      v.before + sample * v.before_stride, v.dstates + state,
                      v.dcells + state, v.dx + 4 * state, units, u);
      });
}

/// The gradients of a GRU's gates once more, for its products.
struct GruGates {
  float *first; ///< of the first two
  float *third;
};

void gru_update(const RecurrentSteps &steps, const BackwardVectors &v,
                const GruGates &gates) {
  const int64_t units = steps.units;
  for_units(
      steps, FFRT_LAMBDA(int64_t sample, int64_t u, int64_t i) {
        const int64_t state = sample * units;
        float *dx = v.dx + 3 * state;
        gru_update_backward(v.saved + 3 * state, v.dy + state,
                            v.before + sample * v.before_stride,
                            v.dstates + state, dx, units, u);
        gates.first[2 * state + u] = dx[u];
        gates.third[i] = dx[2 * units + u];
      });
}

/// From the gradient of the states as the third gate saw them.
void gru_reset(const RecurrentSteps &steps, const BackwardVectors &v,
               const float *dseen, const GruGates &gates) {
  const int64_t units = steps.units;
  for_units(
      steps, FFRT_LAMBDA(int64_t sample, int64_t u, int64_t) {
        const int64_t state = sample * units;
        float *dx = v.dx + 3 * state + units;
        gru_reset_backward(v.saved + 3 * state + units,
                           v.before + sample * v.before_stride, dseen + state,
                           v.dstates + state, dx, u);
        gates.first[2 * state + units + u] = dx[u];
      });
}

void gru_reset_after(const RecurrentSteps &steps, const BackwardVectors &v) {
  const int64_t units = steps.units;
  for_units(
      steps, FFRT_LAMBDA(int64_t sample, int64_t u, int64_t) {
        const int64_t state = sample * units;
        gru_reset_after_backward(v.saved + 4 * state, v.dy + state,
                                 v.before + sample * v.before_stride,
                                 v.dstates + state, v.dx + 3 * state,
                                 v.dr + 3 * state, units, u);
      });
}

template <class F>
void rnn(const RecurrentSteps &steps, const BackwardVectors &v) {
  for_units(
      steps, FFRT_LAMBDA(int64_t, int64_t, int64_t i) {
        v.dx[i] = (v.dstates[i] + v.dy[i]) * F::slope(v.saved[i]);
      });
}

class CudaBackwardStep : public BackwardStep {
public:
  explicit CudaBackwardStep(const RecurrentSteps &steps)
      : steps(steps), product(steps,
                              steps.gates == 3 ? GateProduct::add_to_states
                                               : GateProduct::to_states,
                              0, steps.cell == Cell::gru ? 2 : steps.gates) {
    if (steps.cell == Cell::gru) {
      seen_product.emplace(steps, GateProduct::to_states, 2, 1);
      first.make(2 * steps.state());
      third.make(steps.state());
      dseen.make(steps.state());
    }
  }

  void prepare(const Tensor &weights) override { r = weights; }
  void operator()(const BackwardVectors &v) override;
  void multiply(const BackwardVectors &v) override;

private:
  RecurrentSteps steps;
  Tensor r;
  GateProduct product;
  std::optional<GateProduct> seen_product; ///< of a GRU
  OwnFloats first, third;                  ///< its GruGates
  OwnFloats dseen; ///< of its states after they were reset
};

void CudaBackwardStep::operator()(const BackwardVectors &v) {
  const GruGates gates{first.data(), third.data()};
  switch (steps.cell) {
  case Cell::lstm:
    return lstm(steps, v);
  case Cell::gru:
    gru_update(steps, v, gates);
    (*seen_product)(gates.third, r, dseen.data());
    return gru_reset(steps, v, dseen.data(), gates);
  case Cell::gru_reset_after:
    return gru_reset_after(steps, v);
  case Cell::rnn_tanh:
    return rnn<TanhCell>(steps, v);
  case Cell::rnn_relu:
    return rnn<ReluCell>(steps, v);
  }
}

void CudaBackwardStep::multiply(const BackwardVectors &v) {
  const float *gates = steps.cell == Cell::gru               ? first.data()
                       : steps.cell == Cell::gru_reset_after ? v.dr
                                                             : v.dx;
  product(gates, r, v.dstates);
}

} // namespace

std::unique_ptr<BackwardLayer> backward_in_steps(const RecurrentSteps &steps,
                                                 const BackwardOperands &t) {
  return step_by_step(steps, t, std::make_unique<CudaBackwardStep>(steps));
}

} // namespace ffrt
