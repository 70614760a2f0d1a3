//===- recurrent_backward.cpp - the gradient of a step of a layer ---------===//
//
// One pass turns the gradient of the states after a step into that of its
// gates, one product with the recurrent weights that into the gradient of the
// states before (two for a GRU whose last gate saw states after they were
// reset).
//
//===----------------------------------------------------------------------===//
#include "common/recurrent/recurrent_cells.h"
#include "cpu/recurrent/recurrent_steps.h"

#include <vector>

namespace ffrt {

namespace {

class CpuBackwardStep : public BackwardStep {
public:
  explicit CpuBackwardStep(const RecurrentSteps &steps) : steps(steps) {
    const bool gru = steps.cell == Cell::gru;
    const bool kept = gru || steps.cell == Cell::gru_reset_after;
    product = StepProduct(
        steps, kept ? StepProduct::add_to_states : StepProduct::to_states, 0,
        gru ? 2 : steps.gates);
    if (gru) {
      seen_product = StepProduct(steps, StepProduct::to_states, 2, 1, 1);
      dseen.resize(std::size_t(steps.state()));
    }
  }

  void prepare(const Tensor &r) override {
    product.prepare(r);
    if (steps.cell == Cell::gru)
      seen_product.prepare(r);
  }
  void operator()(const BackwardVectors &v) override;
  void multiply(const BackwardVectors &v) override {
    product(v.dstates, steps.cell == Cell::gru_reset_after ? v.dr : v.dx);
  }

private:
  void lstm(const BackwardVectors &v);
  void gru(const BackwardVectors &v);
  void gru_reset_after(const BackwardVectors &v);
  template <class F> void rnn(const BackwardVectors &v);

  RecurrentSteps steps;
  StepProduct product, seen_product; ///< the second one of a GRU
  std::vector<float> dseen;          ///< of states after they were reset
};

void CpuBackwardStep::lstm(const BackwardVectors &v) {
  const int64_t units = steps.units;
  for_units(steps, [&](int64_t sample, int64_t first, int64_t n) {
    const int64_t at = sample * units + first;
    const float *s = v.saved + sample * 5 * units + first;
    const float *dy = v.dy + at,
                *before = v.before + sample * v.before_stride + first;
    const float *dh = v.dstates + at;
    float *dc = v.dcells + at;
    float *dx = v.dx + sample * 4 * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u)
      lstm_backward(s, dy, before, dh, dc, dx, units, u);
  });
}

void CpuBackwardStep::gru(const BackwardVectors &v) {
  const int64_t units = steps.units;
  for_units(steps, [&](int64_t sample, int64_t first, int64_t n) {
    const int64_t at = sample * units + first;
    const float *s = v.saved + sample * 3 * units + first;
    const float *dy = v.dy + at,
                *before = v.before + sample * v.before_stride + first;
    float *dh = v.dstates + at;
    float *dx = v.dx + sample * 3 * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u)
      gru_update_backward(s, dy, before, dh, dx, units, u);
  });
  seen_product(dseen.data(), v.dx);
  for_units(steps, [&](int64_t sample, int64_t first, int64_t n) {
    const int64_t at = sample * units + first;
    const float *q = v.saved + (sample * 3 + 1) * units + first;
    const float *before = v.before + sample * v.before_stride + first,
                *reset = dseen.data() + at;
    float *dh = v.dstates + at;
    float *dx = v.dx + (sample * 3 + 1) * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u)
      gru_reset_backward(q, before, reset, dh, dx, u);
  });
}

void CpuBackwardStep::gru_reset_after(const BackwardVectors &v) {
  const int64_t units = steps.units;
  for_units(steps, [&](int64_t sample, int64_t first, int64_t n) {
    const int64_t at = sample * units + first;
    const float *s = v.saved + sample * 4 * units + first;
    const float *dy = v.dy + at,
                *before = v.before + sample * v.before_stride + first;
    float *dh = v.dstates + at;
    float *dx = v.dx + sample * 3 * units + first;
    float *dr = v.dr + sample * 3 * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u)
      gru_reset_after_backward(s, dy, before, dh, dx, dr, units, u);
  });
}

template <class F> void CpuBackwardStep::rnn(const BackwardVectors &v) {
  const int64_t units = steps.units;
  for_units(steps, [&](int64_t sample, int64_t first, int64_t n) {
    const int64_t at = sample * units + first;
    const float *h = v.saved + at, *dy = v.dy + at;
    const float *dh = v.dstates + at;
    float *dx = v.dx + at;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u)
      dx[u] = (dh[u] + dy[u]) * F::slope(h[u]);
  });
}

void CpuBackwardStep::operator()(const BackwardVectors &v) {
  switch (steps.cell) {
  case Cell::lstm:
    return lstm(v);
  case Cell::gru:
    return gru(v);
  case Cell::gru_reset_after:
    return gru_reset_after(v);
  case Cell::rnn_tanh:
    return rnn<TanhCell>(v);
  case Cell::rnn_relu:
    return rnn<ReluCell>(v);
  }
}

} // namespace

std::unique_ptr<BackwardLayer>
make_backward_layer(const RecurrentSteps &steps, Tensors in, Tensors out) try {
  return step_by_step(steps, BackwardOperands(in.begin(), out.begin()),
                      std::make_unique<CpuBackwardStep>(steps));
} catch (const dnnl::error &e) {
  dnnl_failed(steps.kernel, e);
}

} // namespace ffrt
