//===- conv_narrow_test.cpp - which results of convolutions are narrow ----===//
//
// What they are is in conv_test.cpp.
//
//===----------------------------------------------------------------------===//
#include "ffrt/conv.h"
#include "refusals.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

TEST(NarrowConv, OnlyImagesOfTheirOperandsType) {
  const Ints two = {1, 1}, four = {1, 1, 1, 1};
  const auto image = [](DType type) { return tensor({1, 2, 4, 4}, type); };
  const auto weights = [](DType type) { return tensor({2, 2, 3, 3}, type); };
  const DType wide = DType::f32, bf16 = DType::bf16, f16 = DType::f16;
  const auto forward = [&](DType operand_type, DType y, DType b) {
    return error_of([&](Context &cx) {
      ConvForward(cx,
                  {image(operand_type), weights(operand_type), tensor({2}, b)},
                  {image(y)}, {0.0}, two, 1, four, two);
    });
  };
  const auto backward = [&](DType operand_type, DType dx) {
    return error_of([&](Context &cx) {
      ConvBackwardData(cx, {image(operand_type), weights(operand_type)},
                       {image(dx)}, two, 1, four, two);
    });
  };
  for (DType type : {bf16, f16}) {
    EXPECT_EQ(forward(type, type, wide), "no error");
    EXPECT_EQ(backward(type, type), "no error");
  }
  EXPECT_EQ(forward(bf16, f16, wide),
            "conv forward: y: expected type f32 or bf16, found f16");
  EXPECT_EQ(forward(wide, bf16, wide),
            "conv forward: y: expected type f32, found bf16");
  EXPECT_EQ(forward(bf16, bf16, bf16),
            "conv forward: b: expected type f32, found bf16");
  EXPECT_EQ(backward(f16, bf16),
            "conv backward data: dx: expected type f32 or f16, found bf16");
  EXPECT_EQ(error_of([&](Context &cx) {
              ConvBackwardWeights(cx, {image(bf16), image(bf16)},
                                  {weights(bf16)}, two, 1, four, two);
            }),
            "conv backward weights: dw: expected type f32, found bf16");
}

} // namespace
