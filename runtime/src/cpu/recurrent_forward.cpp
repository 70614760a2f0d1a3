//===- recurrent_forward.cpp - steps of a recurrent layer -----------------===//
//
// A step is one product of the states with the recurrent weights (two for a GRU
// whose last gate sees states after they were reset), and one pass over the
// gates. States are read where the step before wrote them.
//
//===----------------------------------------------------------------------===//
#include "ffrt/recurrent.h"

#include "common/check.h"
#include "cpu/recurrent_steps.h"
#include "ffrt/fast_math.h"

#include <algorithm>

namespace ffrt {

namespace {
constexpr const char *kernel = "recurrent forward";

/// Operands and results by name.
struct Operands {
  const Tensor &x, &r, &bias, &h0, &c0, &y, &h, &c, &saved;
  Operands(Tensors in, Tensors out)
      : x(in.begin()[0]), r(in.begin()[1]), bias(in.begin()[2]),
        h0(in.begin()[3]), c0(in.begin()[4]), y(out.begin()[0]),
        h(out.begin()[1]), c(out.begin()[2]), saved(out.begin()[3]) {}
};

/// What one step reads and writes; vectors of all samples.
struct Step {
  const float *x, *before;
  float *after, *saved;
};
} // namespace

struct RecurrentForward::Impl {
  RecurrentSteps steps;
  StepProduct product, seen_product; ///< the second one of a GRU
  std::vector<float> gates;          ///< what states add to the gates
  std::vector<float> bias;           ///< zeros, if there is none
  std::vector<float> cells;          ///< of an LSTM
  std::vector<float> seen;           ///< states after they were reset
  std::vector<float> zeros;          ///< the first state, if there is none
  Spare states, saved;

  Impl(const Operands &t, const std::string &kind, int64_t reverse)
      : steps(kernel, kind, reverse, t.r, t.x) {
    steps.expect_sequence("x", t.x, steps.gates);
    steps.expect_sequence("y", t.y, 1);
    steps.expect_sequence("saved", t.saved, steps.saved);
    steps.expect_state("h0", t.h0);
    steps.expect_state("c0", t.c0);
    steps.expect_state("h", t.h);
    steps.expect_state("c", t.c);
    const int64_t all = steps.gates * steps.units;
    expect(kernel, !t.bias.data || t.bias.elements() == all,
           "bias: expected " + std::to_string(all) + " elements, found " +
               std::to_string(t.bias.elements()));
    const bool gru = steps.cell == Cell::gru;
    product =
        StepProduct(steps, StepProduct::to_gates, 0, gru ? 2 : steps.gates);
    if (gru) {
      seen_product = StepProduct(steps, StepProduct::to_gates, 2, 1, 1);
      seen.resize(std::size_t(steps.state()));
    }
    gates.resize(std::size_t(steps.gates * steps.state()));
    bias.resize(std::size_t(all));
    if (steps.cell == Cell::lstm)
      cells.resize(std::size_t(steps.state()));
    if (!t.h0.data)
      zeros.resize(std::size_t(steps.state()));
    states.make(t.y, steps.state());
    saved.make(t.saved, steps.saved * steps.state());
  }

  void run(const Operands &t);
  void lstm(const Step &step);
  void gru(const Step &step);
  void gru_reset_after(const Step &step);
  template <class F> void rnn(const Step &step, F squash);
};

void RecurrentForward::Impl::lstm(const Step &step) {
  const int64_t units = steps.units;
  steps.for_units([&](int64_t sample, int64_t first, int64_t n) {
    const float *x = step.x + sample * 4 * units + first;
    const float *g = gates.data() + sample * 4 * units + first;
    float *s = step.saved + sample * 5 * units + first;
    float *c = cells.data() + sample * units + first;
    float *h = step.after + sample * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u) {
      const float in = fast_logistic(x[u] + g[u]),
                  out = fast_logistic(x[units + u] + g[units + u]),
                  forget = fast_logistic(x[2 * units + u] + g[2 * units + u]),
                  cell = fast_tanh(x[3 * units + u] + g[3 * units + u]);
      const float next = forget * c[u] + in * cell;
      s[u] = in;
      s[units + u] = out;
      s[2 * units + u] = forget;
      s[3 * units + u] = cell;
      s[4 * units + u] = next;
      c[u] = next;
      h[u] = out * fast_tanh(next);
    }
  });
}

void RecurrentForward::Impl::gru(const Step &step) {
  const int64_t units = steps.units;
  steps.for_units([&](int64_t sample, int64_t first, int64_t n) {
    const float *x = step.x + sample * 3 * units + first;
    const float *g = gates.data() + sample * 3 * units + first;
    const float *before = step.before + sample * units + first;
    float *s = step.saved + sample * 3 * units + first;
    float *reset = seen.data() + sample * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u) {
      const float q = fast_logistic(x[units + u] + g[units + u]);
      s[u] = fast_logistic(x[u] + g[u]);
      s[units + u] = q;
      reset[u] = q * before[u];
    }
  });
  seen_product(seen.data(), gates.data());
  steps.for_units([&](int64_t sample, int64_t first, int64_t n) {
    const float *x = step.x + (sample * 3 + 2) * units + first;
    const float *g = gates.data() + (sample * 3 + 2) * units + first;
    const float *before = step.before + sample * units + first;
    float *s = step.saved + sample * 3 * units + first;
    float *h = step.after + sample * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u) {
      const float update = fast_tanh(x[u] + g[u]);
      s[2 * units + u] = update;
      h[u] = (1.0f - s[u]) * update + s[u] * before[u];
    }
  });
}

void RecurrentForward::Impl::gru_reset_after(const Step &step) {
  const int64_t units = steps.units;
  steps.for_units([&](int64_t sample, int64_t first, int64_t n) {
    const float *x = step.x + sample * 3 * units + first;
    const float *g = gates.data() + sample * 3 * units + first;
    const float *b = bias.data() + first;
    const float *before = step.before + sample * units + first;
    float *s = step.saved + sample * 4 * units + first;
    float *h = step.after + sample * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u) {
      const float z = fast_logistic(x[u] + g[u] + b[u]),
                  q = fast_logistic(x[units + u] + g[units + u] + b[units + u]),
                  after = g[2 * units + u] + b[2 * units + u],
                  update = fast_tanh(x[2 * units + u] + q * after);
      s[u] = z;
      s[units + u] = q;
      s[2 * units + u] = update;
      s[3 * units + u] = after;
      h[u] = (1.0f - z) * update + z * before[u];
    }
  });
}

template <class F>
void RecurrentForward::Impl::rnn(const Step &step, F squash) {
  const int64_t units = steps.units;
  steps.for_units([&](int64_t sample, int64_t first, int64_t n) {
    const int64_t at = sample * units + first;
    const float *x = step.x + at, *g = gates.data() + at;
    float *s = step.saved + at, *h = step.after + at;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u)
      s[u] = h[u] = squash(x[u] + g[u]);
  });
}

void RecurrentForward::Impl::run(const Operands &t) {
  const int64_t state = steps.state();
  const float *before = t.h0.data ? t.h0.as<float>() : zeros.data();
  product.prepare(t.r);
  if (steps.cell == Cell::gru)
    seen_product.prepare(t.r);
  if (t.bias.data)
    std::copy_n(t.bias.as<float>(), bias.size(), bias.data());
  if (t.c0.data)
    std::copy_n(t.c0.as<float>(), cells.size(), cells.data());
  else
    std::fill(cells.begin(), cells.end(), 0.0f);
  for (int64_t i = 0; i < steps.steps; ++i) {
    const int64_t at = steps.at(i);
    const Step step = {t.x.as<float>() + at * steps.gates * state, before,
                       states.of(t.y) + (t.y.data ? at * state : 0),
                       saved.of(t.saved) +
                           (t.saved.data ? at * steps.saved * state : 0)};
    // Without a first state there is nothing to multiply.
    if (i == 0 && !t.h0.data)
      std::fill(gates.begin(), gates.end(), 0.0f);
    else
      product(const_cast<float *>(before), gates.data());
    switch (steps.cell) {
    case Cell::lstm:
      lstm(step);
      break;
    case Cell::gru:
      gru(step);
      break;
    case Cell::gru_reset_after:
      gru_reset_after(step);
      break;
    case Cell::rnn_tanh:
      rnn(step, [](float x) { return fast_tanh(x); });
      break;
    case Cell::rnn_relu:
      rnn(step, [](float x) { return x > 0.0f ? x : 0.0f; });
      break;
    }
    before = step.after;
  }
  if (t.h.data)
    std::copy_n(before, state, t.h.as<float>());
  if (t.c.data)
    std::copy_n(cells.data(), state, t.c.as<float>());
}

RecurrentForward::RecurrentForward(Context &, Tensors in, Tensors out,
                                   const std::string &kind,
                                   int64_t reverse) try {
  expect_count(kernel, "operands", in.size(), 5);
  expect_count(kernel, "results", out.size(), 4);
  impl = std::make_unique<Impl>(Operands(in, out), kind, reverse);
} catch (const dnnl::error &e) {
  dnnl_failed(kernel, e);
}

RecurrentForward::~RecurrentForward() = default;

void RecurrentForward::operator()(Tensors in, Tensors out) {
  impl->run(Operands(in, out));
}

} // namespace ffrt
