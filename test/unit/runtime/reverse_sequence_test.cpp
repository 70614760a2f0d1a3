//===- reverse_sequence_test.cpp - sequences from last to first step ------===//
#include "ffrt/reverse_sequence.h"

#include "common/device/target.h"
#include "geometry.h"
#include "refusals.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

Value reversed(const Value &x, const Value &lengths, int batch, int time) {
  Value y(x.shape);
  for_box(x.whole(), [&](const Shape &at) {
    const auto length = int64_t(lengths({at[batch]}));
    Shape from = at;
    if (at[time] < length)
      from[time] = length - 1 - at[time];
    y(at) = x(from);
  });
  return y;
}

/// In tiles of all dimensions but the steps; twice, as the gradient is.
void check(const Shape &shape, int batch, int time, DType type) {
  std::mt19937 random(seed());
  Context cx;
  const Value x = random_value(shape, random);
  Value lengths({shape[batch]});
  for (double &length : lengths.data)
    length = double(random() % unsigned(shape[time] + 1));
  Value once(shape), twice(shape);
  for_split(shape, 3, random, [&](Box box) {
    box.lo[time] = 0;
    box.size[time] = shape[time];
    const Tile in(x, box), counts(lengths, {{box.lo[batch]}, {box.size[batch]}},
                                  Order::row_major, type);
    const Tile out = blank(shape, box), back = blank(shape, box);
    ReverseSequence kernel(cx, {in, counts}, {out}, batch, time);
    const int64_t before = allocations();
    kernel({in, counts}, {out});
    EXPECT_EQ(allocations(), before);
    kernel({out, counts}, {back});
    once = Value(shape);
    add_tile(once, out, box);
    twice = Value(shape);
    add_tile(twice, back, box);
    const Value expected = reversed(x, lengths, batch, time);
    for_box(box, [&](const Shape &at) {
      EXPECT_EQ(once(at), expected(at));
      EXPECT_EQ(twice(at), x(at));
    });
  });
}

TEST(ReverseSequence, StepsFirst) {
  check({5, 4, 3}, 1, 0, DType::i64);
  check({40, 6, 70}, 1, 0, DType::i32);
}

TEST(ReverseSequence, SequencesFirst) {
  check({4, 5}, 0, 1, DType::i64);
  check({4, 5, 3, 2}, 0, 1, DType::i32);
}

TEST(ReverseSequence, OtherAxes) {
  check({3, 4, 2, 6}, 3, 1, DType::i64);
  check({3, 4, 2, 6}, 1, 3, DType::i64);
}

TEST(ReverseSequence, RefusesLengths) {
  Value lengths({2});
  const Value x({3, 2});
  const Tile in(x, x.whole());
  const Tile out = blank(x.shape, x.whole());
  for (double wrong : {-1.0, 4.0}) {
    lengths.data = {3, wrong};
    const Tile counts(lengths, lengths.whole(), Order::row_major, DType::i64);
    EXPECT_EQ(
        error_of([&](Context &cx) {
          ReverseSequence(cx, {in, counts}, {out}, 1, 0)({in, counts}, {out});
          finish_target();
        }),
        "reverse sequence: expected lengths from 0 to 3, found " +
            std::to_string(int(wrong)));
  }
}

TEST(ReverseSequence, RefusesOtherOperands) {
  auto error = [](const Tensor &x, const Tensor &lengths, int64_t batch,
                  int64_t time) {
    return error_of([&](Context &cx) {
      ReverseSequence(cx, {x, lengths}, {x}, batch, time);
    });
  };
  const Tensor x = tensor({3, 5}), lengths = tensor({5}, DType::i64);
  Tensor part = x;
  part.shape[0] = 2;
  EXPECT_EQ(error(x, lengths, 1, 0), "no error");
  EXPECT_EQ(error(x, lengths, 1, 1),
            "reverse sequence: expected two axes within rank 2, found 1 and 1");
  EXPECT_EQ(error(x, lengths, 1, 2),
            "reverse sequence: expected two axes within rank 2, found 1 and 2");
  EXPECT_EQ(error(x, tensor({5}), 1, 0),
            "reverse sequence: lengths: expected i32 or i64, found f32");
  EXPECT_EQ(error(x, lengths, 0, 1),
            "reverse sequence: expected 3 lengths, found 5");
  EXPECT_EQ(error(part, lengths, 1, 0),
            "reverse sequence: expected all steps (3), found 2");
}

} // namespace
