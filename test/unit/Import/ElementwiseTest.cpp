//===- ElementwiseTest.cpp - what element-wise operators become -----------===//

#include "TestModel.h"

#include "gmock/gmock.h"

#include <cstring>

using namespace ffc;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {

class ElementwiseImportTest : public ImportFixture {};

TEST_F(ElementwiseImportTest, Parameters) {
  std::string text = importGraph("g (float[2] x) => (float[2] y) {\n"
                                 "  a = HardSigmoid(x)\n"
                                 "  b = Selu<gamma = 2.0>(a)\n"
                                 "  c = Elu<alpha = 0.5>(b)\n"
                                 "  d = Neg(c)\n"
                                 "  e = ThresholdedRelu<alpha = 0.25>(d)\n"
                                 "  y = Celu(e)\n"
                                 "}");
  EXPECT_THAT(text,
              AllOf(HasSubstr("hard_sigmoid(%arg0) alpha 0.20000000"),
                    HasSubstr("beta 5.000000e-01"),
                    HasSubstr("alpha 1.6732631921768188 beta 2.000000e+00"),
                    HasSubstr("elu(%1) alpha 5.000000e-01"),
                    HasSubstr("scale(%2) alpha -1.000000e+00"),
                    HasSubstr("shift(%3) alpha -2.500000e-01"),
                    HasSubstr("sign("), HasSubstr("celu(")));
}

TEST_F(ElementwiseImportTest, Shrink) {
  EXPECT_THAT(importGraph("g (float[2] x) => (float[2] y) "
                          "{ y = Shrink<bias = 0.25, lambd = 1.5>(x) }"),
              AllOf(HasSubstr("alpha -1.500000e+00"),
                    HasSubstr("shift(%arg0) alpha 2.500000e-01"),
                    HasSubstr("shift(%arg0) alpha -2.500000e-01"),
                    HasSubstr("keep("), HasSubstr("ff.select")));
}

TEST_F(ElementwiseImportTest, KnownNumbersNeedNoTensor) {
  std::string text = importGraph("g (float[2] x) => (float[2] y) {\n"
                                 "  c = Constant<value_float = 4.0>()\n"
                                 "  i = Constant<value_int = 2>()\n"
                                 "  h = Constant<value_float = 0.5>()\n"
                                 "  p = Add(c, x)\n"
                                 "  q = Sub(c, p)\n"
                                 "  r = Div(q, c)\n"
                                 "  s = Div(c, r)\n"
                                 "  t = Pow(s, i)\n"
                                 "  u = Pow(t, h)\n"
                                 "  y = Mul(u, c)\n"
                                 "}");
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("shift(%arg0) alpha 4.0"),
            HasSubstr("scale(%0) alpha -1.0"), HasSubstr("shift(%1) alpha 4.0"),
            HasSubstr("scale(%2) alpha 2.500000e-01"),
            HasSubstr("reciprocal(%3)"), HasSubstr("scale(%4) alpha 4.0"),
            HasSubstr("mul(%5, %5)"), HasSubstr("sqrt(%6)"),
            HasSubstr("scale(%7) alpha 4.0"), Not(HasSubstr("ff.state"))));
  // An initializer of the shape of a parameter is trained; a constant of a
  // higher rank changes the shape.
  text = importGraph(
      "g (float[2] x, float[2] w = {4.0, 3.0}) => (float[1, 2] y) {\n"
      "  c = Constant<value = float[1, 1] {3.0}>()\n"
      "  e = Exp(x)\n"
      "  z = Mul(e, w)\n"
      "  y = Pow(z, c)\n"
      "}");
  EXPECT_THAT(text, AllOf(HasSubstr("\"w\" \"parameter\""), HasSubstr(" mul("),
                          HasSubstr("\"c\" \"constant\""), HasSubstr(" pow(")));
}

TEST_F(ElementwiseImportTest, ExponentsAreNotTrained) {
  std::string text = importGraph("g (float[2] x, float e = {2.0}, "
                                 "float[1] f = {2.5}) => (float[2] y) {\n"
                                 "  z = Pow(x, e)\n"
                                 "  y = Pow(z, f)\n"
                                 "}");
  EXPECT_THAT(text, AllOf(HasSubstr("mul(%arg0, %arg0)"), HasSubstr(" pow("),
                          Not(HasSubstr("parameter"))));
}

TEST_F(ElementwiseImportTest, Variadic) {
  std::string text =
      importGraph("g (float[2] x, float[3, 1] z) => (float[3, 2] y) {\n"
                  "  a = Max(x)\n"
                  "  b = Min(a, z, x)\n"
                  "  y = Mean(b, x)\n"
                  "}");
  EXPECT_THAT(text,
              AllOf(HasSubstr("min(%arg0, %arg1)"), HasSubstr("min(%0, %arg0)"),
                    HasSubstr("add(%1, %arg0)"),
                    HasSubstr("scale(%2) alpha 5.000000e-01")));
}

TEST_F(ElementwiseImportTest, ClipOfAttributesAndOperands) {
  EXPECT_THAT(importGraph("g (float[2] x) => (float[2] y) "
                          "{ y = Clip<max = 6.0>(x) }",
                          /*opset=*/10),
              HasSubstr("alpha -3.4028234663852886E+38 beta 6.000000e+00"));
  EXPECT_THAT(importGraph("g (float[2] x, float z = {-1.0}) => (float[2] y) "
                          "{ y = Clip(x, z) }"),
              HasSubstr("alpha -1.000000e+00 beta 3.4028234663852886E+38"));
}

// Inside, masks and integers are floats; casts stand at the borders.
TEST_F(ElementwiseImportTest, MasksAndIntegers) {
  std::string text = importGraph(
      "g (int64[2] i, bool[2] m, float[2] x) => (bool[2] n, float[2] y) {\n"
      "  two = Constant<value = int64 {2}>()\n"
      "  l = Less(i, two)\n"
      "  n = And(l, m)\n"
      "  o = Not(n)\n"
      "  y = Where(o, x, x)\n"
      "}");
  EXPECT_THAT(
      text,
      AllOf(HasSubstr("ff.cast(%arg0) : (tensor<2xi64>) -> tensor<2xf32>"),
            HasSubstr("\"two\" \"constant\" init <constant, 2.000000e+00"),
            HasSubstr(" less("),
            HasSubstr("ff.cast(%arg1) : (tensor<2xi1>) -> tensor<2xf32>"),
            HasSubstr(" mul("), HasSubstr("ff.select"),
            HasSubstr("(tensor<2xf32>) -> tensor<2xi1>"),
            HasSubstr("as \"out/n\" : tensor<2xi1>"),
            HasSubstr("as \"out/y\" : tensor<2xf32>")));
}

// What only moves elements does so for all types.
TEST_F(ElementwiseImportTest, MovedMasks) {
  std::string text = importGraph(
      "g (int64[2, 3] m, float[2, 1, 3] x) => (float[2, 1, 3] y) {\n"
      "  one = Constant<value_ints = [1]>()\n"
      "  a = Unsqueeze(m, one)\n"
      "  b = Cast<to = 1>(a)\n"
      "  y = Mul(x, b)\n"
      "}");
  EXPECT_THAT(text,
              AllOf(HasSubstr("(tensor<2x3xi64>) -> tensor<2x3xf32>"),
                    HasSubstr("-> tensor<2x1x3xf32>"), HasSubstr(" mul(")));
}

TEST_F(ElementwiseImportTest, Casts) {
  std::string text = importGraph(
      "g (float[2] x, int64[2] k) => (int64[2] a, double[2] b, int64[2] q,\n"
      "                               int32[2] s) {\n"
      "  a = Cast<to = 7>(x)\n"
      "  b = Cast<to = 11>(x)\n"
      "  q = Div(k, a)\n"
      "  s = Cast<to = 6>(k)\n"
      "}");
  EXPECT_THAT(text, AllOf(HasSubstr("(tensor<2xf32>) -> tensor<2xi64>"),
                          HasSubstr("(tensor<2xf32>) -> tensor<2xf64>"),
                          HasSubstr(" div("),
                          HasSubstr("(tensor<2xi64>) -> tensor<2xi32>"),
                          HasSubstr("as \"out/q\" : tensor<2xi64>")));
  // How eight bits are rounded says nothing of others, of constants neither.
  EXPECT_THAT(importGraph("g (float[2] x) => (float[2] y) {\n"
                          "  c = Constant<value_int = 3>()\n"
                          "  f = Cast<to = 1, round_mode = \"up\">(c)\n"
                          "  y = Mul(x, f)\n}",
                          24),
              HasSubstr("3.000000e+00"));
}

// As processors, PyTorch and ONNX Runtime do: exports of T5 select among such
// positions, so that an error would be none of the model's.
TEST_F(ElementwiseImportTest, CastsOfWhatNoIntegerIsNear) {
  options.weightsPath = path("w");
  EXPECT_THAT(importGraph("g (int64[3] k, float[3] zero = {0, 1, 2}) =>\n"
                          "  (int64[3] y, int64[3] z) {\n"
                          "  l = Log(zero)\n"
                          "  i = Cast<to = 7>(l)\n"
                          "  y = Add(k, i)\n"
                          "  s = Cast<to = 6>(l)\n"
                          "  w = Cast<to = 7>(s)\n"
                          "  z = Mul(k, w)\n"
                          "}"),
              AllOf(HasSubstr("ff.state \"i\" \"constant\""),
                    HasSubstr("ff.state \"w\" \"constant\"")));
  const std::string bytes = read("w");
  float numbers[19];
  ASSERT_EQ(bytes.size(), sizeof(numbers));
  std::memcpy(numbers, bytes.data(), sizeof(numbers));
  EXPECT_THAT(llvm::ArrayRef(numbers, 3), ElementsAre(-0x1p63f, 0, 0));
  EXPECT_THAT(llvm::ArrayRef(numbers + 16, 3), ElementsAre(-0x1p31f, 0, 0));
}

// Narrow types wrap the least of 32 bits, which is 0 in 8.
TEST_F(ElementwiseImportTest, CastsToNarrowIntegers) {
  EXPECT_THAT(
      importGraph("g (int64[3] k, float big = {3e9}, float zero = {0}) =>\n"
                  "  (int64[3] y, int64[3] z) {\n"
                  "  l = Log(zero)\n"
                  "  b = Cast<to = 6>(big)\n"
                  "  c = Cast<to = 7>(b)\n"
                  "  y = Mul(k, c)\n"
                  "  n = Cast<to = 3>(l)\n"
                  "  m = Cast<to = 7>(n)\n"
                  "  z = Add(k, m)\n"
                  "}"),
      AllOf(HasSubstr("scale(%0) alpha 0xC1E0000000000000"), // -2^31
            HasSubstr("shift(%0) alpha 0.000000e+00")));
}

} // namespace
