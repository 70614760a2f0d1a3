//===- top_k.cpp - operands of the largest elements -----------------------===//
#include "ffrt/top_k.h"

#include "common/indexing/top_k.h"
#include "common/kernels/check.h"

namespace ffrt {

static void check_whole(const char *kernel, const char *name, const Tensor &t,
                        int64_t axis) {
  expect_row_major(kernel, name, t);
  expect(kernel, axis >= 0 && axis < t.rank,
         "expected axis within rank " + std::to_string(t.rank) + ", found " +
             std::to_string(axis));
  const int d = int(axis);
  expect(kernel, t.shape[d] == t.global[d],
         std::string(name) + ": expected all positions along the axis (" +
             std::to_string(t.global[d]) + "), found " +
             std::to_string(t.shape[d]));
}

/// `part` is as `whole`, but may be shorter along the axis.
static void check_part(const char *kernel, const char *name, const Tensor &part,
                       const Tensor &whole, DType type, int64_t axis) {
  if (!part.data)
    return;
  expect_type(kernel, name, part, type);
  check_whole(kernel, name, part, axis);
  const int d = int(axis);
  expect(kernel, part.shape[d] <= whole.shape[d],
         std::string(name) + ": expected at most " +
             std::to_string(whole.shape[d]) + " positions, found " +
             std::to_string(part.shape[d]));
  Tensor like = whole;
  like.shape[d] = part.shape[d];
  expect_same_shape(kernel, name, part, like);
}

void check_top_k(Tensors in, Tensors out, int64_t axis) {
  const char *kernel = "top k";
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 2);
  const Tensor &x = *in.begin();
  expect_type(kernel, "x", x, kReal);
  check_whole(kernel, "x", x, axis);
  check_part(kernel, "y", out.begin()[0], x, kReal, axis);
  check_part(kernel, "index", out.begin()[1], x, DType::i64, axis);
}

TopKBackward::TopKBackward(Context &, Tensors in, Tensors out, int64_t axis)
    : axis(int(axis)) {
  const char *kernel = "top k backward";
  expect_count(kernel, "operands", in.size(), 2);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &dx = *out.begin();
  expect_type(kernel, "dx", dx, kReal);
  check_whole(kernel, "dx", dx, axis);
  check_part(kernel, "dy", in.begin()[0], dx, kReal, axis);
  check_part(kernel, "index", in.begin()[1], dx, DType::i64, axis);
}

} // namespace ffrt
