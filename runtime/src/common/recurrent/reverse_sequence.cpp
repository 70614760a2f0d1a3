//===- reverse_sequence.cpp - operands of reversed sequences --------------===//
#include "ffrt/reverse_sequence.h"

#include "common/kernels/check.h"

#include <algorithm>

namespace ffrt {

static int64_t distance_along(const Tensor &x, int axis) {
  int64_t distance = 1;
  for (int d = x.rank - 1; d > axis; --d)
    distance *= x.shape[d];
  return distance;
}

ReverseSequence::ReverseSequence(Context &, Tensors in, Tensors out,
                                 int64_t batch_axis, int64_t time_axis) {
  const char *kernel = "reverse sequence";
  expect_count(kernel, "operands", in.size(), 2);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &x = in.begin()[0], &lengths = in.begin()[1], &y = *out.begin();
  const auto is_axis = [&](int64_t axis) { return axis >= 0 && axis < x.rank; };
  expect(kernel,
         is_axis(batch_axis) && is_axis(time_axis) && batch_axis != time_axis,
         "expected two axes within rank " + std::to_string(x.rank) +
             ", found " + std::to_string(batch_axis) + " and " +
             std::to_string(time_axis));
  expect_type(kernel, "x", x, kReal);
  expect_type(kernel, "y", y, kReal);
  expect_row_major(kernel, "x", x);
  expect_row_major(kernel, "y", y);
  expect_same_shape(kernel, "y", y, x);
  const int b = int(batch_axis), t = int(time_axis);
  expect(kernel, lengths.type == DType::i32 || lengths.type == DType::i64,
         std::string("lengths: expected i32 or i64, found ") +
             name_of(lengths.type));
  expect(kernel, lengths.elements() == x.shape[b],
         "expected " + std::to_string(x.shape[b]) + " lengths, found " +
             std::to_string(lengths.elements()));
  expect(kernel, x.shape[t] == x.global[t],
         "expected all steps (" + std::to_string(x.global[t]) + "), found " +
             std::to_string(x.shape[t]));
  where.sequences = x.shape[b];
  where.between_sequences = distance_along(x, b);
  where.steps = x.shape[t];
  where.between_steps = distance_along(x, t);
  where.inner = std::min(where.between_sequences, where.between_steps);
}

} // namespace ffrt
