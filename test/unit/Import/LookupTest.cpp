//===- LookupTest.cpp - tables, and the arithmetic of positions -----------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class LookupTest : public ImportFixture {
protected:
  /// Gather with `attributes` of a float[5, 4] by `indices` (a type and a
  /// shape).
  std::string gather(const std::string &indices,
                     const std::string &attributes = "") {
    return importGraph("g (float[5, 4] w, " + indices + " i) => (float[1] y) " +
                       "{ y = Gather" + attributes + "(w, i) }");
  }
};

TEST_F(LookupTest, RowsOfATable) {
  EXPECT_THAT(
      gather("int64[3, 2]"),
      AllOf(
          HasSubstr("ff.state \"w\" \"parameter\""),
          HasSubstr("(tensor<5x4xf32>, tensor<3x2xi64>) -> tensor<3x2x4xf32>"),
          HasSubstr("ff.aliases = [\"y\"]"), HasSubstr("tensor<3x2xi64> {")));
  EXPECT_THAT(gather("int32[3]", "<axis = -2>"),
              HasSubstr("(tensor<5x4xf32>, tensor<3xi32>) -> tensor<3x4xf32>"));
  // A scalar picks one row.
  EXPECT_THAT(gather("int64"),
              AllOf(HasSubstr("(tensor<i64>) -> tensor<1xi64>"),
                    HasSubstr("(tensor<5x4xf32>, tensor<1xi64>)"),
                    HasSubstr("(tensor<1x4xf32>) -> tensor<4xf32>")));
}

TEST_F(LookupTest, OtherDimensions) {
  EXPECT_THAT(
      gather("int64[3]", "<axis = 1>"),
      AllOf(HasSubstr("(tensor<5x4xf32>) -> tensor<4x5xf32>"),
            HasSubstr("(tensor<4x5xf32>, tensor<3xi64>) -> tensor<3x5xf32>"),
            HasSubstr("(tensor<3x5xf32>) -> tensor<5x3xf32>")));
  EXPECT_THAT(
      importGraph("g (float[2, 3, 4] x, int64[5, 6] i) => (float[1] y) "
                  "{ r = Relu(x) y = Gather<axis = 1>(r, i) }"),
      AllOf(
          HasSubstr("perm = array<i64: 1, 0, 2>"),
          HasSubstr("(tensor<3x2x4xf32>) -> tensor<3x8xf32>"),
          HasSubstr("(tensor<3x8xf32>, tensor<5x6xi64>) -> tensor<5x6x8xf32>"),
          HasSubstr("(tensor<5x6x8xf32>) -> tensor<5x6x2x4xf32>"),
          HasSubstr("perm = array<i64: 2, 0, 1, 3>"),
          HasSubstr("-> tensor<2x5x6x4xf32>")));
}

TEST_F(LookupTest, ComputedIndices) {
  EXPECT_THAT(
      importGraph("g (float[5, 4] w, int64[3] i, int64[1] one = {1}) "
                  "=> (float[1] y) { j = Add(i, one) y = Gather(w, j) }"),
      AllOf(HasSubstr("ff.cast"), HasSubstr("\"parameter\""),
            HasSubstr("(tensor<5x4xf32>, tensor<3xi64>)")));
  EXPECT_THAT(
      importGraph("g (float[20000000, 1] w, int64[3] i, int64[1] one = "
                  "{1}) => (float[1] y) "
                  "{ j = Add(i, one) y = Gather(w, j) }"),
      HasSubstr("node 'y' (Gather): expected at most 16777216 positions "
                "to choose from by indices that are computed, found "
                "20000000"));
  EXPECT_THAT(importGraph("g (float[20000000, 1] w, int64[3] i) => "
                          "(float[1] y) { y = Gather(w, i) }"),
              HasSubstr("tensor<20000000x1xf32>"));
  EXPECT_THAT(gather("float[3]"),
              HasSubstr("expected integers as operand 1, found type float"));
}

// What is picked by known indices is data, as other operands are.
TEST_F(LookupTest, DataIsNoTable) {
  EXPECT_THAT(importGraph("g (float[5, 4] x) => (float[1] y) "
                          "{ s = Shape(x) y = Gather(x, s) }"),
              HasSubstr("index 5 is out of range for extent 5"));
  EXPECT_THAT(importGraph("g (float[5, 4] x, int64[3] i) => (float[1] y) "
                          "{ r = Relu(x) z = Gather(x, i) y = Gather(r, i) }"),
              Not(HasSubstr("parameter")));
  options.batchSize = 7;
  EXPECT_THAT(importGraph("g (float[5, 4] x, int64[3] i) => (float[1] y) "
                          "{ r = Relu(x) y = Gather(r, i) }"),
              HasSubstr("picks from the batch and stands in the way"));
}

TEST_F(LookupTest, CumSum) {
  auto sum = [&](const std::string &attributes, const std::string &axis) {
    return importGraph("g (float[2, 3, 4] x, int64 a = {" + axis +
                       "}) => (float[1] y) { y = CumSum" + attributes +
                       "(x, a) }");
  };
  EXPECT_THAT(sum("<exclusive = 1, reverse = 1>", "-1"),
              AllOf(HasSubstr("axis = 2 : i64, exclusive = 1 : i64"),
                    HasSubstr("reverse = 1 : i64} : (tensor<2x3x4xf32>)")));
  EXPECT_THAT(sum("", "3"),
              HasSubstr("axis 3 is not a dimension of a 3-dimensional"));
  // Of known numbers.
  EXPECT_THAT(importGraph("g (float[8] x, int64 z = {0}, int64[3] c = "
                          "{2, 0, 2}) => (float[1] y) {\n"
                          "  s = CumSum<exclusive = 1>(c, z)\n" // 0 2 2
                          "  t = CumSum<reverse = 1>(c, z)\n"   // 4 2 2
                          "  u = Max(s, t)\n"                   // 4 2 2
                          "  v = Slice<starts = [0], ends = [2]>(u)\n"
                          "  y = Reshape(x, v)\n"
                          "}",
                          9),
              HasSubstr("-> tensor<4x2xf32>"));
}

// A mask of known positions is computed where it is too large to be evaluated.
TEST_F(LookupTest, LargeMask) {
  EXPECT_THAT(
      importGraph("g (float[2, 300, 300] x, int64 z = {0}, int64 n = {300}, "
                  "int64 one = {1}, float hidden = {-1}) => (float[1] y) {\n"
                  "  p = Range(z, n, one)\n"
                  "  r = Unsqueeze<axes = [1]>(p)\n"
                  "  m = Less(r, p)\n"
                  "  y = Where(m, hidden, x)\n"
                  "}",
                  12),
      AllOf(HasSubstr("less("), HasSubstr("-> tensor<300x300xf32>"),
            HasSubstr("ff.select")));
}

} // namespace
