//===- RebatchTest.cpp - changing the batch of a fixed model --------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;

namespace {

class RebatchTest : public ImportFixture {
protected:
  RebatchTest() { options.batchSize = 6; }

  std::string reshape(const std::string &from, const std::string &to) {
    auto rank = std::to_string(1 + std::count(to.begin(), to.end(), ','));
    return importGraph("g (float[" + from + "] x, int64[" + rank + "] s = {" +
                       to + "}) => (float[1] y) { y = Reshape(x, s) }");
  }
};

TEST_F(RebatchTest, InputsThatShareTheBatch) {
  EXPECT_THAT(importGraph("g (float[1, 2] x, float[1, 3] z, float[4, 1] w) => "
                          "(float[1] y, float[1] v, float[1] u) "
                          "{ y = Relu(x) v = Relu(z) u = Relu(w) }"),
              AllOf(HasSubstr("%arg0: tensor<6x2xf32>"),
                    HasSubstr("%arg1: tensor<6x3xf32>"),
                    HasSubstr("%arg2: tensor<4x1xf32>")));
}

TEST_F(RebatchTest, ReshapeTargets) {
  EXPECT_THAT(reshape("1, 2, 3", "1, 6"), HasSubstr("-> tensor<6x6xf32>"));
  EXPECT_THAT(reshape("1, 2, 3", "1, -1"), HasSubstr("-> tensor<6x6xf32>"));
  EXPECT_THAT(reshape("1, 2, 3", "-1, 6"), HasSubstr("-> tensor<6x6xf32>"));
  EXPECT_THAT(reshape("1, 2, 3", "0, -1"), HasSubstr("-> tensor<6x6xf32>"));
  EXPECT_THAT(reshape("1, 2, 3", "-1, 3"), HasSubstr("-> tensor<12x3xf32>"));
  EXPECT_THAT(reshape("4, 2, 3", "4, 6"), HasSubstr("-> tensor<6x6xf32>"));
  EXPECT_THAT(reshape("4, 2, 3", "-1, 3"), HasSubstr("-> tensor<12x3xf32>"));
}

TEST_F(RebatchTest, ReshapesInTheWay) {
  const char *message = "node 'y' (Reshape): reshapes 1x2x3 to ";
  EXPECT_THAT(reshape("1, 2, 3", "6"), HasSubstr(message));
  EXPECT_THAT(reshape("1, 2, 3", "2, -1"),
              AllOf(HasSubstr(message),
                    HasSubstr("stands in the way of --batch-size")));
}

TEST_F(RebatchTest, OthersInTheWay) {
  auto expectRefused = [&](const std::string &node, int opset) {
    EXPECT_THAT(
        importGraph("g (float[1, 3] x) => (float[1] y) { " + node + " }",
                    opset),
        HasSubstr("stands in the way of --batch-size"))
        << node;
  };
  expectRefused("y = Flatten<axis = 0>(x)", 13);
  expectRefused("y = Softmax<axis = 0>(x)", 12);
  expectRefused("y = Concat<axis = 0>(x, x)", 13);
  expectRefused("y = Pad<pads = [1, 0, 0, 0]>(x)", 10);
}

TEST_F(RebatchTest, SymbolicBatchNeedsNoChange) {
  EXPECT_THAT(importGraph("g (float[N, 3] x) => (float[N, 3] y) "
                          "{ y = Flatten<axis = 0>(x) }"),
              HasSubstr("-> tensor<1x18xf32>"));
}

} // namespace
