//===- generate_test.cpp - texts that a program continues -----------------===//
#include "common/program/generate.h"
#include "data_fixture.h"

#include <map>

using namespace ffrt;
using namespace ffrt_test;

namespace {

class Generate : public Data {
protected:
  void SetUp() override {
    Data::SetUp();
    info.batch = 2;
    info.inputs = {{"ids", DType::i64, 2, {2, 3}, false, 4},
                   {"position_ids", DType::i64, 2, {2, 3}, false, 3}};
    info.outputs = {{"out/logits", DType::f32, 3, {2, 3, 4}},
                    {"out/states", DType::f32, 3, {3, 2, 4}}};
    generation.tokens = 8;
    generation.prompt_tokens = {3, 1};
  }
  std::string error() const {
    return error_of([&] { Texts(info, generation, 0); });
  }
  std::vector<double> window(Texts &texts, std::size_t input = 0,
                             const Box &box = {{0, 0}, {2, 3}}) const {
    const Tile tile = blank({2, 3}, box, Order::row_major, DType::i64);
    texts.fill(0, input, tile);
    std::vector<double> result;
    for_box(box, [&](const Shape &at) { result.push_back(tile.get(at)); });
    return result;
  }
  /// Adds the same token to both texts.
  static void add(Texts &texts, int64_t token) {
    texts.logits()[std::size_t(token)] = 0;
    texts.logits()[std::size_t(4 + token)] = 0;
    texts.choose(0);
  }
  static std::string text(const Texts &texts, int64_t number) {
    std::string all;
    for (std::size_t i = 0; i < texts.length(); ++i)
      all += texts.token(number, i);
    return all;
  }
  Generation generation;
};

TEST_F(Generate, ReadsTheLastPositions) {
  Texts texts(info, generation, 0);
  EXPECT_EQ(window(texts), (std::vector<double>{3, 1, 0, 3, 1, 0}));
  EXPECT_EQ(window(texts, 1), (std::vector<double>{0, 1, 2, 0, 1, 2}));
  add(texts, 2);
  EXPECT_EQ(window(texts), (std::vector<double>{3, 1, 2, 3, 1, 2}));
  add(texts, 0);
  EXPECT_EQ(window(texts), (std::vector<double>{1, 2, 0, 1, 2, 0}));
  EXPECT_EQ(window(texts, 0, {{1, 1}, {1, 2}}), (std::vector<double>{2, 0}));
  EXPECT_EQ(text(texts, 1), "3 1 2 0 ");
}

TEST_F(Generate, LogitsOfTheLastToken) {
  Value logits({2, 3, 4});
  for (std::size_t i = 0; i < logits.data.size(); ++i)
    logits.data[i] = double(i);
  Texts texts(info, generation, 0);
  const float none = -std::numeric_limits<float>::infinity();
  // Position 1 is the last token's; this box has it for sample 1 only.
  texts.offer("out/logits", Tile(logits, {{1, 1, 2}, {1, 2, 2}}));
  texts.offer("out/states", Tile(logits, {{0, 0, 0}, {2, 3, 4}}));
  EXPECT_EQ(texts.logits(),
            (std::vector<float>{none, none, none, none, none, none, 18, 19}));
  texts.offer("out/logits", Tile(logits, {{0, 0, 0}, {2, 3, 4}}));
  EXPECT_EQ(texts.logits(), (std::vector<float>{4, 5, 6, 7, 16, 17, 18, 19}));
  // Samples and positions as rows, here of position 2.
  info.outputs[0] = {"out/logits", DType::f32, 2, {6, 4}};
  generation.prompt_tokens = {0, 1, 2, 3};
  Texts rows(info, generation, 0);
  logits.shape = {6, 4};
  rows.offer("out/logits", Tile(logits, {{2, 0}, {4, 1}}));
  EXPECT_EQ(rows.logits(),
            (std::vector<float>{8, none, none, none, 20, none, none, none}));
}

TEST_F(Generate, Draws) {
  // Probabilities 0.5, 0.3, 0.2 and nothing.
  auto shares = [&](double temperature, int64_t top_k) {
    generation.temperature = temperature;
    generation.top_k = top_k;
    Texts texts(info, generation, 5);
    std::map<char, int> counts;
    for (int step = 0; step < 2000; ++step) {
      for (int row = 0; row < 8; row += 4)
        for (int i = 0; i < 3; ++i)
          texts.logits()[std::size_t(row + i)] =
              10 + std::log(std::vector<float>{0.5f, 0.3f, 0.2f}[i]);
      texts.choose(step);
      ++counts[texts.token(0, texts.length() - 1)[0]];
      ++counts[texts.token(1, texts.length() - 1)[0]];
    }
    std::vector<double> result;
    for (char token : {'0', '1', '2', '3'})
      result.push_back(counts[token] / 4000.0);
    return result;
  };
  auto near = [](const std::vector<double> &found,
                 const std::vector<double> &expected) {
    for (std::size_t i = 0; i < expected.size(); ++i)
      EXPECT_NEAR(found[i], expected[i], 0.03) << i;
  };
  near(shares(1, 0), {0.5, 0.3, 0.2, 0});
  near(shares(0.5, 0), {25 / 38.0, 9 / 38.0, 4 / 38.0, 0});
  near(shares(1, 2), {0.625, 0.375, 0, 0});
  EXPECT_EQ(shares(0, 0), (std::vector<double>{1, 0, 0, 0}));
}

TEST_F(Generate, Bytes) {
  info.inputs[0].classes = 256;
  info.outputs[0].shape = {2, 3, 256};
  generation.prompt_tokens.clear();
  Texts line(info, generation, 0);
  EXPECT_EQ(text(line, 0), "\n");
  generation.prompt = "caf\xc3\xa9";
  Texts texts(info, generation, 0);
  EXPECT_EQ(text(texts, 0), "caf\xc3\xa9");
  EXPECT_EQ(window(texts)[2], 0xa9);
}

TEST_F(Generate, Errors) {
  EXPECT_EQ(error(), "no error");
  generation.prompt_tokens = {3, 4};
  EXPECT_EQ(error(), "--prompt-tokens: expected tokens below 4, found 4 as "
                     "number 2");
  generation.prompt_tokens.clear();
  generation.prompt = "a";
  EXPECT_EQ(error(), "--prompt: expected tokens below 4, found 97 as number 1");
  info.outputs[0].shape = {2, 3, 50257};
  EXPECT_EQ(error(), "--generate: expected --prompt-tokens for a vocabulary of "
                     "50257 tokens, found none");
  info.outputs.clear();
  EXPECT_EQ(error(), "--generate: expected one output of shape [2, 3] and a "
                     "vocabulary as third dimension, or of rank 2 and as many "
                     "rows, found 0");
  info.inputs[1] = {"more", DType::i64, 2, {2, 3}, false, 256};
  EXPECT_EQ(error(), "--generate: expected a model with one input besides the "
                     "target and position_ids to read a text, found 2");
  generation.prompt = "";
  generation.prompt_tokens = {1};
  SetUp();
  Texts texts(info, generation, 0);
  EXPECT_EQ(error_of([&] { texts.choose(0); }),
            "expected finite logits, found -inf");
}

} // namespace
