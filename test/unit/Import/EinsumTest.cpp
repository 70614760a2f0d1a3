//===- EinsumTest.cpp - Einsum --------------------------------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

namespace {

class EinsumTest : public ImportFixture {
protected:
  /// One node on `operands`, inputs called a, b, ...
  std::string einsum(const std::string &equation,
                     std::initializer_list<const char *> operands) {
    std::string inputs, names;
    char name = 'a';
    for (const char *operand : operands) {
      std::string separator = inputs.empty() ? "" : ", ";
      inputs += separator + operand + " " + name;
      names += separator + name++;
    }
    return importGraph("g (" + inputs + ") => (float[1] y) { y = Einsum<" +
                       "equation = \"" + equation + "\">(" + names + ") }");
  }
};

TEST_F(EinsumTest, OneOperand) {
  EXPECT_THAT(einsum("ij->ji", {"float[2, 3]"}),
              AllOf(HasSubstr("ff.transpose(%arg0)"),
                    HasSubstr("-> tensor<3x2xf32>"),
                    HasSubstr("ff.aliases = [\"y\"]")));
  EXPECT_THAT(
      einsum("ba", {"float[2, 3]"}),
      AllOf(HasSubstr("ff.transpose(%arg0)"), HasSubstr("-> tensor<3x2xf32>")));
  EXPECT_THAT(einsum("ijk -> ki", {"float[2, 3, 4]"}),
              AllOf(HasSubstr("axes = array<i64: 1>, keepdims = 0"),
                    HasSubstr("(tensor<2x4xf32>) -> tensor<4x2xf32>")));
  EXPECT_THAT(einsum("...j->...j", {"float[2, 3]"}),
              HasSubstr("ff.output %arg0"));
}

TEST_F(EinsumTest, Diagonals) {
  EXPECT_THAT(einsum("ii->i", {"float[3, 3]"}),
              AllOf(HasSubstr("(tensor<3x3xf32>) -> tensor<9xf32>"),
                    HasSubstr("indices = array<i64: 0, 4, 8>"),
                    HasSubstr("(tensor<9xf32>) -> tensor<3xf32>")));
  EXPECT_THAT(einsum("iji->j", {"float[3, 5, 3]"}),
              AllOf(HasSubstr("perm = array<i64: 1, 0, 2>"),
                    HasSubstr("(tensor<5x3x3xf32>) -> tensor<5x9xf32>"),
                    HasSubstr("ff.reduce_sum")));
  EXPECT_THAT(einsum("...ii->...i", {"float[2, 3, 3]"}),
              AllOf(HasSubstr("(tensor<2x9xf32>) -> tensor<2x3xf32>"),
                    Not(HasSubstr("ff.transpose"))));
}

// Matrices are multiplied as they lie where that is possible.
TEST_F(EinsumTest, Products) {
  EXPECT_THAT(einsum("ij,jk->ik", {"float[2, 3]", "float[3, 4]"}),
              AllOf(HasSubstr("ff.matmul(%arg0, %0)"),
                    HasSubstr("trans_a = 0 : i64, trans_b = 0 : i64"),
                    Not(HasSubstr("ff.reshape"))));
  EXPECT_THAT(
      einsum("bhqd,bhkd->bhqk", {"float[2, 3, 4, 5]", "float[2, 3, 6, 5]"}),
      AllOf(HasSubstr("ff.matmul(%arg0, %arg1)"),
            HasSubstr("trans_a = 0 : i64, trans_b = 1 : i64"),
            HasSubstr("-> tensor<2x3x4x6xf32>"),
            Not(HasSubstr("ff.transpose"))));
  EXPECT_THAT(einsum("ki,kj", {"float[2, 3]", "float[2, 4]"}),
              AllOf(HasSubstr("trans_a = 1 : i64, trans_b = 0 : i64"),
                    HasSubstr("-> tensor<3x4xf32>")));
  EXPECT_THAT(
      einsum("bqhd,bkhd->bhqk", {"float[2, 4, 3, 5]", "float[2, 6, 3, 5]"}),
      AllOf(HasSubstr("perm = array<i64: 0, 2, 1, 3>"),
            HasSubstr("(tensor<2x3x4x5xf32>, tensor<2x3x6x5xf32>) -> "
                      "tensor<2x3x4x6xf32>")));
  EXPECT_THAT(einsum("i,i", {"float[3]", "float[3]"}),
              AllOf(HasSubstr("(tensor<1x3xf32>, tensor<3x1xf32>)"),
                    HasSubstr("(tensor<1x1xf32>) -> tensor<f32>")));
  // What only one has is summed first.
  EXPECT_THAT(einsum("ijx,jky->ik", {"float[2, 3, 7]", "float[3, 4, 8]"}),
              AllOf(HasSubstr("(tensor<2x3x7xf32>) -> tensor<2x3xf32>"),
                    HasSubstr("(tensor<3x4x8xf32>) -> tensor<3x4xf32>"),
                    HasSubstr("-> tensor<2x4xf32>")));
}

// The rows of a linear layer keep their dimensions; its weight is drawn as one
// of 6 x 12.
TEST_F(EinsumTest, LinearLayers) {
  EXPECT_THAT(einsum("btd,dhk->bthk", {"float[2, 5, 6]", "float[6, 3, 4]"}),
              AllOf(HasSubstr("\"b\" \"parameter\" init <uniform, 0.57735"),
                    HasSubstr("(tensor<6x3x4xf32>) -> tensor<6x12xf32>"),
                    HasSubstr("(tensor<2x5x6xf32>, tensor<6x12xf32>) -> "
                              "tensor<2x5x12xf32>"),
                    HasSubstr("(tensor<2x5x12xf32>) -> tensor<2x5x3x4xf32>")));
  EXPECT_THAT(einsum("bthk,hkd->btd", {"float[2, 5, 3, 4]", "float[3, 4, 6]"}),
              AllOf(HasSubstr("(tensor<2x5x12xf32>, tensor<12x6xf32>) -> "
                              "tensor<2x5x6xf32>")));
}

TEST_F(EinsumTest, WithoutContraction) {
  EXPECT_THAT(einsum("i,j->ij", {"float[2]", "float[3]"}),
              AllOf(HasSubstr("mul("), HasSubstr("-> tensor<2x1xf32>"),
                    HasSubstr("-> tensor<2x3xf32>")));
  EXPECT_THAT(einsum("ij,ji->ij", {"float[2, 3]", "float[3, 2]"}),
              AllOf(HasSubstr("ff.transpose"), HasSubstr("mul(")));
  EXPECT_THAT(einsum(",ij", {"float", "float[2, 3]"}),
              AllOf(HasSubstr("mul("), HasSubstr("-> tensor<2x3xf32>")));
}

TEST_F(EinsumTest, EllipsesBroadcast) {
  EXPECT_THAT(
      einsum("...ij,...jk->...ik", {"float[2, 1, 3, 4]", "float[5, 4, 6]"}),
      AllOf(HasSubstr("(tensor<2x1x3x4xf32>) -> tensor<2x3x4xf32>"),
            HasSubstr("-> tensor<2x5x3x6xf32>")));
  EXPECT_THAT(einsum("...,...", {"float[1, 3]", "float[2, 3]"}),
              HasSubstr("-> tensor<2x3xf32>"));
}

TEST_F(EinsumTest, FromLeftToRight) {
  EXPECT_THAT(
      einsum("ij,jk,kl->il", {"float[2, 3]", "float[3, 4]", "float[4, 5]"}),
      AllOf(
          HasSubstr("(tensor<2x3xf32>, tensor<3x4xf32>) -> tensor<2x4xf32>"),
          HasSubstr("(tensor<2x4xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>")));
  // The last operand still needs j.
  EXPECT_THAT(einsum("ij,j,jk->ik", {"float[2, 3]", "float[3]", "float[3, 4]"}),
              AllOf(HasSubstr("mul("), HasSubstr("ff.matmul")));
}

TEST_F(EinsumTest, Errors) {
  EXPECT_THAT(importGraph("g (float[2] x) => (float[2] y) { y = Einsum(x) }"),
              HasSubstr("expected a term for operand 0 of shape 2, found ''"));
  EXPECT_THAT(einsum("ij->i", {"float[2, 3]", "float[3]"}),
              HasSubstr("node 'y' (Einsum): expected an equation of 2 terms, "
                        "found 'ij->i'"));
  EXPECT_THAT(einsum("i1->i", {"float[2, 3]"}),
              HasSubstr("expected letters and at most one '...' in a term, "
                        "found 'i1'"));
  EXPECT_THAT(
      einsum("ij->i", {"float[2]"}),
      HasSubstr("expected a term for operand 0 of shape 2, found 'ij'"));
  EXPECT_THAT(einsum("...ij->ij", {"float[2]"}),
              HasSubstr("expected a term for operand 0 of shape 2, found "
                        "'...ij'"));
  EXPECT_THAT(einsum("ij,jk", {"float[2, 3]", "float[4, 2]"}),
              HasSubstr("expected one extent of 'j', found 3 and 4"));
  EXPECT_THAT(einsum("...,...", {"float[2, 3]", "float[3, 3]"}),
              HasSubstr("expected one extent of '...', found 2 and 3"));
  EXPECT_THAT(einsum("...i->i", {"float[2, 3]"}),
              HasSubstr("expected '...' in the result 'i', as in a term"));
  EXPECT_THAT(einsum("ij->ii", {"float[2, 3]"}),
              HasSubstr("expected each label of the result 'ii' once and in a "
                        "term, found 'i'"));
  EXPECT_THAT(einsum("ij->k", {"float[2, 3]"}),
              HasSubstr("in a term, found 'k'"));
  EXPECT_THAT(einsum("i,i", {"float[2]", "double[2]"}),
              HasSubstr("expected operands of one type, found float and "
                        "double"));
  EXPECT_THAT(einsum("abcdefi,abcdefi->abcdef",
                     {"float[1,1,1,1,1,1,2]", "float[1,1,1,1,1,1,2]"}),
              HasSubstr("expected at most 5 labels of two operands that are "
                        "not summed over, found 6"));
  EXPECT_THAT(einsum("abcde,fghij", {"float[2,2,2,2,2]", "float[2,2,2,2,2]"}),
              HasSubstr("its result has shape 2x2x2x2x2x2x2x2x2x2"));
  options.batchSize = 4;
  EXPECT_THAT(einsum("ij->j", {"float[2, 3]"}),
              HasSubstr("sums over the batch and stands in the way of "
                        "--batch-size"));
}

} // namespace
