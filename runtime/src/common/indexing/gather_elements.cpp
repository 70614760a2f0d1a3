//===- gather_elements.cpp - operands of indexing line by line ------------===//
#include "ffrt/gather_elements.h"

#include "common/kernels/check.h"

namespace ffrt {

namespace {

/// `x` is the tensor that is indexed, `y` has an element per index, and the
/// one called `whole` holds the whole axis.
void check_gather_elements(const char *kernel, const Tensor &x,
                           const Tensor &indices, const Tensor &y, int64_t axis,
                           const Tensor &whole) {
  expect(kernel, axis >= 0 && axis < x.rank,
         "axis: expected a dimension of the operand, found " +
             std::to_string(axis));
  expect(kernel, indices.type == DType::i32 || indices.type == DType::i64,
         std::string("indices: expected i32 or i64, found ") +
             name_of(indices.type));
  expect_type(kernel, "x", x, kReal);
  expect_type(kernel, "y", y, kReal);
  for (auto [name, tensor] :
       {std::pair("x", &x), std::pair("indices", &indices), std::pair("y", &y)})
    expect_row_major(kernel, name, *tensor);
  expect_same_shape(kernel, "y", y, indices);
  const int a = int(axis);
  Tensor like = x;
  like.shape[a] = indices.shape[a];
  expect_same_shape(kernel, "x outside the axis", like, indices);
  expect(kernel, whole.shape[a] == whole.global[a],
         "expected an operand that is whole along the axis, found " +
             std::to_string(whole.shape[a]) + " of " +
             std::to_string(whole.global[a]));
}

} // namespace

GatherElements::GatherElements(Context &, Tensors in, Tensors out, int64_t axis)
    : axis(int(axis)) {
  const char *kernel = "gather elements";
  expect_count(kernel, "operands", in.size(), 2);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &x = in.begin()[0];
  check_gather_elements(kernel, x, in.begin()[1], out.begin()[0], axis, x);
}

GatherElementsBackward::GatherElementsBackward(Context &, Tensors in,
                                               Tensors out, int64_t axis)
    : axis(int(axis)) {
  const char *kernel = "gather elements backward";
  expect_count(kernel, "operands", in.size(), 2);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &indices = in.begin()[0];
  check_gather_elements(kernel, out.begin()[0], indices, in.begin()[1], axis,
                        indices);
  reserve(out.begin()[0], indices);
}

} // namespace ffrt
