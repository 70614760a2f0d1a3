//===- RankingTest.cpp - where the largest elements are -------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class RankingTest : public ImportFixture {
protected:
  /// One node on x, a float[2, 3, 4].
  std::string rank(const std::string &node, int opset = 13) {
    return importGraph(
        "g (float[2, 3, 4] x) => (float[1] y) { y = " + node + " }", opset);
  }
};

TEST_F(RankingTest, ArgMaxAndArgMin) {
  EXPECT_THAT(rank("ArgMax(x)"),
              AllOf(HasSubstr("axis = 0 : i64, largest = 1 : i64"),
                    HasSubstr("(tensor<1x3x4xf32>, tensor<1x3x4xi64>)"),
                    HasSubstr("-> tensor<1x3x4xi64>")));
  EXPECT_THAT(rank("ArgMin<axis = -1, keepdims = 0>(x)"),
              AllOf(HasSubstr("axis = 2 : i64, largest = 0 : i64"),
                    HasSubstr("(tensor<2x3x1xf32>) -> tensor<2x3xf32>"),
                    HasSubstr("(tensor<2x3xf32>) -> tensor<2x3xi64>"),
                    Not(HasSubstr("ff.gather"))));
  // Of equal elements the last, which is the first from behind.
  EXPECT_THAT(rank("ArgMax<axis = 2, select_last_index = 1>(x)"),
              AllOf(HasSubstr("indices = array<i64: 3, 2, 1, 0>"),
                    HasSubstr("alpha -1.0"), HasSubstr("alpha 3.0")));
  EXPECT_THAT(rank("ArgMax<axis = 3>(x)"),
              HasSubstr("axis 3 is not a dimension of a 3-dimensional"));
}

TEST_F(RankingTest, Hardmax) {
  EXPECT_THAT(rank("Hardmax<axis = 1>(x)"),
              AllOf(HasSubstr("axis = 1 : i64"), HasSubstr("tensor<3x1xf32>"),
                    HasSubstr("equal("), HasSubstr("-> tensor<2x3x4xf32>")));
  // Columns started at the axis once.
  EXPECT_THAT(rank("Hardmax(x)", 11),
              AllOf(HasSubstr("(tensor<2x3x4xf32>) -> tensor<2x12xf32>"),
                    HasSubstr("(tensor<2x12xf32>) -> tensor<2x3x4xf32>")));
}

TEST_F(RankingTest, OtherBatch) {
  options.batchSize = 6;
  EXPECT_THAT(rank("ArgMax(x)"), HasSubstr("ranks the batch and stands in"));
  EXPECT_THAT(rank("Hardmax<axis = 0>(x)"),
              HasSubstr("ranks the batch and stands in"));
}

} // namespace
