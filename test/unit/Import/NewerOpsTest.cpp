//===- NewerOpsTest.cpp - operators of today's exports --------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class NewerOpsTest : public ImportFixture {
protected:
  /// One node on x, a float[2, 6, 4].
  std::string import(const std::string &node, int opset = 24,
                     const std::string &operands = "") {
    return importGraph("g (float[2, 6, 4] x" + operands +
                           ") => (float[1] y) { y = " + node + " }",
                       opset);
  }
};

TEST_F(NewerOpsTest, Functions) {
  EXPECT_THAT(import("Sin(x)"), HasSubstr(" sin("));
  EXPECT_THAT(import("Cos(x)"), HasSubstr(" cos("));
  EXPECT_THAT(import("Swish(x)"), HasSubstr(" silu("));
  EXPECT_THAT(import("Swish<alpha = 2.0>(x)"),
              AllOf(HasSubstr("alpha 2.0"), HasSubstr("sigmoid(")));
  EXPECT_THAT(import("Mish(x)"),
              AllOf(HasSubstr("softplus("), HasSubstr("tanh(")));
  EXPECT_THAT(import("IsNaN(x)"), HasSubstr("equal(%arg0, %arg0)"));
  EXPECT_THAT(import("IsInf(x)"), HasSubstr("abs("));
  EXPECT_THAT(import("IsInf<detect_positive = 0>(x)"),
              AllOf(HasSubstr("alpha -1.0"), Not(HasSubstr("abs("))));
}

TEST_F(NewerOpsTest, Mod) {
  EXPECT_THAT(import("Mod<fmod = 1>(x, b)", 13, ", float[4] b"),
              AllOf(HasSubstr("fmod("), Not(HasSubstr("ff.select"))));
  EXPECT_THAT(import("Mod(i, i)", 13, ", int64[4] i"),
              AllOf(HasSubstr("fmod("), HasSubstr("ff.select"),
                    // The product of two small numbers might be 0.
                    HasSubstr("sign(")));
  EXPECT_THAT(
      importGraph("g (float[2] x) => (float[2] y) "
                  "<double[1] a = {1e-200}, double[1] b = {-3e-200}> {\n"
                  "  m = Mod(a, b) n = Div(m, b) f = Cast<to = 1>(n)\n"
                  "  y = Mul(x, f)\n}"),
      HasSubstr("alpha 0.66666"));
  EXPECT_THAT(import("Mod<fmod = 1>(x, b)", 13, ", float[3] b"),
              HasSubstr("cannot broadcast 2x6x4 and 3"));
}

TEST_F(NewerOpsTest, TypesAndShapesOfOthers) {
  EXPECT_THAT(import("CastLike(i, x)", 15, ", int64[4] i"),
              HasSubstr("(tensor<4xi64>) -> tensor<4xf32>"));
  EXPECT_THAT(import("CastLike(x, i)", 15, ", int64[4] i"),
              HasSubstr("-> tensor<2x6x4xi64>"));
  EXPECT_THAT(import("CastLike(x, h)", 15, ", int8[2] h = {1, 2}"),
              HasSubstr("-> tensor<2x6x4xi32>"));
  EXPECT_THAT(import("EyeLike<k = 1>(m)", 9, ", float[300, 301] m"),
              AllOf(HasSubstr("equal("), HasSubstr("-> tensor<300x301xf32>")));
  EXPECT_THAT(import("EyeLike(x)", 9),
              HasSubstr("expected a 2-dimensional operand 0, found 'x'"));
  EXPECT_THAT(import("EyeLike<dtype = 8>(m)", 9, ", float[3, 3] m"),
              HasSubstr("unsupported operators: EyeLike of string"));
}

TEST_F(NewerOpsTest, Normalisations) {
  EXPECT_THAT(import("RMSNormalization<axis = 1>(x, s)", 23, ", float[6, 4] s"),
              AllOf(HasSubstr("axes = array<i64: 1, 2>"),
                    HasSubstr("reciprocal("),
                    HasSubstr("\"s\" \"parameter\"")));
  EXPECT_THAT(import("RMSNormalization(x, s)", 23, ", float[3] s"),
              HasSubstr("expected a scale that broadcasts to 2x6x4, found "
                        "shape 3"));
  EXPECT_THAT(
      import("GroupNormalization<num_groups = 4>(x, s, s)", 21, ", float[6] s"),
      HasSubstr("expected channels in a multiple of attribute "
                "'num_groups', 4, found shape 2x6x4"));
  // The set says whose the scales are.
  EXPECT_THAT(
      import("GroupNormalization<num_groups = 2>(x, s, s)", 18, ", float[6] s"),
      HasSubstr("expected operand 1 of shape 2, found 6"));
  EXPECT_THAT(
      import("GroupNormalization<num_groups = 2>(x, s, s)", 21, ", float[2] s"),
      HasSubstr("expected operand 1 of shape 6, found 2"));
}

TEST_F(NewerOpsTest, SplitIntoANumberOfParts) {
  auto split = [&](const std::string &results) {
    return importGraph("g (float[7, 2] x) => (float[1] a) { " + results +
                           " = Split<num_outputs = 3>(x) d = Add(a, b) }",
                       18);
  };
  EXPECT_THAT(split("a, b, c"), HasSubstr("-> tensor<3x2xf32>"));
  EXPECT_THAT(split("a, b"), HasSubstr("expected num_outputs of 2, found 3"));
}

} // namespace
