//===- recurrent.cpp - steps of a recurrent layer -------------------------===//
#include "common/recurrent/recurrent.h"

#include "common/copy/move.h"
#include "common/device/target.h"
#include "common/kernels/check.h"

#include <algorithm>

namespace ffrt {

RecurrentSteps::RecurrentSteps(const Context &cx, const char *kernel,
                               const std::string &kind, int64_t reverse,
                               const Tensor &r, const Tensor &sequence)
    : kernel(kernel), reverse(reverse != 0), tf32(cx.tf32) {
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
  this->kind = known->name;
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

void OwnFloats::make(int64_t elements) {
  memory = allocate(std::size_t(elements) * sizeof(float));
}

void OwnFloats::make(const Tensor &t, int64_t elements) {
  if (!t.data)
    make(elements);
}

void copy_floats(const float *from, int64_t n, float *to) {
  move_strided(DType::f32, Nest<2>(1, {n}, {Index{1}, Index{1}}), to, from);
}

void start_floats(const Tensor &t, int64_t n, float *to) {
  if (t.data)
    copy_floats(t.as<float>(), n, to);
  else
    fill_elements(DType::f32, to, n, 0);
}

} // namespace ffrt
