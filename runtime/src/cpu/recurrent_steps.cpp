//===- recurrent_steps.cpp - what both directions of a layer share --------===//
//
// The weights of a product are brought into the layout in which it is fastest
// once per call, in memory that all layers and blocks share.
//
//===----------------------------------------------------------------------===//
#include "cpu/recurrent_steps.h"

#include "common/check.h"

namespace ffrt {

using dnnl::memory;

RecurrentSteps::RecurrentSteps(const char *kernel, const std::string &kind,
                               int64_t reverse, const Tensor &r,
                               const Tensor &sequence)
    : kernel(kernel), reverse(reverse != 0) {
  struct Known {
    const char *name;
    Cell cell;
    int64_t gates, saved;
  };
  const Known cells[] = {{"lstm", Cell::lstm, 4, 5},
                         {"gru", Cell::gru, 3, 3},
                         {"gru_reset_after", Cell::gru_reset_after, 3, 4},
                         {"rnn_tanh", Cell::rnn_tanh, 1, 1},
                         {"rnn_relu", Cell::rnn_relu, 1, 1}};
  const Known *known =
      std::find_if(std::begin(cells), std::end(cells),
                   [&](const Known &one) { return kind == one.name; });
  expect(kernel, known != std::end(cells),
         "kind: expected lstm, gru, gru_reset_after, rnn_tanh or rnn_relu, "
         "found " +
             kind);
  cell = known->cell;
  gates = known->gates;
  saved = known->saved;
  expect_type(kernel, "r", r, DType::f32);
  expect_row_major(kernel, "r", r);
  const bool directions = r.rank == 3 && r.shape[0] == 1;
  const int64_t rows = r.shape[directions], columns = r.shape[directions + 1];
  expect(kernel,
         (r.rank == 2 || directions) && columns > 0 && rows == gates * columns,
         "r: expected " + std::to_string(gates) +
             " * H rows and H columns, found local shape " +
             to_string(r.rank, r.shape));
  expect_rank(kernel, "sequence", sequence, 3);
  steps = sequence.shape[0];
  samples = sequence.shape[1];
  units = columns;
  expect(kernel, steps == sequence.global[0],
         "expected all steps (" + std::to_string(sequence.global[0]) +
             "), found " + std::to_string(steps));
}

void RecurrentSteps::expect_sequence(const char *name, const Tensor &t,
                                     int64_t vectors) const {
  expect_floats(kernel, name, t, {steps, samples, vectors * units});
}

void RecurrentSteps::expect_state(const char *name, const Tensor &t) const {
  expect_floats(kernel, name, t, {samples, units});
}

StepProduct::StepProduct(const RecurrentSteps &steps, Direction direction,
                         int64_t first, int64_t count, int slot)
    : to_gates_(direction == to_gates), offset(first * steps.units),
      rows(first * steps.units * steps.units) {
  constexpr auto f32 = memory::data_type::f32;
  const int64_t n = steps.units, m = count * n;
  const memory::desc of_states({steps.samples, n}, f32, memory::dims{n, 1}),
      of_gates({steps.samples, m}, f32, memory::dims{steps.gates * n, 1});
  const memory::dims shape =
      to_gates_ ? memory::dims{n, m} : memory::dims{m, n};
  const memory::desc plain(shape, f32,
                           to_gates_ ? memory::dims{1, n} : memory::dims{n, 1}),
      fast(shape, f32, memory::dims{spaced_rows(shape[1]), 1});
  dnnl::primitive_attr attributes = dnnl_attributes();
  if (direction == add_to_states) {
    dnnl::post_ops sum;
    sum.append_sum(1.0f);
    attributes.set_post_ops(sum);
  }
  const memory::desc &from = to_gates_ ? of_states : of_gates,
                     &to = to_gates_ ? of_gates : of_states;
  dnnl::matmul::primitive_desc pd({from, fast, to}, attributes, dnnl_engine());
  states = view(of_states);
  gates = view(of_gates);
  weights = Converted(plain, fast, Converted::to_primitive, slot);
  product =
      Primitive(dnnl::matmul(pd), {{DNNL_ARG_SRC, to_gates_ ? states : gates},
                                   {DNNL_ARG_WEIGHTS, weights.argument()},
                                   {DNNL_ARG_DST, to_gates_ ? gates : states}});
}

void StepProduct::prepare(const Tensor &r) {
  weights.point(r.as<float>() + rows);
  weights.convert();
}

void StepProduct::operator()(float *state_data, float *gate_data) {
  states.set_data_handle(state_data);
  gates.set_data_handle(gate_data + offset);
  product();
}

} // namespace ffrt
