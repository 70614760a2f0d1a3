//===- ReduceOpsTest.cpp - reductions and resizes -------------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class ReduceOpsTest : public ImportFixture {
protected:
  /// One node on x, a float[2, 3, 4].
  std::string reduce(const std::string &node, int opset = 13) {
    return importGraph("g (float[2, 3, 4] x, int64[1] a = {-1}, "
                       "int64[0] none = {}) => (float[1] y) { y = " +
                           node + " }",
                       opset);
  }
  /// One node on x, a float[1, 2, 4, 6].
  std::string resize(const std::string &operands, const std::string &node,
                     int opset = 13) {
    return importGraph("g (float[1, 2, 4, 6] x" + operands +
                           ") => (float[1] y) { y = " + node + " }",
                       opset);
  }
};

TEST_F(ReduceOpsTest, FormsOfTheAxes) {
  EXPECT_THAT(reduce("ReduceSum(x)"),
              AllOf(HasSubstr("axes = array<i64: 0, 1, 2>"),
                    HasSubstr("keepdims = 1"),
                    HasSubstr("-> tensor<1x1x1xf32>")));
  EXPECT_THAT(reduce("ReduceSum<keepdims = 0>(x, a)"),
              AllOf(HasSubstr("axes = array<i64: 2>"),
                    HasSubstr("-> tensor<2x3xf32>")));
  EXPECT_THAT(reduce("ReduceSum<axes = [2, -3], keepdims = 0>(x)", 12),
              AllOf(HasSubstr("axes = array<i64: 0, 2>"),
                    HasSubstr("-> tensor<3xf32>")));
  EXPECT_THAT(reduce("ReduceMax<axes = [1]>(x)"),
              HasSubstr("-> tensor<2x1x4xf32>"));
  EXPECT_THAT(reduce("ReduceSum(x, none)"), HasSubstr("-> tensor<1x1x1xf32>"));
  EXPECT_THAT(reduce("ReduceSum<noop_with_empty_axes = 1>(x, none)"),
              Not(HasSubstr("ff.reduce_sum")));
}

TEST_F(ReduceOpsTest, Composed) {
  const std::pair<const char *, std::vector<const char *>> cases[] = {
      {"ReduceMean", {"ff.reduce_sum", "scale(", "alpha 2.5"}},
      {"ReduceMax", {"ff.reduce_max"}},
      {"ReduceMin", {"alpha -1.0", "ff.reduce_max", "alpha -1.0"}},
      {"ReduceProd", {"ff.reduce_prod"}},
      {"ReduceL1", {"abs(", "ff.reduce_sum"}},
      {"ReduceL2",
       {"mul(", "ff.reduce_sum", "equal(", "add(", "sqrt(", "sub("}},
      {"ReduceLogSum", {"ff.reduce_sum", "log("}},
      {"ReduceLogSumExp",
       {"ff.reduce_max", "sub(", "exp(", "ff.reduce_sum", "log(", "add("}},
      {"ReduceSumSquare", {"mul(", "ff.reduce_sum"}}};
  for (const auto &[op, parts] : cases) {
    SCOPED_TRACE(op);
    std::string text =
        reduce(op + std::string("<axes = [2], keepdims = 0>(x)"));
    size_t at = 0;
    for (const char *part : parts) {
      at = text.find(part, at);
      ASSERT_NE(at, std::string::npos) << part << " in " << text;
      ++at;
    }
    EXPECT_THAT(text, HasSubstr("-> tensor<2x3xf32>"));
    EXPECT_THAT(text, HasSubstr("ff.aliases = [\"y\"]"));
  }
}

TEST_F(ReduceOpsTest, LpNormalization) {
  EXPECT_THAT(reduce("LpNormalization(x)"),
              AllOf(HasSubstr("mul(%arg0, %arg0)"),
                    HasSubstr("axes = array<i64: 2>"),
                    HasSubstr("keepdims = 1"),
                    // Of zeros one, lest the result is no number.
                    HasSubstr("ff.select("), HasSubstr("sqrt("),
                    HasSubstr("div(%arg0, ")));
  EXPECT_THAT(reduce("LpNormalization<axis = 0, p = 1>(x)"),
              AllOf(HasSubstr("abs(%arg0)"), HasSubstr("-> tensor<1x3x4xf32>"),
                    Not(HasSubstr("sqrt("))));
  options.batchSize = 6;
  EXPECT_THAT(reduce("LpNormalization<axis = 0>(x)"),
              HasSubstr("normalises over the batch and stands in the way"));
}

TEST_F(ReduceOpsTest, ReductionsOfConstants) {
  EXPECT_THAT(importGraph("g (float[2, 3, 4] x) => (float[1] y) {\n"
                          "  s = Shape(x)\n"
                          "  n = ReduceProd<keepdims = 1>(s)\n"
                          "  y = Reshape(x, n)\n"
                          "}"),
              HasSubstr("-> tensor<24xf32>"));
}

TEST_F(ReduceOpsTest, Doubles) {
  EXPECT_THAT(importGraph("g (double[2, 3] x) => (double[2, 1] y) "
                          "{ y = ReduceLogSumExp<axes = [1]>(x) }"),
              AllOf(HasSubstr("(tensor<2x3xf64>) -> tensor<2x3xf32>"),
                    HasSubstr("ff.reduce_max"),
                    HasSubstr("(tensor<2x1xf32>) -> tensor<2x1xf64>")));
}

TEST_F(ReduceOpsTest, Integers) {
  EXPECT_THAT(
      importGraph("g (int32[2, 3] x) => (int32[2, 1] y) "
                  "{ y = ReduceSumSquare<axes = [1]>(x) }"),
      AllOf(HasSubstr("ff.reduce_sum"), HasSubstr("-> tensor<2x1xi32>")));
  EXPECT_THAT(importGraph("g (int64[2, 3] x) => (int64[2, 1] y) "
                          "{ y = ReduceL1<axes = [1]>(x) }"),
              AllOf(HasSubstr("abs("), HasSubstr("-> tensor<2x1xi64>")));
}

TEST_F(ReduceOpsTest, Errors) {
  EXPECT_THAT(reduce("ReduceMax<axes = [3]>(x)"),
              HasSubstr("axis 3 is not a dimension of a 3-dimensional"));
  EXPECT_THAT(importGraph("g (int64[2] x) => (int64[1] y) "
                          "{ y = ReduceProd(x) }"),
              HasSubstr("unsupported operators: ReduceProd of int64"));
}

TEST_F(ReduceOpsTest, ResizeBySizesAndScales) {
  EXPECT_THAT(resize(", float[4] s = {1, 1, 2, 1.5}",
                     "Resize<mode = \"linear\">(x, , s)"),
              AllOf(HasSubstr("coordinates = \"half_pixel\""),
                    HasSubstr("mode = \"linear\""),
                    HasSubstr("scales = array<f64: 1.000000e+00, 1.000000e+00, "
                              "2.000000e+00, 1.500000e+00>"),
                    HasSubstr("-> tensor<1x2x8x9xf32>")));
  EXPECT_THAT(
      resize(", int64[4] s = {1, 2, 3, 9}",
             "Resize<nearest_mode = \"ceil\", coordinate_transformation_mode = "
             "\"align_corners\">(x, , , s)"),
      AllOf(HasSubstr("coordinates = \"align_corners\""),
            HasSubstr("mode = \"nearest\", nearest = \"ceil\""),
            HasSubstr("7.500000e-01, 1.500000e+00>")));
}

TEST_F(ReduceOpsTest, ResizeTakesScalesAsTheyAreRounded) {
  // 6 * 5 / 6 is 5, though the float next to 5 / 6 is below it.
  EXPECT_THAT(resize(", float[4] s = {1, 1, 1, 0.8333333}",
                     "Resize<mode = \"linear\">(x, , s)"),
              HasSubstr("-> tensor<1x2x4x5xf32>"));
}

TEST_F(ReduceOpsTest, ResizeOfOlderSets) {
  auto expected = AllOf(HasSubstr("coordinates = \"asymmetric\""),
                        HasSubstr("mode = \"linear\", nearest = \"floor\""));
  EXPECT_THAT(resize(", float[4] s = {1, 1, 2, 2}",
                     "Resize<mode = \"linear\">(x, s)", 10),
              expected);
  EXPECT_THAT(resize(", float[4] s = {1, 1, 2, 2}",
                     "Upsample<mode = \"linear\">(x, s)", 9),
              expected);
  EXPECT_THAT(resize("",
                     "Upsample<mode = \"linear\", scales = [1.0, 1.0, 2.0, "
                     "2.0]>(x)",
                     7),
              AllOf(expected, HasSubstr("-> tensor<1x2x8x12xf32>")));
  EXPECT_THAT(resize(", float[4] s = {1, 1, 1, 1}", "Resize(x, , s)"),
              Not(HasSubstr("ff.resize")));
}

TEST_F(ReduceOpsTest, ResizeKeepsTheBatch) {
  options.batchSize = 5;
  EXPECT_THAT(resize(", int64[4] s = {1, 2, 8, 12}", "Resize(x, , , s)"),
              HasSubstr("-> tensor<5x2x8x12xf32>"));
  EXPECT_THAT(resize(", float[4] s = {2, 1, 1, 1}", "Resize(x, , s)"),
              HasSubstr("resizes the batch and stands in the way"));
}

TEST_F(ReduceOpsTest, ResizeByOtherCubics) {
  const std::string scales = ", float[4] s = {1, 1, 2, 2}";
  EXPECT_THAT(resize(scales, "Resize<mode = \"cubic\", cubic_coeff_a = -0.5, "
                             "exclude_outside = 1>(x, , s)"),
              AllOf(HasSubstr("cubic_coeff_a = -5.000000e-01"),
                    HasSubstr("exclude_outside = 1")));
  // They say nothing about the other modes.
  EXPECT_THAT(resize(scales, "Resize<mode = \"linear\", cubic_coeff_a = -0.5, "
                             "exclude_outside = 1>(x, , s)"),
              Not(HasSubstr("cubic_coeff_a")));
}

TEST_F(ReduceOpsTest, ResizeSmooths) {
  const std::string scales = ", float[4] s = {1, 1, 0.5, 0.5}";
  auto smooth = [&](const std::string &mode) {
    return resize(scales,
                  "Resize<antialias = 1, mode = \"" + mode + "\">(x, , s)", 18);
  };
  EXPECT_THAT(smooth("linear"), HasSubstr("antialias = 1"));
  EXPECT_THAT(smooth("nearest"), Not(HasSubstr("antialias")));
}

TEST_F(ReduceOpsTest, ResizeOfARegion) {
  auto crop = [&](const std::string &roi, const std::string &operands) {
    return resize(", float[8] r = {0, 0, " + roi +
                      "}, int64[4] n = {1, 2, 5, 3}, float[4] s = {1, 1, 4, 1}",
                  "Resize<coordinate_transformation_mode = "
                  "\"tf_crop_and_resize\", extrapolation_value = 7.0>(" +
                      operands + ")");
  };
  EXPECT_THAT(crop("0.25, 0, 1, 1, 0.75, 1", "x, r, , n"),
              AllOf(HasSubstr("roi = array<f64: 0.000000e+00, 0.000000e+00, "
                              "2.500000e-01, 0.000000e+00, 1.000000e+00, "
                              "1.000000e+00, 7.500000e-01, 1.000000e+00>"),
                    HasSubstr("-> tensor<1x2x5x3xf32>"),
                    Not(HasSubstr("ff.pad"))));
  // Three of five and two of three positions are inside.
  EXPECT_THAT(crop("-0.5, 0.5, 1, 1, 1.5, 1.5", "x, r, , n"),
              AllOf(HasSubstr("roi = array<f64: 0.000000e+00, 0.000000e+00, "
                              "0.000000e+00, 5.000000e-01, 1.000000e+00, "
                              "1.000000e+00, 1.000000e+00, 1.000000e+00>"),
                    HasSubstr("-> tensor<1x2x3x2xf32>"),
                    HasSubstr("pads = array<i64: 0, 0, 1, 0, 0, 0, 1, 1>, "
                              "value = 7.0"),
                    HasSubstr("-> tensor<1x2x5x3xf32>")));
  // Scales are of the region.
  EXPECT_THAT(crop("0.5, 0, 1, 1, 1, 1", "x, r, s"),
              HasSubstr("-> tensor<1x2x8x6xf32>"));
  EXPECT_THAT(crop("1.5, 0, 1, 1, 2, 1", "x, r, , n"),
              HasSubstr("expected a roi that meets the operand, found 1.5 to 2 "
                        "in dimension 2"));
  EXPECT_THAT(crop("0, 0, 1, 1, 1, 1", "x, s, , n"),
              HasSubstr("expected 8 numbers in roi, found 4"));
}

TEST_F(ReduceOpsTest, ResizeErrors) {
  const std::string scales = ", float[4] s = {1, 1, 2, 2}";
  auto expectError = [&](const std::string &attributes,
                         const std::string &message) {
    EXPECT_THAT(resize(scales, "Resize<" + attributes + ">(x, , s)"),
                HasSubstr(message));
  };
  expectError("mode = \"area\"",
              "expected mode 'nearest', 'linear' or 'cubic', found 'area'");
  expectError("nearest_mode = \"up\"", "unknown nearest_mode 'up'");
  expectError(
      "coordinate_transformation_mode = \"corners\"",
      "expected coordinate_transformation_mode to be half_pixel, "
      "half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric or "
      "tf_crop_and_resize, found 'corners'");
  EXPECT_THAT(resize("", "Resize(x)"),
              HasSubstr("expected scales or sizes, found neither"));
  EXPECT_THAT(resize(", float[3] s = {1, 1, 2}", "Resize(x, , s)"),
              HasSubstr("expected 4 scales, found 3"));
  EXPECT_THAT(resize(", float[4] s = {1, 1, 2, 0.1}", "Resize(x, , s)"),
              HasSubstr("expected scales that leave something, found 0.1 for "
                        "extent 6"));
}

} // namespace
