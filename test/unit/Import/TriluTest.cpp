//===- TriluTest.cpp - triangles of matrices ------------------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;

namespace {

class TriluTest : public ImportFixture {
protected:
  /// One node on x, a float[2, 3, 4].
  std::string trilu(const std::string &node) {
    return importGraph("g (float[2, 3, 4] x, float[3] v, int64 k = {-1}, "
                       "int64 c) => (float[1] y) { y = " +
                       node + " }");
  }
};

TEST_F(TriluTest, Masks) {
  EXPECT_THAT(trilu("Trilu(x)"),
              AllOf(HasSubstr("greater_or_equal("), HasSubstr("keep(%arg0"),
                    HasSubstr("(tensor<4xf32>, tensor<3x1xf32>) -> "
                              "tensor<3x4xf32>")));
  EXPECT_THAT(trilu("Trilu<upper = 0>(x, k)"),
              AllOf(HasSubstr("less_or_equal("), HasSubstr("keep(%arg0")));
  EXPECT_THAT(trilu("Trilu(v)"),
              HasSubstr("expected an operand of at least two dimensions, found "
                        "shape 3"));
  EXPECT_THAT(trilu("Trilu(x, c)"),
              HasSubstr("expected a constant as operand 1, found 'c'"));
}

// Of known numbers.
TEST_F(TriluTest, KnownNumbers) {
  auto known = [&](const std::string &node) {
    return importGraph("g (float[6] x, int64[2, 2] m = {6, 2, 3, 1}, int64 k = "
                       "{1}, int64[2] l = {1, 1}, int64[1] z = {0}) => "
                       "(float[1] y) {\n"
                       "  t = " +
                       node +
                       "\n"
                       "  s = ReduceSum<keepdims = 0>(t, z)\n"
                       "  y = Reshape(x, s)\n"
                       "}");
  };
  EXPECT_THAT(known("Trilu(m)"), // 6 2 | 0 1
              HasSubstr("cannot reshape 6 to [6x3]"));
  EXPECT_THAT(known("Trilu<upper = 0>(m)"), // 6 0 | 3 1
              HasSubstr("cannot reshape 6 to [9x1]"));
  EXPECT_THAT(known("Trilu(m, k)"), // 0 2 | 0 0
              HasSubstr("cannot reshape 6 to [0x2]"));
  EXPECT_THAT(known("Trilu(m, l)"),
              HasSubstr("expected a scalar as operand 1, found shape 2"));
  EXPECT_THAT(known("Trilu(k)"),
              HasSubstr("expected an operand of at least two dimensions, found "
                        "shape scalar"));
}

TEST_F(TriluTest, OtherBatch) {
  options.batchSize = 6;
  EXPECT_THAT(trilu("Trilu(x)"), HasSubstr("keep(%arg0"));
  EXPECT_THAT(importGraph("g (float[2, 3] x) => (float[2, 3] y) "
                          "{ y = Trilu(x) }"),
              HasSubstr("has the batch in its matrices and stands in the way "
                        "of --batch-size"));
}

} // namespace
