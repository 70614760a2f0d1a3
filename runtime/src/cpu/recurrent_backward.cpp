//===- recurrent_backward.cpp - gradients of steps of a recurrent layer ---===//
//
// From the step done last to the first: one pass turns the gradient of the
// states after a step into that of its gates, one product with the recurrent
// weights that into the gradient of the states before (two for a GRU whose last
// gate saw states after they were reset).
//
//===----------------------------------------------------------------------===//
#include "ffrt/recurrent.h"

#include "common/check.h"
#include "cpu/recurrent_steps.h"
#include "ffrt/fast_math.h"

#include <algorithm>

namespace ffrt {

namespace {
constexpr const char *kernel = "recurrent backward";

/// Operands and results by name.
struct Operands {
  const Tensor &r, &saved, &dy, &dh, &dc, &y, &h0, &c0, &dx, &dh0, &dc0, &dr;
  Operands(Tensors in, Tensors out)
      : r(in.begin()[0]), saved(in.begin()[1]), dy(in.begin()[2]),
        dh(in.begin()[3]), dc(in.begin()[4]), y(in.begin()[5]),
        h0(in.begin()[6]), c0(in.begin()[7]), dx(out.begin()[0]),
        dh0(out.begin()[1]), dc0(out.begin()[2]), dr(out.begin()[3]) {}
};

/// What one step reads and writes; vectors of all samples.
struct Step {
  const float *saved, *dy;
  float *dx, *dr;
};

/// Rows of a vector per sample.
struct Before {
  const float *data;
  int64_t stride;
};
} // namespace

struct RecurrentBackward::Impl {
  RecurrentSteps steps;
  StepProduct product, seen_product; ///< the second one of a GRU
  std::vector<float> dstates, dcells;
  std::vector<float> dseen; ///< of states after they were reset
  std::vector<float> zeros; ///< what is absent
  Spare dx, dr;

  Impl(const Operands &t, const std::string &kind, int64_t reverse)
      : steps(kernel, kind, reverse, t.r, t.saved) {
    steps.expect_sequence("saved", t.saved, steps.saved);
    steps.expect_sequence("dy", t.dy, 1);
    steps.expect_sequence("y", t.y, 1);
    steps.expect_sequence("dx", t.dx, steps.gates);
    steps.expect_sequence("dr", t.dr, steps.gates);
    for (auto [name, state] :
         {std::pair("dh", &t.dh), std::pair("dc", &t.dc),
          std::pair("h0", &t.h0), std::pair("c0", &t.c0),
          std::pair("dh0", &t.dh0), std::pair("dc0", &t.dc0)})
      steps.expect_state(name, *state);
    const bool gru = steps.cell == Cell::gru;
    const bool kept = gru || steps.cell == Cell::gru_reset_after;
    product = StepProduct(
        steps, kept ? StepProduct::add_to_states : StepProduct::to_states, 0,
        gru ? 2 : steps.gates);
    const auto state = std::size_t(steps.state());
    if (gru) {
      seen_product = StepProduct(steps, StepProduct::to_states, 2, 1, 1);
      dseen.resize(state);
    }
    dstates.resize(state);
    dcells.resize(state);
    zeros.resize(state);
    dx.make(t.dx, steps.gates * steps.state());
    dr.make(t.dr, steps.gates * steps.state());
  }

  void run(const Operands &t);
  Before before(const Operands &t, int64_t i) const;
  void lstm(const Step &step, Before cells);
  void gru(const Step &step, Before states);
  void gru_reset_after(const Step &step, Before states);
  template <class F> void rnn(const Step &step, F slope);
};

void RecurrentBackward::Impl::lstm(const Step &step, Before cells) {
  const int64_t units = steps.units;
  steps.for_units([&](int64_t sample, int64_t first, int64_t n) {
    const int64_t at = sample * units + first;
    const float *s = step.saved + sample * 5 * units + first;
    const float *dy = step.dy + at,
                *before = cells.data + sample * cells.stride + first;
    const float *dh = dstates.data() + at;
    float *dc = dcells.data() + at;
    float *dx = step.dx + sample * 4 * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u) {
      const float in = s[u], out = s[units + u], forget = s[2 * units + u],
                  cell = s[3 * units + u],
                  squashed = fast_tanh(s[4 * units + u]);
      const float dstate = dh[u] + dy[u];
      const float dcell = dc[u] + dstate * out * (1.0f - squashed * squashed);
      dx[u] = dcell * cell * in * (1.0f - in);
      dx[units + u] = dstate * squashed * out * (1.0f - out);
      dx[2 * units + u] = dcell * before[u] * forget * (1.0f - forget);
      dx[3 * units + u] = dcell * in * (1.0f - cell * cell);
      dc[u] = dcell * forget;
    }
  });
}

void RecurrentBackward::Impl::gru(const Step &step, Before states) {
  const int64_t units = steps.units;
  steps.for_units([&](int64_t sample, int64_t first, int64_t n) {
    const int64_t at = sample * units + first;
    const float *s = step.saved + sample * 3 * units + first;
    const float *dy = step.dy + at,
                *before = states.data + sample * states.stride + first;
    float *dh = dstates.data() + at;
    float *dx = step.dx + sample * 3 * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u) {
      const float z = s[u], update = s[2 * units + u], dstate = dh[u] + dy[u];
      dx[u] = dstate * (before[u] - update) * z * (1.0f - z);
      dx[2 * units + u] = dstate * (1.0f - z) * (1.0f - update * update);
      dh[u] = dstate * z;
    }
  });
  seen_product(dseen.data(), step.dx);
  steps.for_units([&](int64_t sample, int64_t first, int64_t n) {
    const int64_t at = sample * units + first;
    const float *q = step.saved + (sample * 3 + 1) * units + first;
    const float *before = states.data + sample * states.stride + first,
                *reset = dseen.data() + at;
    float *dh = dstates.data() + at;
    float *dx = step.dx + (sample * 3 + 1) * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u) {
      dx[u] = reset[u] * before[u] * q[u] * (1.0f - q[u]);
      dh[u] += reset[u] * q[u];
    }
  });
}

void RecurrentBackward::Impl::gru_reset_after(const Step &step, Before states) {
  const int64_t units = steps.units;
  steps.for_units([&](int64_t sample, int64_t first, int64_t n) {
    const int64_t at = sample * units + first;
    const float *s = step.saved + sample * 4 * units + first;
    const float *dy = step.dy + at,
                *before = states.data + sample * states.stride + first;
    float *dh = dstates.data() + at;
    float *dx = step.dx + sample * 3 * units + first;
    float *dr = step.dr + sample * 3 * units + first;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u) {
      const float z = s[u], q = s[units + u], update = s[2 * units + u],
                  dstate = dh[u] + dy[u];
      const float dz = dstate * (before[u] - update) * z * (1.0f - z),
                  dupdate = dstate * (1.0f - z) * (1.0f - update * update),
                  dq = dupdate * s[3 * units + u] * q * (1.0f - q);
      dx[u] = dr[u] = dz;
      dx[units + u] = dr[units + u] = dq;
      dx[2 * units + u] = dupdate;
      dr[2 * units + u] = dupdate * q;
      dh[u] = dstate * z;
    }
  });
}

template <class F>
void RecurrentBackward::Impl::rnn(const Step &step, F slope) {
  const int64_t units = steps.units;
  steps.for_units([&](int64_t sample, int64_t first, int64_t n) {
    const int64_t at = sample * units + first;
    const float *h = step.saved + at, *dy = step.dy + at;
    const float *dh = dstates.data() + at;
    float *dx = step.dx + at;
#pragma GCC ivdep
    for (int64_t u = 0; u < n; ++u)
      dx[u] = (dh[u] + dy[u]) * slope(h[u]);
  });
}

/// Starts `values` with a tensor, or with zeros.
static void start(std::vector<float> &values, const Tensor &t) {
  if (t.data)
    std::copy_n(t.as<float>(), values.size(), values.data());
  else
    std::fill(values.begin(), values.end(), 0.0f);
}

/// The cells of an LSTM, or the states of a GRU, before step number `i`.
Before RecurrentBackward::Impl::before(const Operands &t, int64_t i) const {
  const int64_t units = steps.units;
  const bool lstm = steps.cell == Cell::lstm;
  const Tensor &first = lstm ? t.c0 : t.h0;
  if (i == 0)
    return {first.data ? first.as<float>() : zeros.data(), units};
  const int64_t last = steps.at(i - 1) * steps.state();
  if (lstm)
    return {t.saved.as<float>() + steps.saved * last + 4 * units,
            steps.saved * units};
  return {t.y.as<float>() + last, units};
}

void RecurrentBackward::Impl::run(const Operands &t) {
  const int64_t state = steps.state(), gates = steps.gates * state;
  product.prepare(t.r);
  if (steps.cell == Cell::gru)
    seen_product.prepare(t.r);
  start(dstates, t.dh);
  start(dcells, t.dc);
  for (int64_t i = steps.steps; i-- > 0;) {
    const int64_t at = steps.at(i);
    Step step;
    step.saved = t.saved.as<float>() + at * steps.saved * state;
    step.dy = t.dy.data ? t.dy.as<float>() + at * state : zeros.data();
    step.dx = dx.of(t.dx) + (t.dx.data ? at * gates : 0);
    step.dr = dr.of(t.dr) + (t.dr.data ? at * gates : 0);
    switch (steps.cell) {
    case Cell::lstm:
      lstm(step, before(t, i));
      break;
    case Cell::gru:
      gru(step, before(t, i));
      break;
    case Cell::gru_reset_after:
      gru_reset_after(step, before(t, i));
      break;
    case Cell::rnn_tanh:
      rnn(step, [](float h) { return 1.0f - h * h; });
      break;
    case Cell::rnn_relu:
      rnn(step, [](float h) { return h > 0.0f ? 1.0f : 0.0f; });
      break;
    }
    // What the states added to the gates has the gates' gradient.
    if (steps.cell != Cell::gru_reset_after)
      std::copy_n(step.dx, t.dr.data ? gates : 0, step.dr);
    if (i > 0 || t.dh0.data)
      product(dstates.data(),
              steps.cell == Cell::gru_reset_after ? step.dr : step.dx);
  }
  if (t.dh0.data)
    std::copy_n(dstates.data(), state, t.dh0.as<float>());
  if (t.dc0.data)
    std::copy_n(dcells.data(), state, t.dc0.as<float>());
}

RecurrentBackward::RecurrentBackward(Context &, Tensors in, Tensors out,
                                     const std::string &kind,
                                     int64_t reverse) try {
  expect_count(kernel, "operands", in.size(), 8);
  expect_count(kernel, "results", out.size(), 4);
  impl = std::make_unique<Impl>(Operands(in, out), kind, reverse);
} catch (const dnnl::error &e) {
  dnnl_failed(kernel, e);
}

RecurrentBackward::~RecurrentBackward() = default;

void RecurrentBackward::operator()(Tensors in, Tensors out) {
  impl->run(Operands(in, out));
}

} // namespace ffrt
