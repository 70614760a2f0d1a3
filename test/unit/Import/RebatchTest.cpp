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

// Every open dimension 0 is the batch, whatever its name.
TEST_F(RebatchTest, OtherNamesOfTheBatch) {
  EXPECT_THAT(
      importGraph("g (float[unk__1, 2] x, float[unk__2, 3] z, "
                  "float[?, 4] u, float[4, 1] w) => "
                  "(float[1] a, float[1] b, float[1] c, float[1] d) "
                  "{ a = Relu(x) b = Relu(z) c = Relu(u) d = Relu(w) }"),
      AllOf(HasSubstr("%arg0: tensor<6x2xf32>"),
            HasSubstr("%arg1: tensor<6x3xf32>"),
            HasSubstr("%arg2: tensor<6x4xf32>"),
            HasSubstr("%arg3: tensor<4x1xf32>")));
  // A fixed batch and an open one.
  EXPECT_THAT(importGraph("g (float[1, 2] x, float[N, 2] z) => (float[1] y) "
                          "{ y = Add(x, z) }"),
              AllOf(HasSubstr("%arg0: tensor<6x2xf32>"),
                    HasSubstr("%arg1: tensor<6x2xf32>")));
}

TEST_F(RebatchTest, FlagsGoBeforeTheBatch) {
  const char *graph = "g (float[N, 2] x, float[M, 2] z) => (float[1] y, "
                      "float[1] v) { y = Relu(x) v = Relu(z) }";
  options.dims["M"] = 5;
  EXPECT_THAT(importGraph(graph), AllOf(HasSubstr("%arg0: tensor<6x2xf32>"),
                                        HasSubstr("%arg1: tensor<5x2xf32>")));
  options.dims = {{"z:0", 4}};
  EXPECT_THAT(importGraph(graph), AllOf(HasSubstr("%arg0: tensor<6x2xf32>"),
                                        HasSubstr("%arg1: tensor<4x2xf32>")));
  // What is a number in the model is the batch, or none, if --dim says so.
  const char *fixed = "g (float[1, 2] x, float[1, 1, 3] h, float[1, 3] z) => "
                      "(float[1] y, float[1] u, float[1] v) "
                      "{ y = Relu(x) u = Relu(h) v = Relu(z) }";
  options.dims = {{"h:0", 1}, {"h:1", 6}};
  EXPECT_THAT(importGraph(fixed), AllOf(HasSubstr("%arg0: tensor<6x2xf32>"),
                                        HasSubstr("%arg1: tensor<1x6x3xf32>"),
                                        HasSubstr("%arg2: tensor<6x3xf32>")));
}

TEST_F(RebatchTest, NamesThatAreNoBatch) {
  EXPECT_THAT(importGraph("g (float[N, S] x, float[S] p) => (float[1] y) "
                          "{ y = Add(x, p) }"),
              HasSubstr("dimension 1 of input 'x' is symbolic; give --dim "
                        "S=VALUE"));
  EXPECT_THAT(importGraph("g (float[S] p, float[N, S] x) => (float[1] y) "
                          "{ y = Add(x, p) }"),
              AllOf(HasSubstr("%arg0: tensor<6xf32>"),
                    HasSubstr("%arg1: tensor<6x6xf32>")));
  EXPECT_THAT(importGraph("g (float[N, 2] x, float[S] p, float[2, S] q) => "
                          "(float[1] y, float[1] z) { y = Relu(x) "
                          "z = Add(p, q) }"),
              HasSubstr("dimension 0 of input 'p' is symbolic and no batch, "
                        "since dimension 1 of input 'q' is the same; give "
                        "--dim S=VALUE"));
}

TEST_F(RebatchTest, ReshapesThatJoinTheBatch) {
  // Of several samples, a number says that they are joined with their parts.
  EXPECT_THAT(reshape("2, 5, 3", "10, 3"), HasSubstr("-> tensor<30x3xf32>"));
  EXPECT_THAT(reshape("1, 5, 3", "5, 3"),
              HasSubstr("reshapes 1x5x3 to 5x3, which has no dimension"));
  // And apart again, first of all in what they were joined in.
  EXPECT_THAT(
      importGraph("g (float[1, 5, 4] x, int64[2] s = {-1, 4}, int64[3] "
                  "t = {1, 5, 4}) => (float[1] y) "
                  "{ a = Reshape(x, s) b = Relu(a) y = Reshape(b, t) }"),
      HasSubstr("tensor<30x4xf32>) -> tensor<6x5x4xf32>"));
  EXPECT_THAT(
      importGraph("g (float[2, 5, 4] x, int64[2] s = {10, 4}, int64[4] "
                  "t = {2, 5, 2, 2}) => (float[1] y) "
                  "{ a = Reshape(x, s) b = Relu(a) y = Reshape(b, t) }"),
      HasSubstr("tensor<30x4xf32>) -> tensor<6x5x2x2xf32>"));
}

TEST_F(RebatchTest, Reductions) {
  EXPECT_THAT(importGraph("g (float[2, 3] x) => (float y) "
                          "{ y = ReduceMean<keepdims = 0>(x) }"),
              AllOf(HasSubstr("(tensor<6x3xf32>) -> tensor<f32>"),
                    HasSubstr("alpha 0.0555")));
  EXPECT_THAT(importGraph("g (float[2, 3] x) => (float[1, 3] y) "
                          "{ y = ReduceMax<axes = [0]>(x) }"),
              HasSubstr("(tensor<6x3xf32>) -> tensor<1x3xf32>"));
}

TEST_F(RebatchTest, Slices) {
  auto slice = [&](const std::string &batch, int start, int end) {
    return importGraph("g (float[" + batch +
                           ", 3] x) => (float[1] y) { y = Slice<axes = [0], "
                           "starts = [" +
                           std::to_string(start) + "], ends = [" +
                           std::to_string(end) + "]>(x) }",
                       9);
  };
  EXPECT_THAT(slice("4", 0, 4), HasSubstr("return"));
  EXPECT_THAT(slice("4", 0, 3), HasSubstr("slices the batch and stands in the "
                                          "way of --batch-size"));
  // The first of one, or all?
  EXPECT_THAT(slice("1", 0, 1), HasSubstr("slices the batch"));
  EXPECT_THAT(slice("1", 0, 100), HasSubstr("return"));
}

// What was made for the samples of the exported batch is made for more.
TEST_F(RebatchTest, ValuesOfEverySample) {
  // A class token, which broadcasts in no Concat.
  EXPECT_THAT(importGraph("g (float[1, 4, 3] x, float[1, 1, 3] token = {1, 2, "
                          "3}) => (float[1] y) "
                          "{ y = Concat<axis = 1>(token, x) }"),
              AllOf(HasSubstr("(tensor<1x1x3xf32>) -> tensor<6x1x3xf32>"),
                    HasSubstr("-> tensor<6x5x3xf32>")));
  EXPECT_THAT(importGraph("g (float[2, 4, 3] x, float[1, 1, 3] token = {1, 2, "
                          "3}, int64[3] s = {2, 1, 3}) => (float[1] y) "
                          "{ t = Expand(token, s) "
                          "y = Concat<axis = 1>(t, x) }"),
              HasSubstr("-> tensor<6x5x3xf32>"));
  // Rows of a constant that are equal, here of a mask.
  EXPECT_THAT(importGraph("g (float[2, 3] x) => (float[1] y) { c = Constant<"
                          "value = float[2, 3] {0, -9e9, 0, 0, -9e9, 0}>() "
                          "y = Add(x, c) }"),
              HasSubstr("-> tensor<6x3xf32>"));
  EXPECT_THAT(importGraph("g (float[2, 3] x) => (float[1] y) { c = Constant<"
                          "value = float[2, 3] {1, 2, 3, 1, 2, 4}>() "
                          "y = Add(x, c) }"),
              HasSubstr("node 'y' (Add): operand 'c' is made for the 2 samples "
                        "of the exported batch and stands in the way of "
                        "--batch-size"));
  // Initial states of a recurrent layer.
  EXPECT_THAT(
      importGraph("g (float[1, 4, 3] x, float[1, 8, 3] w, float[1, 8, "
                  "2] r) => (float[1] y) { t = Transpose<perm = [1, 0, "
                  "2]>(x) h = Constant<value = float[1, 1, 2] {1, 2}>() "
                  "y = LSTM<hidden_size = 2>(t, w, r, , , h, h) }"),
      HasSubstr("(tensor<1x1x2xf32>) -> tensor<1x6x2xf32>"));
}

} // namespace
