//===- recurrent_forward.cpp - steps of a recurrent layer -----------------===//
//
// States are read where the step before wrote them.
//
//===----------------------------------------------------------------------===//
#include "ffrt/recurrent.h"

#include "common/kernels/check.h"
#include "common/recurrent/recurrent.h"

namespace ffrt {

namespace {

constexpr const char *kernel = "recurrent forward";

class SteppedForward : public ForwardLayer {
public:
  SteppedForward(const RecurrentSteps &steps, const ForwardOperands &t,
                 std::unique_ptr<ForwardStep> step)
      : steps(steps), step(std::move(step)) {
    bias.make(t.bias, steps.gates * steps.units);
    if (steps.cell == Cell::lstm)
      cells.make(steps.state());
    zeros.make(t.h0, steps.state());
    states.make(t.y, steps.state());
    saved.make(t.saved, steps.saved * steps.state());
  }

  void operator()(const ForwardOperands &t) override;

private:
  const RecurrentSteps steps;
  const std::unique_ptr<ForwardStep> step;
  OwnFloats bias;          ///< zeros, if there is none
  OwnFloats cells;         ///< of an LSTM
  OwnFloats zeros;         ///< the first state, if there is none
  OwnFloats states, saved; ///< for absent results
};

void SteppedForward::operator()(const ForwardOperands &t) {
  const int64_t state = steps.state();
  ForwardVectors v{};
  v.before = zeros.of(t.h0);
  v.from_zeros = !t.h0.data;
  v.bias = bias.of(t.bias);
  v.cells = cells.data();
  step->prepare(t.r);
  if (v.cells)
    start_floats(t.c0, state, v.cells);
  for (int64_t i = 0; i < steps.steps; ++i) {
    const int64_t at = steps.at(i);
    v.x = t.x.as<float>() + at * steps.gates * state;
    v.after = states.of(t.y) + (t.y.data ? at * state : 0);
    v.saved = saved.of(t.saved) + (t.saved.data ? at * steps.saved * state : 0);
    (*step)(v);
    v.before = v.after;
    v.from_zeros = false;
  }
  if (t.h.data)
    copy_floats(v.before, state, t.h.as<float>());
  if (t.c.data)
    copy_floats(v.cells, state, t.c.as<float>());
}

} // namespace

std::unique_ptr<ForwardLayer> step_by_step(const RecurrentSteps &steps,
                                           const ForwardOperands &t,
                                           std::unique_ptr<ForwardStep> step) {
  return std::make_unique<SteppedForward>(steps, t, std::move(step));
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

struct RecurrentForward::Impl {
  std::unique_ptr<ForwardLayer> layer;
};

RecurrentForward::RecurrentForward(Context &cx, Tensors in, Tensors out,
                                   const std::string &kind, int64_t reverse) {
  expect_count(kernel, "operands", in.size(), 5);
  expect_count(kernel, "results", out.size(), 4);
  const ForwardOperands t(in.begin(), out.begin());
  const RecurrentSteps steps(cx, kernel, kind, reverse, t.r, t.x);
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
  impl = std::make_unique<Impl>(Impl{make_forward_layer(steps, in, out)});
}

RecurrentForward::~RecurrentForward() = default;

void RecurrentForward::operator()(Tensors in, Tensors out) {
  (*impl->layer)(ForwardOperands(in.begin(), out.begin()));
}

} // namespace ffrt
