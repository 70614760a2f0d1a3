//===- recurrent_forward.cpp - a step of a recurrent layer ----------------===//
//
// A step is one product of the states with the recurrent weights (two for a GRU
// whose last gate sees states after they were reset), and one pass over the
// gates.
//
//===----------------------------------------------------------------------===//
#include "common/recurrent/recurrent_cells.h"
#include "cpu/recurrent/recurrent_steps.h"

#include <algorithm>
#include <vector>

namespace ffrt {

namespace {

class CpuForwardStep : public ForwardStep {
public:
  explicit CpuForwardStep(const RecurrentSteps &steps) : steps(steps) {
    const bool gru = steps.cell == Cell::gru;
    product =
        StepProduct(steps, StepProduct::to_gates, 0, gru ? 2 : steps.gates);
    if (gru) {
      seen_product = StepProduct(steps, StepProduct::to_gates, 2, 1, 1);
      seen.resize(std::size_t(steps.state()));
    }
    gates.resize(std::size_t(steps.gates * steps.state()));
  }

  void prepare(const Tensor &r) override {
    product.prepare(r);
    if (steps.cell == Cell::gru)
      seen_product.prepare(r);
  }
  void operator()(const ForwardVectors &v) override;

private:
  void lstm(const ForwardVectors &v);
  void gru(const ForwardVectors &v);
  void gru_reset_after(const ForwardVectors &v);
  template <class F> void rnn(const ForwardVectors &v);

  RecurrentSteps steps;
  StepProduct product, seen_product; ///< the second one of a GRU
  std::vector<float> gates;          ///< what states add to the gates
  std::vector<float> seen;           ///< states after they were reset
};

void CpuForwardStep::lstm(const ForwardVectors &v) {
  const int64_t units = steps.units;
  for_units(steps, [&](int64_t sample, int64_t first, int64_t n) {
    const float *x = v.x + sample * 4 * units + first;
    const float *g = gates.data() + sample * 4 * units + first;
    float *s = v.saved + sample * 5 * units + first;
    float *c = v.cells + sample * units + first;
    float *h = v.after + sample * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u)
      lstm_forward(x, g, s, c, h, units, u);
  });
}

void CpuForwardStep::gru(const ForwardVectors &v) {
  const int64_t units = steps.units;
  for_units(steps, [&](int64_t sample, int64_t first, int64_t n) {
    const float *x = v.x + sample * 3 * units + first;
    const float *g = gates.data() + sample * 3 * units + first;
    const float *before = v.before + sample * units + first;
    float *s = v.saved + sample * 3 * units + first;
    float *reset = seen.data() + sample * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u)
      gru_reset_forward(x, g, before, s, reset, units, u);
  });
  seen_product(seen.data(), gates.data());
  for_units(steps, [&](int64_t sample, int64_t first, int64_t n) {
    const float *x = v.x + (sample * 3 + 2) * units + first;
    const float *g = gates.data() + (sample * 3 + 2) * units + first;
    const float *before = v.before + sample * units + first;
    float *s = v.saved + sample * 3 * units + first;
    float *h = v.after + sample * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u)
      gru_update_forward(x, g, before, s, h, units, u);
  });
}

void CpuForwardStep::gru_reset_after(const ForwardVectors &v) {
  const int64_t units = steps.units;
  for_units(steps, [&](int64_t sample, int64_t first, int64_t n) {
    const float *x = v.x + sample * 3 * units + first;
    const float *g = gates.data() + sample * 3 * units + first;
    const float *b = v.bias + first;
    const float *before = v.before + sample * units + first;
    float *s = v.saved + sample * 4 * units + first;
    float *h = v.after + sample * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u)
      gru_reset_after_forward(x, g, b, before, s, h, units, u);
  });
}

template <class F> void CpuForwardStep::rnn(const ForwardVectors &v) {
  const int64_t units = steps.units;
  for_units(steps, [&](int64_t sample, int64_t first, int64_t n) {
    const int64_t at = sample * units + first;
    const float *x = v.x + at, *g = gates.data() + at;
    float *s = v.saved + at, *h = v.after + at;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u)
      s[u] = h[u] = F::squash(x[u] + g[u]);
  });
}

void CpuForwardStep::operator()(const ForwardVectors &v) {
  if (v.from_zeros)
    std::fill(gates.begin(), gates.end(), 0.0f);
  else
    product(const_cast<float *>(v.before), gates.data());
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

std::unique_ptr<ForwardLayer> make_forward_layer(const RecurrentSteps &steps,
                                                 Tensors in, Tensors out) try {
  return step_by_step(steps, ForwardOperands(in.begin(), out.begin()),
                      std::make_unique<CpuForwardStep>(steps));
} catch (const dnnl::error &e) {
  dnnl_failed(steps.kernel, e);
}

} // namespace ffrt
