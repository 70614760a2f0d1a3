//===- BitOpsTest.cpp - integers as they are, and random numbers ----------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class BitOpsTest : public ImportFixture {
protected:
  /// One node on x, a float[2, 3].
  std::string import(const std::string &node, const std::string &operands = "",
                     int opset = 26) {
    return importGraph("g (float[2, 3] x" + operands +
                           ") => (float[1] y) { y = " + node + " }",
                       opset);
  }
};

TEST_F(BitOpsTest, Bits) {
  EXPECT_THAT(import("BitwiseAnd(a, b)", ", int32[2, 3] a, int32[3] b"),
              AllOf(HasSubstr("ff.bitwise  and(%arg0, %arg1)"),
                    HasSubstr("-> tensor<2x3xi32>")));
  // Without sign, and 16 bits in 32.
  EXPECT_THAT(import("BitShift<direction = \"RIGHT\">(a, a)", ", uint64[3] a"),
              HasSubstr("shift_right_unsigned("));
  EXPECT_THAT(import("BitShift<direction = \"LEFT\">(a, a)", ", uint16[3] a"),
              AllOf(HasSubstr("tensor<3xi32>"), HasSubstr("shift_left("),
                    HasSubstr("shift_right_unsigned(")));
  EXPECT_THAT(import("BitwiseNot(a)", ", uint8[3] a"), HasSubstr("xor("));
  EXPECT_THAT(import("BitShift<direction = \"UP\">(a, a)", ", int32[3] a"),
              HasSubstr("node 'y' (BitShift): expected attribute 'direction' "
                        "LEFT or RIGHT, found 'UP'"));
  EXPECT_THAT(import("BitwiseOr(x, x)"),
              HasSubstr("expected integers, found type float"));
  EXPECT_THAT(
      import("BitwiseOr(a, b)", ", int32[2] a, int64[2] b"),
      HasSubstr("expected operands of one type, found int32 and int64"));
  EXPECT_THAT(import("BitwiseOr(a, b)", ", int32[2] a, int32[3] b"),
              HasSubstr("cannot broadcast 2 and 3"));
}

/// Integers that floats do not hold.
TEST_F(BitOpsTest, Constants) {
  EXPECT_THAT(
      import("BitwiseXor(a, b)",
             ", int64[1] a, int64[1] b = {1311768467463790320}"),
      AllOf(HasSubstr("shift_left("), HasSubstr("or("), HasSubstr("xor(")));
  EXPECT_THAT(import("Reshape(x, r)", ", int64[1] a = {4611686018427387910}, "
                                      "int64[1] b = {7}, int64[1] r = {6}"),
              HasSubstr("-> tensor<6xf32>"));
  EXPECT_THAT(importGraph("g (float[2, 3] x) => (float[1] y) <int64[1] a = "
                          "{4611686018427387910}, int64[1] b = {7}> {\n"
                          "  r = BitwiseAnd(a, b) y = Reshape(x, r)\n}",
                          18),
              HasSubstr("-> tensor<6xf32>"));
  EXPECT_THAT(
      importGraph("g (float[2, 3] x) => (float[1] y) <uint8[1] a = {129}, "
                  "uint8[1] b = {1}> {\n"
                  "  s = BitShift<direction = \"LEFT\">(a, b) "
                  "l = Cast<to = 7>(s) t = Cast<to = 1>(l) y = Mul(x, t)\n}",
                  18),
      HasSubstr("alpha 2.000"));
}

TEST_F(BitOpsTest, BitCast) {
  EXPECT_THAT(
      importGraph("g (float[2, 3] x) => (float[1] y) <int32 a = {1065353216}> {"
                  "\n  f = BitCast<to = 1>(a) g = Add(f, f) y = Mul(x, g)\n}",
                  26),
      HasSubstr("alpha 2.000"));
  EXPECT_THAT(import("BitCast<to = 7>(a)", ", int32[1] a = {1}"),
              HasSubstr("expected types of as many bits, found int32 and "
                        "int64"));
  EXPECT_THAT(
      import("BitCast<to = 6>(x)"),
      HasSubstr("unsupported operators: BitCast of a computed operand"));
}

TEST_F(BitOpsTest, NarrowIntegers) {
  // They wrap around, as others of their type do.
  EXPECT_THAT(import("Add(a, a)", ", int8[3] a"),
              AllOf(HasSubstr("tensor<3xi32>"), HasSubstr("shift_left("),
                    HasSubstr("shift_right(")));
  EXPECT_THAT(import("Max(a, a)", ", uint16[3] a"),
              Not(HasSubstr("shift_left(")));
  EXPECT_THAT(import("Cast<to = 3>(x)"), AllOf(HasSubstr("-> tensor<2x3xi32>"),
                                               HasSubstr("shift_right(")));
  EXPECT_THAT(import("Cast<to = 6>(a)", ", int8[3] a"),
              Not(HasSubstr("shift_left(")));
}

TEST_F(BitOpsTest, RandomNumbers) {
  EXPECT_THAT(import("RandomNormalLike<mean = 2.0, scale = 3.0>(x)"),
              AllOf(HasSubstr("ff.noise  normal"), HasSubstr("alpha 3.000"),
                    HasSubstr("alpha 2.000")));
  EXPECT_THAT(import("RandomUniform<shape = [4], low = -1.0, high = 2.0>()"),
              AllOf(HasSubstr("ff.noise  uniform"), HasSubstr("alpha 3.000"),
                    HasSubstr("-> tensor<4xf32>")));
  EXPECT_THAT(import("Bernoulli<dtype = 9>(x)"),
              AllOf(HasSubstr("ff.noise  uniform"), HasSubstr("less("),
                    HasSubstr("-> tensor<2x3xi1>")));
  EXPECT_THAT(import("RandomUniform<shape = [-4]>()"),
              HasSubstr("node 'y' (RandomUniform): attribute 'shape': -4 has a "
                        "negative extent or too many elements"));
  EXPECT_THAT(import("RandomNormal()"),
              HasSubstr("expected an attribute 'shape'"));
  EXPECT_THAT(import("RandomNormal<shape = [2], dtype = 6>()"),
              HasSubstr("unsupported operators: RandomNormal of int32"));
}

TEST_F(BitOpsTest, Unique) {
  EXPECT_THAT(importGraph("g (float[2, 3] x, int64[5] a = {3, 1, 3, 2, 1}) => "
                          "(float[1] y) {\n  u, f, n, c = Unique(a) "
                          "t = Cast<to = 1>(u) y = ReduceProd<keepdims = 0>(t)"
                          "\n}",
                          18),
              HasSubstr("6.0"));
  EXPECT_THAT(import("Unique(x)"),
              HasSubstr("unsupported operators: Unique of a computed operand"));
  EXPECT_THAT(import("Unique<axis = 1>(a)", ", int64[2] a = {1, 2}"),
              HasSubstr("axis 1 is not a dimension of a 1-dimensional tensor"));
}

TEST_F(BitOpsTest, WhatIsNotEvaluated) {
  EXPECT_THAT(import("BitwiseAnd(a)", ", int64[2] a = {1, 2}"),
              HasSubstr("node 'y' (BitwiseAnd)"));
  EXPECT_THAT(importGraph("g (float[2] a = {1, 2}) => (int16[2] y) {\n"
                          "h = Cast<to = 10>(a) y = BitCast<to = 5>(h)\n}",
                          26),
              HasSubstr("expected no floats of 16 bits, found float16 and "
                        "int16"));
  EXPECT_THAT(import("Unique(a)", ", float[0] a = {}"),
              HasSubstr("expected 1 to 65536 elements, found shape 0"));
  EXPECT_THAT(import("BitwiseOr(a, b)", ", int64[1] a = {1}, int32[1] b = {1}"),
              HasSubstr("expected integers of one type, found int64 and "
                        "int32"));
}

TEST_F(BitOpsTest, ScatterReductions) {
  const std::string operands = ", int64[2, 3] i, float[2, 3] u";
  for (const char *reduction : {"mul", "max", "min"})
    EXPECT_THAT(import("ScatterElements<axis = 1, reduction = \"" +
                           std::string(reduction) + "\">(x, i, u)",
                       operands),
                AllOf(HasSubstr("equal("), HasSubstr("ff.reduce_")));
  // Of the type of what is there, whatever it is computed in.
  for (const std::string type : {"double", "float16"})
    for (const std::string reduction : {"none", "add", "max"})
      for (const std::string node :
           {"ScatterElements<axis = 1, reduction = \"" + reduction +
                "\">(d, i, e)",
            "ScatterND<reduction = \"" + reduction + "\">(d, j, e)"})
        EXPECT_THAT(import(node, ", int64[2, 3] i, int64[2, 1] j, " + type +
                                     "[2, 3] d, " + type + "[2, 3] e"),
                    Not(HasSubstr("expected operands")))
            << node << " of " << type;
  EXPECT_THAT(import("ScatterND<reduction = \"max\">(x, j, u)",
                     operands + ", int64[2, 1] j"),
              AllOf(HasSubstr("ff.reduce_max"), HasSubstr("max(")));
  EXPECT_THAT(import("ScatterND<reduction = \"mean\">(x, j, u)",
                     operands + ", int64[2, 1] j"),
              HasSubstr("expected reduction none, add, mul, max or min, found "
                        "'mean'"));
  EXPECT_THAT(importGraph("g (float[10000, 2] x, int64[5000, 1] i, "
                          "float[5000, 2] u) => (float[1] y) "
                          "{ y = ScatterND<reduction = \"max\">(x, i, u) }",
                          18),
              HasSubstr("expected at most 16777216 pairs of elements and what "
                        "they are reduced with, found 10000 times 10000"));
}

TEST_F(BitOpsTest, Determinants) {
  EXPECT_THAT(import("Det(m)", ", float[4, 3, 3] m"),
              AllOf(HasSubstr("sub("), HasSubstr("-> tensor<4xf32>")));
  EXPECT_THAT(import("Det(m)", ", float[6, 6] m"),
              HasSubstr("expected square matrices of at most 5 rows, found "
                        "shape 6x6"));
}

TEST_F(BitOpsTest, SwiGlu) {
  EXPECT_THAT(import("SwiGLU(x, x)", "", 28),
              AllOf(HasSubstr("silu"), HasSubstr("mul(")));
  EXPECT_THAT(import("SwiGLU(x, b)", ", float[3] b", 28),
              HasSubstr("expected operands of one shape, found 2x3 and 3"));
}

} // namespace
