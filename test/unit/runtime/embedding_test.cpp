//===- embedding_test.cpp - rows of tables, whole and tiled ---------------===//
#include "common/device/target.h"
#include "ffrt/embedding.h"
#include "ffrt/error.h"
#include "geometry.h"

#include <cmath>
#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

/// A table of few rows, so that some are looked up twice, and indices of which
/// some count from the end.
struct Problem {
  Value table, indices, dy;

  Problem(int64_t rows, const Shape &shape, int64_t width, std::mt19937 &random)
      : table(random_value({rows, width}, random)), indices(shape) {
    for (double &index : indices.data)
      index = double(int64_t(random() % unsigned(2 * rows)) - rows);
    Shape looked = shape;
    looked.push_back(width);
    dy = random_value(looked, random);
  }

  int64_t row(const Shape &at) const {
    const int64_t index = int64_t(indices(Shape(at.begin(), at.end() - 1)));
    return index < 0 ? index + table.shape[0] : index;
  }
};

Box without_last(Box box) {
  box.lo.pop_back();
  box.size.pop_back();
  return box;
}

/// The box of the looked-up rows of all indices, with the columns of `part`.
Box looked_by(const Problem &p, const Box &part) {
  Box box = p.dy.whole();
  box.lo.back() = part.lo[1];
  box.size.back() = part.size[1];
  return box;
}

TEST(Embedding, ForwardOfPartsOfTheTable) {
  for (unsigned round = 0; round < 12; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const Problem p(7, round % 2 ? Shape{5} : Shape{4, 3}, 6, random);
    Value expected(p.dy.shape), found(p.dy.shape);
    for_box(expected.whole(), [&](const Shape &at) {
      expected(at) = p.table({p.row(at), at.back()});
    });
    Context cx;
    for_split(p.table.shape, 3, random, [&](const Box &part) {
      const Tile table(p.table, part);
      Box looked = looked_by(p, part);
      const Tile ids(p.indices, without_last(looked), Order::row_major,
                     DType::i32);
      const Tile y = blank(p.dy.shape, looked);
      EmbeddingForward k{cx, {table, ids}, {y}};
      const int64_t before = allocations();
      k({table, ids}, {y});
      EXPECT_EQ(allocations(), before);
      for_box(looked, [&](const Shape &at) { found(at) += y.get(at); });
    });
    expect_close(found, expected, 0.0);
  }
}

/// What an optimizer may have added up; 0 in places.
Value random_squares(const Shape &shape, std::mt19937 &random) {
  Value squares = random_value(shape, random);
  for (double &square : squares.data)
    square = std::max(0.0, square);
  return squares;
}

TEST(Embedding, GradientAndUpdateOfPartsOfTheTable) {
  for (unsigned round = 0; round < 12; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const Problem p(7, round % 2 ? Shape{5} : Shape{4, 3}, 6, random);
    Value gradient(p.table.shape), found(p.table.shape);
    for_box(p.dy.whole(), [&](const Shape &at) {
      gradient({p.row(at), at.back()}) += p.dy(at);
    });
    Value updated = p.table, found_updated(p.table.shape);
    for (size_t i = 0; i < updated.data.size(); ++i)
      updated.data[i] -= 0.1 * gradient.data[i];
    const Value squares_before = random_squares(p.table.shape, random);
    Value adapted = p.table, squares = squares_before,
          found_adapted(p.table.shape), found_squares(p.table.shape);
    for (size_t i = 0; i < adapted.data.size(); ++i) {
      const double g = gradient.data[i];
      squares.data[i] += g * g;
      // Also where no row was looked up and both are 0.
      adapted.data[i] -=
          g == 0 ? 0 : 0.1 * g / (std::sqrt(squares.data[i]) + 0.01);
    }
    Context cx;
    cx.learning_rate = 0.1;
    const Tensor none = absent({});
    for_split(p.table.shape, 3, random, [&](const Box &part) {
      const Tile ids(p.indices, p.indices.whole(), Order::row_major,
                     DType::i32);
      const Tile dy(p.dy, looked_by(p, part));
      const Tile grad = blank(p.table.shape, part);
      EmbeddingBackward backward{cx, {ids, dy}, {grad}};
      backward({ids, dy}, {grad});
      add_tile(found, grad, part);
      const Tile w(p.table, part);
      SgdUpdateRows update{cx, {w, ids, dy, none}, {w}};
      const int64_t before = allocations();
      update({w, ids, dy, none}, {w});
      EXPECT_EQ(allocations(), before);
      add_tile(found_updated, w, part);
      const Tile v(p.table, part), s(squares_before, part);
      AdagradUpdateRows adagrad{cx, {v, ids, dy, none, s}, {v, s}, 0.01};
      const int64_t since = allocations();
      adagrad({v, ids, dy, none, s}, {v, s});
      EXPECT_EQ(allocations(), since);
      add_tile(found_adapted, v, part);
      add_tile(found_squares, s, part);
    });
    expect_close(found, gradient);
    expect_close(found_updated, updated);
    expect_close(found_adapted, adapted);
    expect_close(found_squares, squares);
  }
}

/// Rows that are looked up about once, and ones that are very often.
void check_many(int64_t rows, int64_t indices, int64_t width) {
  std::mt19937 random(seed());
  const Problem p(rows, {indices}, width, random);
  Value expected(p.table.shape), found(p.table.shape);
  for_box(p.dy.whole(), [&](const Shape &at) {
    expected({p.row(at), at.back()}) += p.dy(at);
  });
  Context cx;
  const int64_t cut = rows * 2 / 3;
  for (int64_t lo : {int64_t(0), cut}) {
    const Box part{{lo, 0}, {lo == 0 ? cut : rows - cut, width}};
    const Tile ids(p.indices, p.indices.whole(), Order::row_major, DType::i64),
        dy(p.dy, p.dy.whole()), gradient = blank(p.table.shape, part);
    EmbeddingBackward(cx, {ids, dy}, {gradient})({ids, dy}, {gradient});
    add_tile(found, gradient, part);
  }
  expect_close(found, expected);
}

TEST(Embedding, ManyIndices) { check_many(600, 700, 3); }
TEST(Embedding, OftenTheSameRows) {
  check_many(3, 700, 5);
  check_many(2, 4500, 130);
}

/// Rows scaled by 0.5 are those of half the gradients; a step that is skipped
/// changes no bit.
TEST(Embedding, ScaledAndSkippedUpdates) {
  std::mt19937 random(seed());
  const Problem p(6, {5}, 4, random);
  Value half = p.dy;
  for (double &element : half.data)
    element *= 0.5;
  const Value before = random_squares(p.table.shape, random), one({}, 0.5),
              infinite({2}, HUGE_VAL);
  const Tile ids(p.indices, p.indices.whole(), Order::row_major, DType::i32),
      dy(p.dy, p.dy.whole()), smaller(half, half.whole()),
      scale(one, one.whole()), skip(infinite, infinite.whole());
  Context cx;
  cx.learning_rate = 0.1;
  auto update = [&](const Tile &gradients, const Tensor &by) {
    const Tile w(p.table, p.table.whole()), v(p.table, p.table.whole()),
        s(before, before.whole());
    SgdUpdateRows{cx, {w, ids, gradients, by}, {w}}({w, ids, gradients, by},
                                                    {w});
    AdagradUpdateRows{cx, {v, ids, gradients, by, s}, {v, s}, 0.01}(
        {v, ids, gradients, by, s}, {v, s});
    std::vector<Value> values(3, Value(p.table.shape));
    const Tile *tiles[] = {&w, &v, &s};
    for (size_t i = 0; i < 3; ++i)
      add_tile(values[i], *tiles[i], p.table.whole());
    return values;
  };
  const auto scaled = update(dy, scale), wanted = update(smaller, absent({})),
             skipped = update(dy, skip);
  for (size_t i = 0; i < 3; ++i)
    EXPECT_EQ(scaled[i].data, wanted[i].data);
  EXPECT_EQ(skipped[0].data, p.table.data);
  EXPECT_EQ(skipped[1].data, p.table.data);
  EXPECT_EQ(skipped[2].data, before.data);
}

/// A share of the rate, without the decay of others.
TEST(Embedding, UpdatesOfTablesWithRatesOfTheirOwn) {
  std::mt19937 random(seed());
  const Problem p(6, {5}, 4, random);
  const Tile ids(p.indices, p.indices.whole(), Order::row_major, DType::i32),
      dy(p.dy, p.dy.whole());
  auto update = [&](double rate, double share) {
    const Tile w(p.table, p.table.whole()), v(p.table, p.table.whole()),
        s(Value(p.table.shape, 0.5), p.table.whole());
    Context cx;
    cx.learning_rate = rate;
    if (share != 1) {
      cx.weight_decay = 0.5;
      cx.own_rates = {{w.tensor.data, {share, 0}}, {v.tensor.data, {share, 0}}};
    }
    const Tensor none = absent({});
    SgdUpdateRows{cx, {w, ids, dy, none}, {w}}({w, ids, dy, none}, {w});
    AdagradUpdateRows{cx, {v, ids, dy, none, s}, {v, s}, 0.01}(
        {v, ids, dy, none, s}, {v, s});
    finish_target();
    return std::pair(w.bytes, v.bytes);
  };
  EXPECT_EQ(update(0.5, 0.25), update(0.125, 1));
}

std::string error_of(const std::function<void()> &f) {
  try {
    f();
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Embedding, Errors) {
  std::mt19937 random(seed());
  Problem p(4, {3}, 2, random);
  p.indices.data = {0, 4, 1};
  const Tile table(p.table, p.table.whole()), dy(p.dy, p.dy.whole());
  const Tile ids(p.indices, p.indices.whole(), Order::row_major, DType::i32);
  const Tile y = blank(p.dy.shape, p.dy.whole());
  Context cx;
  EmbeddingForward forward{cx, {table, ids}, {y}};
  EXPECT_EQ(error_of([&] {
              forward({table, ids}, {y});
              finish_target();
            }),
            "embedding forward: expected indices from -4 to 3, found 4");
  SgdUpdateRows update{cx, {table, ids, dy, absent({})}, {table}};
  cx.weight_decay = 0.5;
  EXPECT_EQ(error_of([&] {
              update({table, ids, dy, absent({})}, {table});
            }),
            "sgd update rows: expected weight decay 0, which leaves the rows "
            "alone that were not looked up, found 0.500000 (--group "
            "'TABLE: wd=0' sets it apart; ffc --table-gradients=dense updates "
            "all)");
  cx.weight_decay = 0;
  cx.clip_value = 0.5;
  EXPECT_EQ(error_of([&] {
              update({table, ids, dy, absent({})}, {table});
            }),
            "sgd update rows: expected gradients that are not clipped, found "
            "--clip-value 0.500000 (ffc --table-gradients=dense updates all)");
  EXPECT_EQ(error_of([&] {
              AdagradUpdateRows{
                  cx, {table, ids, dy, absent({}), dy}, {table, dy}, 1e-10};
            }),
            "adagrad update rows: slot: expected local shape [4, 2], found [3, "
            "2]");
  EXPECT_EQ(error_of([&] {
              EmbeddingForward{cx, {table, dy}, {y}};
            }),
            "embedding forward: indices: expected i32 or i64, found f32");
}

} // namespace
