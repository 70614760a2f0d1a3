//===- RecurrentTest.cpp - how recurrent layers are cut -------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::HasSubstr;
using testing::Not;

namespace {

class RecurrentImport : public ImportFixture {
protected:
  /// An LSTM over `steps` steps.
  std::string lstm(const std::string &attributes = "",
                   const std::string &more = "") {
    return importGraph(
        "g (float[7,3,4] x, float[1,8,4] w, float[1,8,2] r, float[1,16] b" +
            std::string(more.empty() ? ""
                                     : ", float[1,6] p, int32[3] l, "
                                       "float[1,6] z = {0, 0, 0, 0, 0, 0}") +
            ") => (float[7,1,3,2] y) { y = LSTM<hidden_size = 2" + attributes +
            ">(x, w, r, b" + more + ") }",
        14);
  }
};

TEST_F(RecurrentImport, CutsLayersIntoBlocks) {
  options.timeBlock = 3;
  std::string text = lstm();
  EXPECT_EQ(count(text, "ff.recurrent "), 3u);
  EXPECT_EQ(count(text, "ff.matmul"), 3u);
  EXPECT_THAT(text, HasSubstr("(tensor<3x3x8xf32>, tensor<1x8x2xf32>) -> "));
  // The others go on from the states of the one before.
  EXPECT_EQ(count(text, " state %"), 2u);
  EXPECT_EQ(count(text, " cell %"), 2u);
  EXPECT_THAT(text, HasSubstr("tensor<1x3x8xf32>, tensor<1x8x2xf32>, "
                              "tensor<3x2xf32>, tensor<3x2xf32>"));
}

TEST_F(RecurrentImport, KeepsShortLayersWhole) {
  std::string text = lstm();
  EXPECT_EQ(count(text, "ff.recurrent "), 1u);
  EXPECT_THAT(text, Not(HasSubstr("ff.concat")));
}

// ff.recurrent has the usual gates and takes whole sequences.
TEST_F(RecurrentImport, UnrollsOtherForms) {
  auto isUnrolled = [&](const std::string &text) {
    // The product of all steps, and one of each.
    return count(text, "ff.recurrent ") == 0 && count(text, "ff.matmul") == 8;
  };
  EXPECT_PRED1(isUnrolled, lstm(", clip = 1.0"));
  EXPECT_PRED1(isUnrolled, lstm(", input_forget = 1"));
  EXPECT_PRED1(isUnrolled,
               lstm(", activations = [\"Sigmoid\", \"Relu\", \"Tanh\"]"));
  EXPECT_PRED1(isUnrolled, lstm("", ", , , , p"));
  EXPECT_PRED1(isUnrolled, lstm("", ", l"));
  EXPECT_EQ(count(lstm("", ", , , , z"), "ff.recurrent "), 1u);
}

TEST_F(RecurrentImport, ReportsWhatCannotBeUnrolled) {
  EXPECT_THAT(lstm(", activations = [\"Sigmoid\", \"Banana\", \"Tanh\"]"),
              HasSubstr("unknown activation 'Banana'"));
  EXPECT_THAT(lstm(", activations = [\"Sigmoid\"]"),
              HasSubstr("expected 3 activations, found 1"));
  EXPECT_THAT(lstm(", activations = [\"Sigmoid\", \"Affine\", \"Tanh\"]"),
              HasSubstr("expected activation_alpha and activation_beta of "
                        "activation Affine"));
  EXPECT_THAT(lstm(", clip = -1.0"),
              HasSubstr("expected a clip that is not negative, found -1"));
  EXPECT_THAT(
      importGraph("g (float[1025,3,4] x, float[1,8,4] w, float[1,8,2] r) "
                  "=> (float[1025,1,3,2] y) { y = LSTM<hidden_size = 2, "
                  "clip = 1.0>(x, w, r) }"),
      HasSubstr("expected at most 1024 time steps, which are unrolled because "
                "of clip, found 1025"));
  EXPECT_THAT(
      importGraph("g (float[7,3,4] x, float[1,8,4] w, float[1,8,2] r, int32[2] "
                  "l) => (float[7,1,3,2] y) { y = LSTM<hidden_size = 2>(x, w, "
                  "r, , l) }"),
      HasSubstr("expected operand 4 of shape 3, found 'l' of shape 2"));
  EXPECT_THAT(
      importGraph("g (float[7,3,4] x, float[1,8,4] w, float[1,8,2] r, float[3] "
                  "l) => (float[7,1,3,2] y) { y = LSTM<hidden_size = 2>(x, w, "
                  "r, , l) }"),
      HasSubstr("expected int32 as operand 4, found type float"));
  EXPECT_THAT(
      importGraph("g (float[7,3,4] x, int64[1,8,4] w, float[1,8,2] r) => "
                  "(float[7,1,3,2] y) { y = LSTM<hidden_size = 2, clip = "
                  "1.0>(x, w, r) }"),
      HasSubstr("unsupported operators: LSTM of int64"));
  EXPECT_THAT(
      importGraph("g (int64[7,3,4] x, float[1,8,4] w, float[1,8,2] r) => "
                  "(float[7,1,3,2] y) { y = LSTM<hidden_size = 2, clip = "
                  "1.0>(x, w, r) }"),
      HasSubstr("unsupported operators: LSTM of int64"));
}

TEST_F(RecurrentImport, ReportsWhatDoesNotFit) {
  EXPECT_THAT(lstm(", direction = \"up\""),
              HasSubstr("expected direction 'forward', 'reverse' or "
                        "'bidirectional', found 'up'"));
  EXPECT_THAT(lstm(", direction = \"bidirectional\""),
              HasSubstr("expected operand 1 of shape 2x8x4, found 'w' of shape "
                        "1x8x4"));
  EXPECT_THAT(
      importGraph("g (float[7,3,4] x, float[1,8,4] w, float[1,8,2] r) "
                  "=> (float[7,1,3,2] y) { y = LSTM<hidden_size = 3>(x, "
                  "w, r) }"),
      HasSubstr("expected attribute 'hidden_size' to be that of operand "
                "2, 2, found 3"));
}

TEST_F(RecurrentImport, ReportsWhatTopKCannotTake) {
  EXPECT_THAT(importGraph("g (float[7,3] x) => (float[7,4] y) { k = Constant<"
                          "value_ints = [4]>() y, i = TopK(x, k) }"),
              HasSubstr("expected a count from 1 to 3, found 4"));
  EXPECT_THAT(importGraph("g (float[7,3] x, int64[1] k) => (float[7,2] y) "
                          "{ y, i = TopK(x, k) }"),
              HasSubstr("expected a constant as operand 1"));
  EXPECT_THAT(
      importGraph("g (float[7,3] x, int64[2] k = {1, 2}) => (float[7,2] "
                  "y) { y, i = TopK(x, k) }"),
      HasSubstr("expected one number as operand 1, found 2"));
}

TEST_F(RecurrentImport, ReportsWhatTheBatchCannotBe) {
  options.batchSize = 5;
  EXPECT_THAT(importGraph("g (float[7,3] x, int64[1] k = {2}) => (float[2,3] "
                          "y) { y, i = TopK<axis = 0>(x, k) }"),
              HasSubstr("ranks the batch and stands in the way of "
                        "--batch-size"));
  EXPECT_THAT(importGraph("g (float[7,3] x, int64 a = {0}) => (float[7,3] y) "
                          "{ y = CumSum(x, a) }"),
              HasSubstr("sums along the batch and stands in the way of "
                        "--batch-size"));
}

} // namespace
