//===- RecurrentTest.cpp - how recurrent layers are cut -------------------===//

#include "TestModel.h"

#include "gmock/gmock.h"

using namespace ffc;
using testing::HasSubstr;
using testing::Not;

namespace {

class RecurrentImport : public ImportFixture {
protected:
  static size_t count(const std::string &text, const std::string &what) {
    size_t found = 0;
    for (size_t at = text.find(what); at != std::string::npos;
         at = text.find(what, at + 1))
      ++found;
    return found;
  }

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

TEST_F(RecurrentImport, ReportsWhatItLacks) {
  EXPECT_THAT(lstm(", clip = 1.0"),
              HasSubstr("unsupported operators: LSTM with clip (1: 'y')"));
  EXPECT_THAT(lstm(", input_forget = 1"),
              HasSubstr("LSTM with coupled input and forget gates (1: 'y')"));
  EXPECT_THAT(lstm(", activations = [\"Sigmoid\", \"Relu\", \"Tanh\"]"),
              HasSubstr("LSTM with activations Sigmoid, Relu, Tanh (1: 'y')"));
  EXPECT_THAT(lstm("", ", , , , p"), HasSubstr("LSTM with peepholes (1: 'y')"));
  EXPECT_THAT(lstm("", ", , , , z"), HasSubstr("ff.recurrent "));
  EXPECT_THAT(lstm("", ", l"),
              HasSubstr("LSTM with sequence lengths (1: 'y')"));
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
