//===- MicrosoftOpsTest.cpp - operators of the domain com.microsoft -------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class MicrosoftOpsTest : public ImportFixture {
protected:
  std::string nodes(const std::string &text) {
    return importText(
        "<ir_version: 8, opset_import: [\"\" : 17, \"com.microsoft\" : 1]>\n"
        "g (float[4, 2, 3] x, float[4, 3, 2] z, float[2, 3] m, float[2, 3] n, "
        "float[3] b) => (float[1] y) { " +
        text + " }");
  }
};

TEST_F(MicrosoftOpsTest, Gelu) {
  EXPECT_THAT(nodes("y = com.microsoft.BiasGelu(x, b)"),
              AllOf(HasSubstr("add"), HasSubstr("gelu(")));
  EXPECT_THAT(nodes("y = com.microsoft.FastGelu(x)"),
              AllOf(HasSubstr("gelu_tanh("), Not(HasSubstr("add"))));
  EXPECT_THAT(nodes("y = com.microsoft.QuickGelu(x)"),
              AllOf(HasSubstr("alpha 1.702"), HasSubstr("sigmoid(")));
}

TEST_F(MicrosoftOpsTest, FusedMatMul) {
  EXPECT_THAT(nodes("y = com.microsoft.FusedMatMul<transB = 1, alpha = 0.5>"
                    "(m, n)"),
              AllOf(HasSubstr("alpha = 5.000000e-01"),
                    HasSubstr("-> tensor<2x2xf32>")));
  EXPECT_THAT(nodes("y = com.microsoft.FusedMatMul<transA = 1, transB = 1, "
                    "alpha = 0.5>(x, z)"),
              AllOf(HasSubstr("ff.transpose"),
                    HasSubstr("-> tensor<4x3x3xf32>"), HasSubstr("scale(")));
  EXPECT_THAT(nodes("y = com.microsoft.FusedMatMul<transBatchA = 1>(x, z)"),
              HasSubstr("expected transBatchA of 0"));
}

/// What they are made of may be unsupported.
TEST_F(MicrosoftOpsTest, UnsupportedParts) {
  EXPECT_THAT(nodes("i = Cast<to = 6>(x) j = Cast<to = 6>(z) "
                    "y = com.microsoft.FusedMatMul<alpha = 0.5>(i, j)"),
              HasSubstr("unsupported operators: "));
  EXPECT_THAT(nodes("i = Cast<to = 6>(x) c = Cast<to = 6>(b) "
                    "y = com.microsoft.BiasGelu(i, c)"),
              HasSubstr("unsupported operators: "));
}

TEST_F(MicrosoftOpsTest, SkipLayerNormalization) {
  EXPECT_THAT(nodes("y, p, q, s = com.microsoft.SkipLayerNormalization"
                    "<epsilon = 0.001>(x, x, b, b, b)"),
              AllOf(HasSubstr("ff.normalize"), HasSubstr("epsilon = 0.001")));
  EXPECT_THAT(nodes("a, p, q, s = com.microsoft.SkipLayerNormalization"
                    "(x, x, b) y = Relu(s)"),
              HasSubstr("relu("));
}

} // namespace
