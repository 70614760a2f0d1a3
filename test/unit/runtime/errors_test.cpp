//===- errors_test.cpp - kernels refuse what they cannot do ---------------===//
#include "common/copy/move.h"
#include "ffrt/kernels.h"
#include "refusals.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

#define EXPECT_ERROR(text, ...)                                                \
  EXPECT_EQ(error_of([&](Context &cx) { __VA_ARGS__; }), text)

const Tensor i4 = tensor({1, 2, 4, 4}, DType::i32), f4 = tensor({1, 2, 4, 4}),
             w4 = tensor({2, 2, 3, 3}), f1 = tensor({2}), f2 = tensor({3, 4}),
             i1 = tensor({3}, DType::i32), f0 = tensor({});
const Tensor last = tensor({1, 2, 4, 4}, DType::f32, Order::channels_last);
const Ints two = {1, 1}, four = {1, 1, 1, 1};

TEST(KernelErrors, UnsupportedTypes) {
  EXPECT_ERROR("conv forward: x and w: expected one type, f32, bf16 or f16, "
               "found i32 and f32",
               ConvForward(cx, {i4, w4, f1}, {f4}, {}, two, 1, four, two));
  EXPECT_ERROR("conv backward data: dy and w: expected one type, f32, bf16 or "
               "f16, found i32 and f32",
               ConvBackwardData(cx, {i4, w4}, {f4}, two, 1, four, two));
  EXPECT_ERROR("conv backward weights: x and dy: expected one type, f32, bf16 "
               "or f16, found i32 and f32",
               ConvBackwardWeights(cx, {i4, f4}, {w4}, two, 1, four, two));
  EXPECT_ERROR(
      "matmul: a and b: expected one type, f32, bf16 or f16, found i32 and f32",
      MatMul(cx, {i1, f2, {}, {}}, {f2}, 1, 1, {}, 0, 0));
  EXPECT_ERROR(
      "max pool forward: operand: expected type f32, bf16 or f16, found i32",
      MaxPoolForward(cx, {i4}, {f4, {}}, two, two, four, two));
  EXPECT_ERROR("max pool forward: index: expected type i32, found f32",
               MaxPoolForward(cx, {f4}, {f4, f4}, two, two, four, two));
  EXPECT_ERROR("max pool backward: index: expected type i32, found f32",
               MaxPoolBackward(cx, {f4, f4}, {f4}, two, two, four, two));
  EXPECT_ERROR("average pool forward: operand: expected type f32, bf16 or f16, "
               "found i32",
               AveragePoolForward(cx, {i4}, {f4}, 0, two, four, two));
  EXPECT_ERROR("average pool backward: operand: expected type f32, bf16 or "
               "f16, found i32",
               AveragePoolBackward(cx, {i4}, {f4}, 0, two, four, two));
  EXPECT_ERROR("lrn forward: operand: expected type f32, found i32",
               LrnForward(cx, {i4}, {f4, {}}, 1, 1, 1, 3));
  EXPECT_ERROR("lrn backward: dy: expected type f32, found i32",
               LrnBackward(cx, {i4, f4, f4}, {f4}, 1, 1, 1, 3));
  EXPECT_ERROR("elementwise: operand: expected type f32, found i32",
               ReluForward(cx, {i4}, {f4}));
  EXPECT_ERROR("broadcast: operand: expected type f32, found i32",
               Add(cx, {i4, f4}, {f4}));
  EXPECT_ERROR("broadcast: operand: expected type f32, found i32",
               Select(cx, {f4, i4, f4}, {f4}));
  EXPECT_ERROR("cast: result: expected type i64, found i32",
               Cast(cx, {f4}, {i4}, int64_t(DType::i64)));
  EXPECT_ERROR("reduce sum: operand: expected type f32, bf16 or f16, found i32",
               ReduceSum(cx, {i4}, {f0}, {}, 0));
  EXPECT_ERROR("reshape: operand: expected type f32, found i32",
               Reshape(cx, {i4}, {f4}));
  EXPECT_ERROR("pad: expected type f32, bf16, f16 or i32, found i64",
               Tensor t = tensor({2, 2}, DType::i64);
               Pad(cx, {t}, {t}, four, 0.0));
  EXPECT_ERROR("dropout: operand: expected type f32, bf16 or f16, found i32",
               Dropout(cx, {i4}, {f4}, 1, 0.5));
  EXPECT_ERROR("softmax forward: operand: expected type f32, found i32",
               SoftmaxForward(cx, {i4}, {f4}, {1}, 0));
  EXPECT_ERROR("softmax backward: operand: expected type f32, found i32",
               SoftmaxBackward(cx, {i4, f4}, {f4}, {1}, 0));
  EXPECT_ERROR("cross entropy forward: target: expected type i32, found f32",
               CrossEntropyForward(cx, {f2, f1}, {f0}, 1));
  EXPECT_ERROR("mse forward: target: expected type f32, found i32",
               MseForward(cx, {f2, i1}, {f0}));
  EXPECT_ERROR("sgd update: g: expected type f32, found i32",
               SgdUpdate(cx, {f4, i4, {}}, {f4}, 0.0, 0));
  EXPECT_ERROR("sgd update: rounded: expected type bf16 or f16, found f32",
               SgdUpdate(cx, {f4, f4, {}}, {f4, f4}, 0.0, 0));
  EXPECT_ERROR("dropout: addend: expected type f32, bf16 or f16, found i32",
               Dropout(cx, {f4, i4}, {f4}, 1, 0.5));
  EXPECT_ERROR("combine: expected a type of 2 bytes or more, found one of 1",
               static_cast<void>(cx);
               Tensor t = tensor({2}, DType::u8);
               combine(t, {}, t, {}, {2}, ReduceOp::sum));
  EXPECT_ERROR("fill: expected f32, f64, bf16, f16 or i32, found another type",
               static_cast<void>(cx);
               fill_elements(DType::i64, f1.data, 2, 0.0));
}

TEST(KernelErrors, TwoNarrowTypes) {
  const Tensor b4 = tensor({1, 2, 4, 4}, DType::bf16),
               h4 = tensor({1, 2, 4, 4}, DType::f16);
  const auto expect_refused = [](const std::string &kernel,
                                 const std::function<void(Context &)> &f) {
    EXPECT_EQ(error_of(f), kernel + ": operand and result: expected at most "
                                    "one type besides f32, found bf16 and f16");
  };
  expect_refused("max pool forward", [&](Context &cx) {
    MaxPoolForward(cx, {b4}, {h4, {}}, two, two, four, two);
  });
  expect_refused("max pool backward", [&](Context &cx) {
    MaxPoolBackward(cx, {b4, i4}, {h4}, two, two, four, two);
  });
  expect_refused("average pool forward", [&](Context &cx) {
    AveragePoolForward(cx, {b4}, {h4}, 0, two, four, two);
  });
  expect_refused("average pool backward", [&](Context &cx) {
    AveragePoolBackward(cx, {b4}, {h4}, 0, two, four, two);
  });
  expect_refused("dropout",
                 [&](Context &cx) { Dropout(cx, {b4}, {h4}, 1, 0.5); });
}

TEST(KernelErrors, CountsRanksAndLengths) {
  EXPECT_ERROR("conv forward: expected 3 operands, found 2",
               ConvForward(cx, {f4, w4}, {f4}, {}, two, 1, four, two));
  EXPECT_ERROR("conv forward: expected 1 results, found 0",
               ConvForward(cx, {f4, w4, f1}, {}, {}, two, 1, four, two));
  EXPECT_ERROR("conv forward: pads: expected 4 numbers, found 2",
               ConvForward(cx, {f4, w4, f1}, {f4}, {}, two, 1, two, two));
  EXPECT_ERROR(
      "conv forward: clamp: expected up to 2 bounds, found 3",
      ConvForward(cx, {f4, w4, f1}, {f4}, {0.0, 1.0, 2.0}, two, 1, four, two));
  EXPECT_ERROR("conv forward: w: expected rank 4, found 2",
               ConvForward(cx, {f4, f2, f1}, {f4}, {}, two, 1, four, two));
  EXPECT_ERROR("conv forward: w: expected row-major order, found "
               "channels-last",
               ConvForward(cx, {f4, last, f1}, {f4}, {}, two, 1, four, two));
  EXPECT_ERROR("conv forward: y: expected 2 channels, a multiple of 1 "
               "groups, found 3",
               ConvForward(cx, {f4, w4, f1}, {tensor({1, 3, 4, 4})}, {}, two, 1,
                           four, two));
  EXPECT_ERROR("conv forward: x: expected a multiple of 2 channels and at "
               "most 1 groups, found 3 channels",
               ConvForward(cx, {tensor({1, 3, 4, 4}), w4, f1}, {f4}, {}, two, 1,
                           four, two));
  EXPECT_ERROR("conv forward: b: expected rank 1, found 2",
               ConvForward(cx, {f4, w4, f2}, {f4}, {}, two, 1, four, two));
  EXPECT_ERROR("max pool forward: kernel_shape: expected 2 numbers, found 4",
               MaxPoolForward(cx, {f4}, {f4, {}}, two, four, four, two));
  EXPECT_ERROR("matmul: expected op(a) and op(b) to have a product of local "
               "shape [3, 4], found a [3, 4] and b [3, 4]",
               MatMul(cx, {f2, f2, {}, {}}, {f2}, 1, 1, {}, 0, 0));
  EXPECT_ERROR("matmul: c: expected a local shape that broadcasts to [3, 4], "
               "found [2]",
               MatMul(cx, {f2, tensor({4, 4}), f1, {}}, {f2}, 1, 1, {}, 0, 0));
  EXPECT_ERROR("matmul: c: expected rank at most 2, found 4",
               MatMul(cx, {f2, tensor({4, 4}), f4, {}}, {f2}, 1, 1, {}, 0, 0));
  EXPECT_ERROR("matmul: addend: expected local shape [3, 4], found [2]",
               MatMul(cx, {f2, tensor({4, 4}), {}, f1}, {f2}, 1, 1, {}, 0, 0));
  const Tensor apart = tensor({3, 4}, DType::f32, Order::pitched);
  EXPECT_ERROR(
      "matmul: y: expected rows side by side where more than a row is "
      "added, found them pitched",
      MatMul(cx, {f2, tensor({4, 4}), {}, f2}, {apart}, 1, 1, {}, 0, 0));
  EXPECT_ERROR(
      "matmul: addend: expected rows side by side, found them pitched",
      MatMul(cx, {f2, tensor({4, 4}), {}, apart}, {f2}, 1, 1, {}, 0, 0));
  EXPECT_ERROR("reshape: expected operand and result of one pitch, found two",
               Reshape(cx, {apart}, {f2}));
  EXPECT_ERROR(
      "reshape: expected operand and result of one pitch, found two",
      Reshape(cx, {apart}, {tensor({1, 12}, DType::f32, Order::pitched)}));
  EXPECT_ERROR("matmul: clamp: expected up to 2 bounds, found 3",
               MatMul(cx, {f2, tensor({4, 4}), {}, {}}, {f2}, 1, 1,
                      {0.0, 1.0, 2.0}, 0, 0));
  EXPECT_ERROR("matmul sums: expected sums of operand 0 or 1, found 2",
               MatMulSums(cx, {f2, f2}, {f2, f1}, 1, 2, 1, 0));
  EXPECT_ERROR("matmul sums: expected the operand that is summed to have its "
               "own dimension last",
               MatMulSums(cx, {f2, f2}, {f2, f1}, 1, 0, 0, 0));
  EXPECT_ERROR("matmul sums: expected a result of rank 2, found 4",
               MatMulSums(cx, {f2, f2}, {f4, f1}, 1, 0, 1, 0));
  EXPECT_ERROR("matmul gelu: c: expected a row of 4, found local shape [2]",
               MatMulGelu(cx, {f2, tensor({4, 4}), f1}, {f2, f2}, 0, 0));
  EXPECT_ERROR(
      "matmul gelu: z: expected local shape [3, 4], found [4, 4]",
      MatMulGelu(cx, {f2, tensor({4, 4}), {}}, {tensor({4, 4}), f2}, 0, 0));
  EXPECT_ERROR(
      "matmul gelu: z: expected local shape [3, 4], found [4, 4]",
      MatMulGeluBackward(cx, {f2, tensor({4, 4}), tensor({4, 4})}, {f2}, 0, 0));
}

TEST(KernelErrors, ShapesAndAttributes) {
  EXPECT_ERROR("elementwise: operand: expected local shape [1, 2, 4, 4], found "
               "[3, 4]",
               ReluForward(cx, {f2}, {f4}));
  EXPECT_ERROR("elementwise: operand: expected the order of the first "
               "operand, found another",
               ReluForward(cx, {last}, {f4}));
  EXPECT_ERROR("broadcast: expected an operand that broadcasts to local shape "
               "[3, 4], found [2]",
               Add(cx, {f2, f1}, {f2}));
  EXPECT_ERROR("broadcast: expected an operand of rank at most 2, found 4",
               Add(cx, {f4, f2}, {f2}));
  EXPECT_ERROR("broadcast: expected 3 operands, found 2",
               Select(cx, {f4, f4}, {f4}));
  EXPECT_ERROR("cast: operand: expected local shape [1, 2, 4, 4], found [3, 4]",
               Cast(cx, {f2}, {i4}, int64_t(DType::i32)));
  EXPECT_ERROR("lrn forward: operand: expected local shape [1, 2, 4, 4] apart "
               "from the channels, found [1, 2, 5, 4]",
               LrnForward(cx, {tensor({1, 2, 5, 4})}, {f4, {}}, 1, 1, 1, 3));
  EXPECT_ERROR("lrn forward: size: expected a positive number, found 0",
               LrnForward(cx, {f4}, {f4, {}}, 1, 1, 1, 0));
  EXPECT_ERROR("reduce sum: axes: expected dimensions of the operand, found 2",
               ReduceSum(cx, {f2}, {f0}, {2}, 0));
  EXPECT_ERROR("reduce sum: result: expected rank 1, found 0",
               ReduceSum(cx, {f2}, {f0}, {0}, 0));
  EXPECT_ERROR("reshape: expected 2 elements, found 12",
               Reshape(cx, {f2}, {f1}));
  EXPECT_ERROR("transpose: expected the result's local shape to be the "
               "operand's, permuted",
               Transpose(cx, {f2}, {f2}, {1, 0}));
  EXPECT_ERROR("concat: axis: expected a dimension of the result, found 2",
               Concat(cx, {f2}, {f2}, 2));
  EXPECT_ERROR("slice: starts: expected 2 numbers, found 1",
               Slice(cx, {f2}, {f2}, {1}));
  EXPECT_ERROR("pad: pads: expected 4 numbers, found 2",
               Pad(cx, {f2}, {f2}, two, 0.0));
  EXPECT_ERROR("dropout: ratio: expected a number in [0, 1), found 1.000000",
               Dropout(cx, {f2}, {f2}, 1, 1.0));
  Tensor split = f2;
  split.global[1] = 8;
  EXPECT_ERROR("softmax forward: axes: expected whole dimensions, found "
               "dimension 1 split",
               SoftmaxForward(cx, {split}, {split}, {1}, 0));
  EXPECT_ERROR("normalize forward: axes: expected whole dimensions, found "
               "dimension 1 split",
               NormalizeForward(cx, {split, {}, {}, {}}, {split, {}, {}}, {1},
                                {}, 1e-5, {0}));
  EXPECT_ERROR("normalize sum: axes: expected ascending dimensions of the "
               "operand, found 5",
               NormalizeSum(cx, {f2}, {f1}, {5}, {}, 1e-5, {0}));
  EXPECT_ERROR("normalize sum: first sums: expected 4 elements, found 2",
               NormalizeSum(cx, {f2}, {f1}, {0}, {}, 1e-5, {1}));
  EXPECT_ERROR("normalize sum: sample_groups: expected to divide dimension 0 "
               "of shape [3, 4], normalised and without parameters, found 2",
               NormalizeSum(cx, {f2}, {f2}, {0}, {}, 1e-5, {1}, 2));
  EXPECT_ERROR("normalize sum: operand: expected equal parts of 2 groups, "
               "found 3 samples",
               NormalizeSum(cx, {f2}, {tensor({2, 4})}, {0}, {}, 1e-5, {1}, 3));
  EXPECT_ERROR("softmax: axes: expected dimensions of the operand, "
               "found 5",
               SoftmaxForward(cx, {f2}, {f2}, {5}, 0));
  EXPECT_ERROR("cross entropy forward: axis: expected a whole class "
               "dimension, found it split",
               CrossEntropyForward(cx, {split, i1}, {f0}, 1));
  EXPECT_ERROR("cross entropy backward: axis: expected a dimension of the "
               "logits, found 4",
               CrossEntropyBackward(cx, {f2, i1, f0}, {f0, f2}, 4));
  EXPECT_ERROR("cross entropy apply: sum: expected local shape [3], found [2]",
               CrossEntropyApply(cx, {f2, i1, tensor({3}), f1}, {f0}, 1));
  EXPECT_ERROR("bce backward: gradient: expected local shape [3, 4], found [2]",
               BceBackward(cx, {f2, f2}, {f1}));
  Tensor elsewhere = f2;
  elsewhere.data = elsewhere.as<float>() + 64;
  EXPECT_ERROR("sgd update: expected the results in place of w and the slots, "
               "found other buffers",
               SgdUpdate(cx, {f2, f2, {}}, {elsewhere}, 0.0, 0));
}

TEST(KernelErrors, ScalesOfUpdates) {
  Tensor elsewhere = f0;
  elsewhere.data = elsewhere.as<float>() + 64;
  EXPECT_ERROR("sgd update: scale: expected rank 0 or 2 elements, found shape "
               "[3, 4]",
               SgdUpdate(cx, {f2, f2, f2}, {f2}, 0.0, 0));
  EXPECT_ERROR("sgd update: scale: expected type f32, found i32",
               SgdUpdate(cx, {f2, f2, i1}, {f2}, 0.0, 0));
  EXPECT_ERROR("loss scale: operand: expected rank 0, found 2",
               LossScale(cx, {f0, f0, f0, f2}, {f1, f0, f0, f0}, 1, 1, 0, 1));
  EXPECT_ERROR("loss scale: factor: expected 2 elements, found 1",
               LossScale(cx, {f0, f0, f0, f0}, {f0, f0, f0, f0}, 1, 1, 0, 1));
  EXPECT_ERROR(
      "loss scale: expected the results in place of scale, good and "
      "skipped, found other buffers",
      LossScale(cx, {f0, f0, f0, f0}, {f1, f0, f0, elsewhere}, 1, 1, 0, 1));
}

} // namespace
