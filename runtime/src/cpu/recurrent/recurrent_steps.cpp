//===- recurrent_steps.cpp - products of a recurrent layer ----------------===//
//
// The weights of a product are brought into the layout in which it is fastest
// once per call, in memory that all layers and blocks share.
//
//===----------------------------------------------------------------------===//
#include "cpu/recurrent/recurrent_steps.h"

namespace ffrt {

using dnnl::memory;

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
