//===- LossTest.cpp - losses that a model computes itself -----------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class LossTest : public ImportFixture {
protected:
  /// One loss of 3 classes for 2 samples; `weights` are of a type and shape.
  std::string loss(const std::string &node,
                   const std::string &target = "int64[2]",
                   const std::string &weights = "float[3]") {
    return importGraph(
        "g (float[2, 3] x, " + target + " t, " + weights +
        " w, float[3] c = {1, 2, 3}) => (float[1] y) { y = " + node + " }");
  }
};

TEST_F(LossTest, PlainMean) {
  EXPECT_THAT(loss("SoftmaxCrossEntropyLoss(x, t)"),
              AllOf(HasSubstr("(tensor<2xi64>) -> tensor<2xi32>"),
                    HasSubstr("ff.cross_entropy"),
                    HasSubstr("ff.aliases = [\"y\"]"),
                    Not(HasSubstr("ff.softmax"))));
  // Labels of 32 bits are taken as they are.
  EXPECT_THAT(
      loss("SoftmaxCrossEntropyLoss<reduction = \"mean\">(x, t)", "int32[2]"),
      AllOf(HasSubstr("ff.cross_entropy(%arg0, %arg1)"),
            Not(HasSubstr("ff.cast"))));
  EXPECT_THAT(loss("NegativeLogLikelihoodLoss(x, t)"),
              AllOf(HasSubstr("keep("), HasSubstr("alpha -5.000000e-01"),
                    Not(HasSubstr("ff.cross_entropy")),
                    Not(HasSubstr("ff.softmax"))));
}

TEST_F(LossTest, Reductions) {
  EXPECT_THAT(loss("SoftmaxCrossEntropyLoss<reduction = \"none\">(x, t)"),
              AllOf(HasSubstr("ff.softmax"), HasSubstr("log = 1"),
                    HasSubstr("axes = array<i64: 1>, keepdims = 0"),
                    HasSubstr("-> tensor<2xf32>"), Not(HasSubstr("div("))));
  EXPECT_THAT(loss("NegativeLogLikelihoodLoss<reduction = \"sum\">(x, t)"),
              AllOf(HasSubstr("axes = array<i64: 0, 1>, keepdims = 0"),
                    HasSubstr("alpha -1.0"), Not(HasSubstr("div("))));
  EXPECT_THAT(loss("NegativeLogLikelihoodLoss<ignore_index = -100>(x, t)"),
              HasSubstr("div("));
}

// Weights are data: an initializer is not trained.
TEST_F(LossTest, Weights) {
  EXPECT_THAT(loss("SoftmaxCrossEntropyLoss(x, t, c)"),
              AllOf(HasSubstr("\"y.weights\" \"constant\""),
                    Not(HasSubstr("parameter"))));
  EXPECT_THAT(loss("SoftmaxCrossEntropyLoss(x, t, w)"),
              AllOf(HasSubstr("mul("), Not(HasSubstr("parameter"))));
}

TEST_F(LossTest, Errors) {
  EXPECT_THAT(
      loss("SoftmaxCrossEntropyLoss<reduction = \"max\">(x, t)"),
      HasSubstr("node 'y' (SoftmaxCrossEntropyLoss): expected reduction "
                "'none', 'sum' or 'mean', found 'max'"));
  EXPECT_THAT(loss("SoftmaxCrossEntropyLoss(t, t)"),
              HasSubstr("expected an operand 0 of samples and classes, found "
                        "shape 2"));
  EXPECT_THAT(loss("SoftmaxCrossEntropyLoss(x, t)", "float[2]"),
              HasSubstr("expected integers as operand 1, found type float"));
  EXPECT_THAT(loss("NegativeLogLikelihoodLoss(x, t)", "int64[2, 3]"),
              HasSubstr("expected a target of shape 2, found 2x3"));
  EXPECT_THAT(
      loss("NegativeLogLikelihoodLoss(x, t, w)", "int64[2]", "float[2]"),
      HasSubstr("expected weights of shape 3, found 2"));
  EXPECT_THAT(
      loss("NegativeLogLikelihoodLoss(x, t, w)", "int64[2]", "double[3]"),
      HasSubstr("expected operands of one type, found float and "
                "double"));
  EXPECT_THAT(importGraph("g (float[2, 65537] x, int64[2] t) => (float y) "
                          "{ y = NegativeLogLikelihoodLoss(x, t) }"),
              HasSubstr("expected at most 65536 classes for a loss other than "
                        "the plain mean, found 65537"));
  EXPECT_THAT(importGraph("g (int64[2, 3] x, int64[2] t) => (float y) "
                          "{ y = NegativeLogLikelihoodLoss(x, t) }"),
              HasSubstr("unsupported operators: NegativeLogLikelihoodLoss of "
                        "int64"));
}

TEST_F(LossTest, OtherBatch) {
  options.batchSize = 6;
  EXPECT_THAT(loss("SoftmaxCrossEntropyLoss(x, t)"),
              HasSubstr("(tensor<6x3xf32>, tensor<6xi32>)"));
  EXPECT_THAT(importGraph("g (float[2, 3] x, int64[3] t) => (float y) {\n"
                          "  z = Transpose(x)\n"
                          "  y = SoftmaxCrossEntropyLoss(z, t)\n"
                          "}"),
              HasSubstr("has the batch as classes and stands in the way of "
                        "--batch-size"));
}

TEST_F(LossTest, OneClass) {
  const char *graph = "g (float[2, 1] x, int64[2] t) => (float y) "
                      "{ y = SoftmaxCrossEntropyLoss(x, t) }";
  EXPECT_THAT(
      importGraph(graph),
      HasSubstr("node 'y' (SoftmaxCrossEntropyLoss): cross-entropy over "
                "one class is always 0, found scores of shape 2x1; "
                "give --loss=mse or --loss=bce"));
  options.training = false;
  EXPECT_THAT(importGraph(graph), HasSubstr("ff.cross_entropy"));
}

} // namespace
