//===- ProductOpsTest.cpp - matrix products -------------------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class ProductOpsTest : public ImportFixture {
protected:
  /// A node on int64[2, 3] a, int64[3, 4] b and int64[4] c.
  std::string node(const std::string &text) {
    return importGraph("g (int64[2, 3] a, int64[3, 4] b, int64[4] c, int64[3] "
                       "v, int32[3, 4] i) => (int64[1] y) { " +
                       text + " }");
  }
};

// A precision of products would round their operands.
TEST_F(ProductOpsTest, IntegersAreSummed) {
  EXPECT_THAT(node("y = MatMul(a, b)"),
              AllOf(Not(HasSubstr("ff.matmul")),
                    HasSubstr("(tensor<2x3x1xf32>, tensor<1x3x4xf32>) -> "
                              "tensor<2x3x4xf32>"),
                    HasSubstr("axes = array<i64: 1>")));
  EXPECT_THAT(node("y = MatMul(a, v)"), AllOf(Not(HasSubstr("ff.matmul")),
                                              HasSubstr("-> tensor<2xf32>")));
  EXPECT_THAT(node("y = Gemm<alpha = 2.0, transA = 1, transB = 1>(b, a, c)"),
              HasSubstr("cannot broadcast operand 2 of shape 4 to 4x2"));
  EXPECT_THAT(node("y = Gemm<alpha = 2.0, beta = 3.0>(a, b, c)"),
              AllOf(HasSubstr("scale"), HasSubstr("add(")));
}

TEST_F(ProductOpsTest, ReportsWhatIntegersCannotBe) {
  EXPECT_THAT(node("y = Gemm<alpha = 0.5>(a, b)"),
              HasSubstr("expected whole factors of integers, at most 16777216, "
                        "found 0.5"));
  EXPECT_THAT(
      node("y = MatMul(a, i)"),
      HasSubstr("expected operands of one type, found int64 and int32"));
  EXPECT_THAT(
      importGraph("g (int64[1024, 1024] a) => (int64[1024, 1024] y) { y = "
                  "MatMul(a, a) }"),
      HasSubstr("expected a product of integers of at most 67108864 products "
                "of elements, found 1073741824"));
  // Batches count once.
  EXPECT_THAT(
      importGraph("g (int64[64, 128, 16] a, int64[64, 16, 128] b) => (int64[1] "
                  "y) { y = MatMul(a, b) }"),
      HasSubstr("-> tensor<64x128x128xf32>"));
}

} // namespace
