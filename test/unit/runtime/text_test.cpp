//===- text_test.cpp - data sets of text ----------------------------------===//
#include "common/data/source.h"
#include "data_fixture.h"

using namespace ffrt;
using namespace ffrt_test;

namespace {

class Text : public Data {
protected:
  void SetUp() override {
    Data::SetUp();
    info.batch = 2;
    info.training = true;
    info.inputs = {{"ids", DType::i64, 2, {2, 3}, false, 256},
                   {"target", DType::i32, 2, {2, 3}, true, 256}};
  }
  std::vector<double> read(Source &source, int64_t step, std::size_t input,
                           const Box &box) {
    const Tile tile = blank({2, 3}, box, Order::row_major,
                            input == 0 ? DType::i64 : DType::i32);
    source.fill(step, input, tile);
    std::vector<double> result;
    for_box(box, [&](const Shape &at) { result.push_back(tile.get(at)); });
    return result;
  }
  const Box whole{{0, 0}, {2, 3}};
};

TEST_F(Text, BytesAndWhatFollowsThem) {
  write("a.txt", "abcdefg");   // two samples; 'g' is the last one's target
  write("b.txt", "ABCDEFGHI"); // two, and a rest
  auto source = make_dataset(info, folder, false, 0);
  EXPECT_EQ(source->samples(), 4);
  EXPECT_EQ(source->batches_per_epoch(), 2);
  EXPECT_EQ(read(*source, 0, 0, whole),
            (std::vector<double>{'a', 'b', 'c', 'd', 'e', 'f'}));
  EXPECT_EQ(read(*source, 0, 1, whole),
            (std::vector<double>{'b', 'c', 'd', 'e', 'f', 'g'}));
  EXPECT_EQ(read(*source, 1, 0, whole),
            (std::vector<double>{'A', 'B', 'C', 'D', 'E', 'F'}));
  // Parts of samples and of positions.
  EXPECT_EQ(read(*source, 1, 1, {{1, 1}, {1, 2}}),
            (std::vector<double>{'F', 'G'}));
}

TEST_F(Text, Positions) {
  write("a.txt", "abcdefg");
  info.inputs.push_back({"position_ids", DType::i64, 2, {2, 3}, false, 3});
  auto source = make_dataset(info, folder, false, 0);
  const Box part{{0, 1}, {2, 2}};
  const Tile tile = blank({2, 3}, part, Order::row_major, DType::i64);
  source->fill(0, 2, tile);
  for_box(part, [&](const Shape &at) { EXPECT_EQ(tile.get(at), at[1]); });
}

TEST_F(Text, Tokens) {
  info.inputs[0].classes = info.inputs[1].classes = 50000;
  npy("train_tokens.npy", DType::i32, {7},
      std::vector<int32_t>{40000, 1, 2, 3, 4, 5, 6});
  npy("test_tokens.npy", DType::i32, {3}, std::vector<int32_t>{7, 8, 9});
  auto source = make_dataset(info, folder, false, 0);
  EXPECT_EQ(source->samples(), 2);
  EXPECT_EQ(read(*source, 0, 0, whole),
            (std::vector<double>{40000, 1, 2, 3, 4, 5}));
  EXPECT_EQ(read(*source, 0, 1, whole),
            (std::vector<double>{1, 2, 3, 4, 5, 6}));
}

TEST_F(Text, Errors) {
  write("a.txt", "abcdef");
  auto message = [&] {
    return error_of([&] { make_dataset(info, folder, false, 0); });
  };
  EXPECT_EQ(message(), "'DIR': expected at least 2 samples, found 1");
  write("a.txt", "abcdefg");
  EXPECT_EQ(message(), "no error");
  info.inputs[1].classes = 'c';
  EXPECT_EQ(error_of([&] {
              auto source = make_dataset(info, folder, false, 0);
              read(*source, 0, 1, whole);
            }),
            "input 'target': expected classes from 0 to 98, found 99 in "
            "'DIR/a.txt', sample 0, which begins with token 0");
  info.inputs[1].shape[1] = 4;
  EXPECT_EQ(message(), "input 'target': expected 3 positions as the input "
                       "before, found 4");
  info.inputs[1].type = DType::f32;
  EXPECT_EQ(message(),
            "input 'target': expected integers of rank 2, samples and "
            "positions, to read a text, found f32 of shape [2, 4]");
  info.inputs[1] = {"more", DType::i64, 2, {2, 3}, false, 256};
  EXPECT_EQ(message(), "'DIR': expected a model with one input besides the "
                       "target and position_ids to read a text, found 2");
  std::filesystem::remove(path("a.txt"));
  info.inputs.pop_back();
  npy("tokens.npy", DType::f32, {7}, std::vector<float>(7));
  EXPECT_EQ(message(), "'DIR/tokens.npy': expected integers of rank 1, found "
                       "f32 of shape [7]");
}

} // namespace
