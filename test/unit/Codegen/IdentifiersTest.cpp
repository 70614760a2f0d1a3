//===- IdentifiersTest.cpp - C++ names from ONNX names --------------------===//

#include "ffc/Codegen/Identifiers.h"

#include "gtest/gtest.h"

using namespace ffc::codegen;

TEST(Identifiers, KeepsWhatAReaderRecognises) {
  EXPECT_EQ(toIdentifier("conv2.x"), "conv2_x");
  EXPECT_EQ(toIdentifier("/features/features.0/Conv"),
            "features_features_0_conv");
  EXPECT_EQ(toIdentifier("fc_weight"), "fc_weight");
}

TEST(Identifiers, MakesAnyTextLegal) {
  EXPECT_EQ(toIdentifier(""), "unnamed");
  EXPECT_EQ(toIdentifier("///"), "unnamed");
  EXPECT_EQ(toIdentifier("147"), "v147");
  // Two underscores in a row, or one at either end, are not for programs.
  EXPECT_EQ(toIdentifier("__a__b__"), "a_b");
  EXPECT_EQ(toIdentifier("a\nb\\"), "a_b");
  EXPECT_EQ(toIdentifier("caf\xc3\xa9 1"), "caf_1");
  EXPECT_EQ(toIdentifier("\xe5\xb1\x82"), "unnamed");
}

TEST(Identifiers, NamesClassesAfterKernels) {
  EXPECT_EQ(toClassName("conv_forward"), "ConvForward");
  EXPECT_EQ(toClassName("mat_mul"), "MatMul");
  EXPECT_EQ(toClassName("add"), "Add");
}

TEST(Identifiers, AvoidsReservedNames) {
  NameScope scope;
  EXPECT_EQ(scope.take("float"), "float_");
  EXPECT_EQ(scope.take("Float"), "float_2");
  EXPECT_EQ(scope.take("copy"), "copy_");
  EXPECT_EQ(scope.take("co_yield"), "co_yield_");
  EXPECT_TRUE(isReservedName("absent"));
  EXPECT_FALSE(isReservedName("conv1"));
}

TEST(Identifiers, NumbersCollisions) {
  NameScope scope;
  EXPECT_EQ(scope.take("a.b"), "a_b");
  EXPECT_EQ(scope.take("a/b"), "a_b_2");
  EXPECT_EQ(scope.take("A.B"), "a_b_3");
  // A name that looks like a numbered one is itself numbered.
  EXPECT_EQ(scope.take("a_b_2"), "a_b_2_2");
}
