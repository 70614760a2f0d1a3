//===- recurrent_backward.cpp - gradients of steps of a recurrent layer ---===//
//
// From the step done last to the first: the gradient of the states after a step
// becomes that of its gates, and with the recurrent weights that of the states
// before.
//
//===----------------------------------------------------------------------===//
#include "ffrt/recurrent.h"

#include "common/kernels/check.h"
#include "common/recurrent/recurrent.h"

namespace ffrt {

namespace {

constexpr const char *kernel = "recurrent backward";

class SteppedBackward : public BackwardLayer {
public:
  SteppedBackward(const RecurrentSteps &steps, const BackwardOperands &t,
                  std::unique_ptr<BackwardStep> step)
      : steps(steps), step(std::move(step)) {
    const int64_t state = steps.state();
    dstates.make(state);
    dcells.make(state);
    zeros.make(state);
    dx.make(t.dx, steps.gates * state);
    dr.make(t.dr, steps.gates * state);
  }

  void operator()(const BackwardOperands &t) override;

private:
  void find_before(const BackwardOperands &t, int64_t i,
                   BackwardVectors &v) const;

  const RecurrentSteps steps;
  const std::unique_ptr<BackwardStep> step;
  OwnFloats dstates, dcells;
  OwnFloats zeros;  ///< what is absent
  OwnFloats dx, dr; ///< for absent results
};

/// The cells or states before step number `i`.
void SteppedBackward::find_before(const BackwardOperands &t, int64_t i,
                                  BackwardVectors &v) const {
  const bool lstm = steps.cell == Cell::lstm;
  v.before_stride = steps.units;
  if (i == 0) {
    v.before = zeros.of(lstm ? t.c0 : t.h0);
    return;
  }
  const int64_t last = steps.at(i - 1) * steps.state();
  v.before = t.y.as<float>() + last;
  if (lstm) {
    v.before = t.saved.as<float>() + steps.saved * last + 4 * steps.units;
    v.before_stride = steps.saved * steps.units;
  }
}

void SteppedBackward::operator()(const BackwardOperands &t) {
  const int64_t state = steps.state(), gates = steps.gates * state;
  const bool reset_after = steps.cell == Cell::gru_reset_after;
  BackwardVectors v{};
  v.dstates = dstates.data();
  v.dcells = dcells.data();
  step->prepare(t.r);
  start_floats(t.dh, state, v.dstates);
  start_floats(t.dc, state, v.dcells);
  for (int64_t i = steps.steps; i-- > 0;) {
    const int64_t at = steps.at(i);
    v.saved = t.saved.as<float>() + at * steps.saved * state;
    v.dy = t.dy.data ? t.dy.as<float>() + at * state : zeros.data();
    v.dx = dx.of(t.dx) + (t.dx.data ? at * gates : 0);
    v.dr = dr.of(t.dr) + (t.dr.data ? at * gates : 0);
    find_before(t, i, v);
    (*step)(v);
    // What the states added to the gates has the gates' gradient.
    if (t.dr.data && !reset_after)
      copy_floats(v.dx, gates, v.dr);
    if (i > 0 || t.dh0.data)
      step->multiply(v);
  }
  if (t.dh0.data)
    copy_floats(v.dstates, state, t.dh0.as<float>());
  if (t.dc0.data)
    copy_floats(v.dcells, state, t.dc0.as<float>());
}

} // namespace

std::unique_ptr<BackwardLayer>
step_by_step(const RecurrentSteps &steps, const BackwardOperands &t,
             std::unique_ptr<BackwardStep> step) {
  return std::make_unique<SteppedBackward>(steps, t, std::move(step));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

struct RecurrentBackward::Impl {
  std::unique_ptr<BackwardLayer> layer;
};

RecurrentBackward::RecurrentBackward(Context &cx, Tensors in, Tensors out,
                                     const std::string &kind, int64_t reverse) {
  expect_count(kernel, "operands", in.size(), 8);
  expect_count(kernel, "results", out.size(), 4);
  const BackwardOperands t(in.begin(), out.begin());
  const RecurrentSteps steps(cx, kernel, kind, reverse, t.r, t.saved);
  steps.expect_sequence("saved", t.saved, steps.saved);
  steps.expect_sequence("dy", t.dy, 1);
  steps.expect_sequence("y", t.y, 1);
  steps.expect_sequence("dx", t.dx, steps.gates);
  steps.expect_sequence("dr", t.dr, steps.gates);
  for (auto [name, state] :
       {std::pair("dh", &t.dh), std::pair("dc", &t.dc), std::pair("h0", &t.h0),
        std::pair("c0", &t.c0), std::pair("dh0", &t.dh0),
        std::pair("dc0", &t.dc0)})
    steps.expect_state(name, *state);
  impl = std::make_unique<Impl>(Impl{make_backward_layer(steps, in, out)});
}

RecurrentBackward::~RecurrentBackward() = default;

void RecurrentBackward::operator()(Tensors in, Tensors out) {
  (*impl->layer)(BackwardOperands(in.begin(), out.begin()));
}

} // namespace ffrt
