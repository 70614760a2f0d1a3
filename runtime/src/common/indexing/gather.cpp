//===- gather.cpp - operands of indexing along one dimension --------------===//
#include "ffrt/gather.h"

#include "common/device/target.h"
#include "common/kernels/check.h"

namespace ffrt {

namespace {

/// `x` is the tensor that is indexed, `y` has an entry per index.
void check_gather(const char *kernel, const Tensor &x, const Tensor &y,
                  int64_t axis, const Ints &indices) {
  expect(kernel, axis >= 0 && axis < x.rank,
         "axis: expected a dimension of the operand, found " +
             std::to_string(axis));
  expect_type(kernel, "operand", x, y.type);
  expect_rank(kernel, "operand", x, y.rank);
  expect_same_order(kernel, "operand", x, y);
  const int a = int(axis);
  Tensor like = x;
  like.shape[a] = y.shape[a];
  expect_same_shape(kernel, "operand outside the axis", like, y);
  expect_length(kernel, "indices", indices, std::size_t(y.global[a]));
  for (int64_t index : indices)
    expect(kernel, index >= 0 && index < x.global[a],
           "indices: expected positions below " + std::to_string(x.global[a]) +
               ", found " + std::to_string(index));
}

void expect_whole(const char *kernel, const Tensor &t, int64_t axis) {
  const int a = int(axis);
  expect(kernel, t.shape[a] == t.global[a],
         "expected an operand that is whole along the axis, found " +
             std::to_string(t.shape[a]) + " of " + std::to_string(t.global[a]));
}

std::shared_ptr<void> on_target(const Ints &values) {
  const std::size_t bytes = values.size() * sizeof(int64_t);
  std::shared_ptr<void> memory = allocate(bytes);
  write_target(memory.get(), values.data(), bytes);
  return memory;
}

} // namespace

Gather::Gather(Context &, Tensors in, Tensors out, int64_t axis,
               const Ints &indices)
    : axis(int(axis)) {
  expect_count("gather", "operands", in.size(), 1);
  expect_count("gather", "results", out.size(), 1);
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  check_gather("gather", x, y, axis, indices);
  expect_whole("gather", x, axis);
  const int64_t lo = y.lo[this->axis];
  sources = on_target(
      {indices.begin() + lo, indices.begin() + lo + y.shape[this->axis]});
}

GatherBackward::GatherBackward(Context &, Tensors in, Tensors out, int64_t axis,
                               const Ints &indices)
    : axis(int(axis)) {
  const char *kernel = "gather backward";
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &dy = in.begin()[0], &dx = out.begin()[0];
  check_gather(kernel, dx, dy, axis, indices);
  expect_whole(kernel, dy, axis);
  expect_type(kernel, "result", dx, kReal);
  // Counting sort by position; positions of dy stay in order.
  const int64_t lo = dx.lo[this->axis], extent = dx.shape[this->axis];
  Ints first(std::size_t(extent) + 1, 0);
  for (int64_t index : indices)
    if (index >= lo && index < lo + extent)
      ++first[std::size_t(index - lo) + 1];
  for (std::size_t p = 0; p < std::size_t(extent); ++p)
    first[p + 1] += first[p];
  Ints sorted(std::size_t(first.back()));
  Ints next = first;
  for (std::size_t i = 0; i < indices.size(); ++i)
    if (indices[i] >= lo && indices[i] < lo + extent)
      sorted[std::size_t(next[std::size_t(indices[i] - lo)]++)] = int64_t(i);
  starts = on_target(first);
  sources = on_target(sorted);
}

} // namespace ffrt
