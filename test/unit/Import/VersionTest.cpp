//===- VersionTest.cpp - operators in the forms of all opsets -------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class VersionTest : public ImportFixture {
protected:
  /// One node on x, a float[2, 6, 4, 4], with constants to choose from.
  std::string node(const std::string &text, int opset) {
    return importGraph(
        "g (float[2, 6, 4, 4] x, int64[1] one = {1}, int64[2] last = {2, 3}, "
        "int64[4] pads = {1, 2, 1, 0}, float[2] scales = {2, 2}, "
        "int64[2] sizes = {8, 6}, int64[0] none = {}) "
        "=> (float[1] y) { " +
            text + " }",
        opset);
  }
};

TEST_F(VersionTest, FormsOfAllOperators) {
  for (const std::string &name : importedOperators())
    if (name.find('.') == std::string::npos) {
      EXPECT_THAT(node("y = " + name + "(x)", 28),
                  Not(HasSubstr("versions are not known")));
    }
}

TEST_F(VersionTest, Opsets) {
  EXPECT_THAT(node("y = Relu(x)", 6),
              HasSubstr("expected opset 7 or later, found 6; "
                        "onnx.version_converter makes a later one"));
  EXPECT_THAT(node("y = Relu(x)", 28), Not(HasSubstr("warning")));
  EXPECT_THAT(
      node("y = Relu(x)", 30),
      AllOf(HasSubstr("warning: loc(\"m.onnxtxt\":0:0): the model is of "
                      "opset 30; its operators are taken as those of "
                      "opset 28, the newest that is known"),
            HasSubstr("relu(")));
  EXPECT_THAT(importText("<ir_version: 14, opset_import: [\"ai.onnx.ml\" : 3]>"
                         "g (float[N, 2] x) => (float[1] y) "
                         "{ y, z = ai.onnx.ml.LinearClassifier(x) }"),
              HasSubstr("unsupported operators: ai.onnx.ml.LinearClassifier "
                        "(1: 'y')"));
  EXPECT_THAT(importText("<ir_version: 7, opset_import: [\"ai.onnx.ml\" : 3]>"
                         "g (float[2] x) => (float[1] y) { y = Relu(x) }"),
              HasSubstr("imports no opset of the domain ai.onnx, which has the "
                        "operator Relu"));
}

/// What a version does not have is refused, never ignored.
TEST_F(VersionTest, FormsAreChecked) {
  EXPECT_THAT(
      node("y = ReduceMean(x, one)", 13),
      HasSubstr("node 'y' (ReduceMean): expected at most 1 operands in "
                "version 13 of ReduceMean, which opset 13 has, found 2; "
                "it came with opset 18"));
  EXPECT_THAT(node("y = ReduceMean<axes = [1]>(x)", 20),
              HasSubstr("attribute 'axes' is none of version 18 of ReduceMean, "
                        "which opset 20 has; opset 18 took it away"));
  EXPECT_THAT(node("y, z = Split<axis = 1, num_outputs = 2>(x)", 17),
              HasSubstr("attribute 'num_outputs' is none of version 13 of "
                        "Split, which opset 17 has; it came with opset 18"));
  EXPECT_THAT(node("y = Pad(x, pads, , last)", 17),
              HasSubstr("expected at most 3 operands"));
  EXPECT_THAT(node("y = Relu(x, x)", 17), HasSubstr("found 2"));
  // An operand that is left out is none.
  EXPECT_THAT(node("y = ReduceMean(x, )", 17), HasSubstr("reduce_sum"));
}

TEST_F(VersionTest, Reductions) {
  EXPECT_THAT(node("y = ReduceMean(x, one)", 18),
              AllOf(HasSubstr("axes = array<i64: 1>"),
                    HasSubstr("-> tensor<2x1x4x4xf32>")));
  EXPECT_THAT(node("y = ReduceMax<keepdims = 0>(x, last)", 20),
              HasSubstr("-> tensor<2x6xf32>"));
  EXPECT_THAT(node("y = ReduceL1(x, none)", 18),
              HasSubstr("-> tensor<1x1x1x1xf32>"));
  EXPECT_THAT(node("y = ReduceL1<noop_with_empty_axes = 1>(x)", 18),
              AllOf(HasSubstr("abs("), Not(HasSubstr("reduce_sum"))));
  EXPECT_THAT(importGraph("g (bool[2, 3] x) => (bool[1, 1] y) "
                          "{ y = ReduceMin(x) }",
                          20),
              HasSubstr("tensor<1x1xi1>"));
  EXPECT_THAT(importGraph("g (int64[2, 3] x) => (int64[1, 1] y) "
                          "{ y = ReduceSum(x) }"),
              HasSubstr("tensor<1x1xi64>"));
}

TEST_F(VersionTest, Split) {
  EXPECT_THAT(node("y, z = Split<axis = 1, num_outputs = 2>(x)", 18),
              HasSubstr("-> tensor<2x3x4x4xf32>"));
  EXPECT_THAT(node("a, b, y = Split<axis = 2, num_outputs = 3>(x)", 18),
              HasSubstr("'y' has shape 2x6x0x4"));
  EXPECT_THAT(node("a, y, b = Split<axis = 2, num_outputs = 3>(x)", 18),
              HasSubstr("-> tensor<2x6x2x4xf32>"));
  EXPECT_THAT(node("y, z = Split<axis = 1, num_outputs = 3>(x)", 18),
              HasSubstr("expected num_outputs of 2, found 3"));
  EXPECT_THAT(node("y, z = Split<axis = 2, num_outputs = 2>(x, last)", 18),
              HasSubstr("expected no num_outputs beside operand 1"));
}

TEST_F(VersionTest, Pad) {
  EXPECT_THAT(node("y = Pad(x, pads, , last)", 18),
              AllOf(HasSubstr("pads = array<i64: 0, 0, 1, 2, 0, 0, 1, 0>"),
                    HasSubstr("-> tensor<2x6x6x6xf32>")));
  EXPECT_THAT(node("y = Pad<mode = \"wrap\">(x, pads, , last)", 19),
              AllOf(HasSubstr("indices = array<i64: 3, 0, 1, 2, 3, 0>"),
                    HasSubstr("indices = array<i64: 2, 3, 0, 1, 2, 3>")));
  EXPECT_THAT(node("y = Pad(x, pads, , one)", 18),
              HasSubstr("expected 2 pads, found 4"));
}

TEST_F(VersionTest, Resize) {
  EXPECT_THAT(node("y = Resize<axes = [2, 3]>(x, , scales)", 18),
              HasSubstr("-> tensor<2x6x8x8xf32>"));
  EXPECT_THAT(node("y = Resize<axes = [3, 2]>(x, , , sizes)", 18),
              HasSubstr("-> tensor<2x6x6x8xf32>"));
  EXPECT_THAT(node("y = Resize<axes = [2, 3], keep_aspect_ratio_policy = "
                   "\"not_larger\">(x, , , sizes)",
                   18),
              HasSubstr("-> tensor<2x6x6x6xf32>"));
  EXPECT_THAT(node("y = Resize<axes = [2, 3], keep_aspect_ratio_policy = "
                   "\"not_smaller\">(x, , , sizes)",
                   18),
              HasSubstr("-> tensor<2x6x8x8xf32>"));
  // The common scale makes others of these sizes.
  EXPECT_THAT(node("most = Constant<value_ints = [16777216, 16777216]>() "
                   "y = Resize<axes = [0, 1], keep_aspect_ratio_policy = "
                   "\"not_smaller\">(x, , , most)",
                   18),
              HasSubstr("expected at most 16777216 positions along a "
                        "dimension, found 50331648"));
  EXPECT_THAT(node("few = Constant<value_ints = [2, 1]>() "
                   "y = Resize<axes = [0, 1], keep_aspect_ratio_policy = "
                   "\"not_larger\">(x, , , few)",
                   18),
              HasSubstr("expected scales that leave something, found "
                        "0.166667 for extent 2"));
  EXPECT_THAT(node("y = Resize<axes = [2], keep_aspect_ratio_policy = "
                   "\"larger\">(x, , , one)",
                   18),
              HasSubstr("expected keep_aspect_ratio_policy 'stretch', "
                        "'not_larger' or 'not_smaller', found 'larger'"));
  EXPECT_THAT(node("y = Resize<axes = [2], mode = \"linear\", antialias = 1>"
                   "(x, , , one)",
                   18),
              HasSubstr("antialias = 1"));
  EXPECT_THAT(node("y = Resize<axes = [2], mode = \"linear\", "
                   "coordinate_transformation_mode = \"half_pixel_symmetric\">"
                   "(x, , , one)",
                   19),
              HasSubstr("coordinates = \"half_pixel_symmetric\""));
}

TEST_F(VersionTest, Others) {
  EXPECT_THAT(node("y = AveragePool<kernel_shape = [2, 2], dilations = [1, 1]>"
                   "(x)",
                   19),
              HasSubstr("-> tensor<2x6x3x3xf32>"));
  EXPECT_THAT(node("y = AveragePool<kernel_shape = [2, 2], dilations = [2, 1]>"
                   "(x)",
                   19),
              AllOf(HasSubstr("ff.conv"), HasSubstr("-> tensor<2x6x2x3xf32>")));
  EXPECT_THAT(node("y = SpaceToDepth<blocksize = 2, mode = \"CRD\">(x)", 28),
              HasSubstr("perm = array<i64: 0, 1, 3, 5, 2, 4>"));
  EXPECT_THAT(node("y = SpaceToDepth<blocksize = 2, mode = \"CRD\">(x)", 27),
              HasSubstr("attribute 'mode' is none of version 13"));
  EXPECT_THAT(node("y = Cast<to = 11, round_mode = \"up\">(x)", 25),
              HasSubstr("f64"));
}

} // namespace
