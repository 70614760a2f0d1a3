//===- pool.cpp - operands of pooling -------------------------------------===//
#include "ffrt/pool.h"

#include "common/conv/pool_geometry.h"
#include "common/kernels/check.h"

namespace ffrt {

namespace {

void expect_images(const char *kernel, Tensors in, Tensors out) {
  expect_float_pair(kernel, "operand", in.begin()[0], "result", out.begin()[0]);
}

void expect_index(const char *kernel, const Tensor &index, const Tensor &like) {
  expect_type(kernel, "index", index, DType::i32);
  expect_same_shape(kernel, "index", index, like);
  expect_same_order(kernel, "index", index, like);
}

} // namespace

MaxPoolForward::MaxPoolForward(Context &, Tensors in, Tensors out,
                               const Ints &dilations, const Ints &kernel_shape,
                               const Ints &pads, const Ints &strides) {
  const char *kernel = "max pool forward";
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 2);
  expect_images(kernel, in, out);
  const Tensor &y = out.begin()[0], &index = out.begin()[1];
  if (index.data)
    expect_index(kernel, index, y);
  plan = plan_pool(
      PoolGeometry(kernel, in.begin()[0], y,
                   PoolAttributes{dilations, kernel_shape, pads, strides}));
}

MaxPoolBackward::MaxPoolBackward(Context &, Tensors in, Tensors out,
                                 const Ints &dilations,
                                 const Ints &kernel_shape, const Ints &pads,
                                 const Ints &strides) {
  const char *kernel = "max pool backward";
  expect_count(kernel, "operands", in.size(), 2);
  expect_count(kernel, "results", out.size(), 1);
  expect_images(kernel, in, out);
  const Tensor &dy = in.begin()[0];
  expect_index(kernel, in.begin()[1], dy);
  plan = plan_pool(
      PoolGeometry(kernel, out.begin()[0], dy,
                   PoolAttributes{dilations, kernel_shape, pads, strides}));
}

AveragePoolForward::AveragePoolForward(Context &, Tensors in, Tensors out,
                                       int64_t count_include_pad,
                                       const Ints &kernel_shape,
                                       const Ints &pads, const Ints &strides) {
  const char *kernel = "average pool forward";
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 1);
  expect_images(kernel, in, out);
  plan = plan_pool(PoolGeometry(
      kernel, in.begin()[0], out.begin()[0],
      PoolAttributes{{}, kernel_shape, pads, strides, count_include_pad != 0}));
}

AveragePoolBackward::AveragePoolBackward(Context &, Tensors in, Tensors out,
                                         int64_t count_include_pad,
                                         const Ints &kernel_shape,
                                         const Ints &pads,
                                         const Ints &strides) {
  const char *kernel = "average pool backward";
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 1);
  expect_images(kernel, in, out);
  plan = plan_pool(PoolGeometry(
      kernel, out.begin()[0], in.begin()[0],
      PoolAttributes{{}, kernel_shape, pads, strides, count_include_pad != 0}));
}

} // namespace ffrt
