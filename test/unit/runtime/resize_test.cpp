//===- resize_test.cpp - interpolation on a grid of another size ----------===//
#include "ffrt/resize.h"
#include "geometry.h"

#include <gtest/gtest.h>

#include <cmath>

using namespace ffrt;
using namespace ffrt_test;

namespace {

struct Words {
  const char *coordinates, *mode, *nearest;
  double cubic_coeff_a = -0.75;
  int64_t exclude_outside = 0;
  Reals roi = {};
  int64_t antialias = 0;
};

template <class K>
K kernel(Tensors in, Tensors out, const Words &w, const Reals &scales) {
  Context cx;
  return K{cx,
           in,
           out,
           w.antialias,
           w.coordinates,
           w.cubic_coeff_a,
           w.exclude_outside,
           w.mode,
           w.nearest,
           w.roi,
           scales};
}

/// A vector of four resized to `extent`.
std::vector<double> resize_vector(const Words &w, double scale,
                                  int64_t extent) {
  Value x({4});
  x.data = {1, 2, 3, 4};
  const Tile tx(x, x.whole());
  const Tile ty = blank({extent}, {{0}, {extent}});
  auto k = kernel<Resize>({tx}, {ty}, w, {scale});
  k({tx}, {ty});
  std::vector<double> y;
  for (int64_t i = 0; i < extent; ++i)
    y.push_back(ty.get({i}));
  return y;
}

using Row = std::vector<double>;

void expect_row(const Row &found, const Row &expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1e-6) << "element " << i;
}

/// Nearest: examples of ONNX's specification; the others: PyTorch's.
TEST(Resize, KnownValues) {
  expect_row(resize_vector({"asymmetric", "nearest", "floor"}, 2, 8),
             {1, 1, 2, 2, 3, 3, 4, 4});
  expect_row(
      resize_vector({"half_pixel", "nearest", "round_prefer_floor"}, 1.75, 7),
      {1, 1, 2, 2, 3, 4, 4});
  expect_row(resize_vector({"align_corners", "nearest", "ceil"}, 1.5, 6),
             {1, 2, 3, 3, 4, 4});
  expect_row(resize_vector({"half_pixel", "linear", "floor"}, 2, 8),
             {1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4});
  expect_row(resize_vector({"align_corners", "linear", "floor"}, 2, 8),
             {1, 10. / 7, 13. / 7, 16. / 7, 19. / 7, 22. / 7, 25. / 7, 4});
  expect_row(resize_vector({"half_pixel", "linear", "floor"}, 0.6, 2),
             {4. / 3, 3});
  expect_row(resize_vector({"pytorch_half_pixel", "linear", "floor"}, 0.25, 1),
             {1});
  expect_row(resize_vector({"half_pixel", "cubic", "floor"}, 2, 8),
             {0.89453125, 1.19140625, 1.66796875, 2.296875, 2.703125,
              3.33203125, 3.80859375, 4.10546875});
  expect_row(resize_vector({"half_pixel", "cubic", "floor", -0.5, 1}, 0.8, 3),
             {1.0736253494874184, 2.375, 3.718835304822566});
  // Examples of ONNX again.
  expect_row(resize_vector({"half_pixel_symmetric", "linear", "floor"}, 0.6, 2),
             {5. / 3, 10. / 3});
  Words smooth = {"half_pixel", "linear", "floor"};
  smooth.antialias = 1;
  expect_row(resize_vector(smooth, 0.6, 2), {1.375, 3});
  expect_row(resize_vector(smooth, 2, 8),
             {1, 1.25, 1.75, 2.25, 2.75, 3.25, 3.75, 4});
  smooth.mode = "cubic";
  expect_row(resize_vector(smooth, 0.6, 2), {1.30361442, 3.07142862});
  // From 1.2 on in steps of 0.9.
  const Words crop = {
      "tf_crop_and_resize", "linear", "floor", -0.75, 0, {0.4, 1.0}};
  expect_row(resize_vector(crop, 0.75, 3), {2.2, 3.1, 4});
  const Words middle = {
      "tf_crop_and_resize", "nearest", "floor", -0.75, 0, {0.0, 1.0}};
  expect_row(resize_vector(middle, 0.25, 1), {2});
}

struct Case {
  Words words;
  Shape from, to;
  Reals scales;
  Order order;
};

std::vector<Case> cases() {
  const Order last = Order::channels_last, row = Order::row_major;
  const Words nearest = {"asymmetric", "nearest", "floor"},
              linear = {"half_pixel", "linear", "floor"},
              corners = {"align_corners", "linear", "floor"},
              cubic = {"half_pixel", "cubic", "floor"},
              inside = {"half_pixel", "cubic", "floor", -0.5, 1},
              crop = {"tf_crop_and_resize",
                      "linear",
                      "floor",
                      -0.75,
                      0,
                      {0, 0, 0.2, 0.1, 1, 1, 0.7, 0.9}};
  return {{nearest, {2, 5, 4, 6}, {2, 5, 8, 18}, {1, 1, 2, 3}, last},
          {nearest, {2, 5, 4, 6}, {2, 5, 2, 2}, {1, 1, 0.5, 0.34}, last},
          {linear, {2, 35, 4, 6}, {2, 35, 8, 12}, {1, 1, 2, 2}, last},
          {linear, {2, 3, 4, 6}, {2, 3, 8, 9}, {1, 1, 2, 1.5}, row},
          {corners, {2, 5, 4, 6}, {2, 5, 9, 3}, {1, 1, 2.25, 0.5}, last},
          {cubic, {2, 5, 4, 6}, {2, 5, 8, 12}, {1, 1, 2, 2}, last},
          {cubic, {3, 5}, {6, 4}, {2, 0.8}, row},
          {inside, {2, 5, 4, 6}, {2, 5, 8, 3}, {1, 1, 2, 0.5}, last},
          {crop, {2, 5, 4, 6}, {2, 5, 8, 6}, {1, 1, 2, 1}, last},
          {linear, {2, 3, 2, 3, 4}, {2, 3, 4, 3, 8}, {1, 1, 2, 1, 2}, last}};
}

Value resized(const Case &c, const Value &x) {
  Value y(c.to);
  const Tile tx(x, x.whole(), c.order);
  const Tile ty = blank(c.to, y.whole(), c.order);
  auto k = kernel<Resize>({tx}, {ty}, c.words, c.scales);
  int64_t before = allocations();
  k({tx}, {ty});
  EXPECT_EQ(allocations(), before);
  add_tile(y, ty, y.whole());
  return y;
}

Value resized_back(const Case &c, const Value &dy) {
  Value dx(c.from);
  const Tile ty(dy, dy.whole(), c.order);
  const Tile tx = blank(c.from, dx.whole(), c.order);
  auto k = kernel<ResizeBackward>({ty}, {tx}, c.words, c.scales);
  int64_t before = allocations();
  k({ty}, {tx});
  EXPECT_EQ(allocations(), before);
  add_tile(dx, tx, dx.whole());
  return dx;
}

/// The operand's positions that whole factors may need, and one more each side.
Box around(const Box &box, const Case &c) {
  Box from = box;
  for (std::size_t d = 0; d < c.from.size(); ++d) {
    if (c.scales[d] == 1)
      continue;
    from.lo[d] = int64_t(std::floor(double(box.lo[d]) / c.scales[d])) - 2;
    from.size[d] = int64_t(std::ceil(double(box.hi(int(d))) / c.scales[d])) +
                   2 - from.lo[d];
  }
  return from.clipped(c.from);
}

TEST(Resize, TilesAreThoseOfTheWhole) {
  for (const Case &c : cases()) {
    std::mt19937 random(seed());
    const Value x = random_value(c.from, random);
    const Value expected = resized(c, x);
    Value found(c.to);
    for_split(c.to, 3, random, [&](const Box &box) {
      Box from = around(box, c);
      if (std::string(c.words.coordinates) == "align_corners" ||
          !c.words.roi.empty())
        for (std::size_t d = 2; d < c.from.size(); ++d) {
          from.lo[d] = 0;
          from.size[d] = c.from[d];
        }
      const Tile tx(x, from, c.order);
      const Tile ty = blank(c.to, box, c.order);
      auto k = kernel<Resize>({tx}, {ty}, c.words, c.scales);
      k({tx}, {ty});
      add_tile(found, ty, box);
    });
    expect_close(found, expected, 0.0);
  }
}

/// <resize(x), dy> = <x, backward(dy)>.
TEST(ResizeBackward, IsTheTranspose) {
  for (const Case &c : cases()) {
    std::mt19937 random(seed());
    const Value x = random_value(c.from, random);
    const Value dy = random_value(c.to, random);
    const Value y = resized(c, x), dx = resized_back(c, dy);
    double left = 0, right = 0;
    for (std::size_t i = 0; i < y.data.size(); ++i)
      left += y.data[i] * dy.data[i];
    for (std::size_t i = 0; i < x.data.size(); ++i)
      right += x.data[i] * dx.data[i];
    EXPECT_NEAR(left, right, 1e-4 * std::max(1.0, std::fabs(left)));

    Value found(c.from);
    for_split(c.from, 3, random, [&](const Box &box) {
      Box whole = box;
      for (std::size_t d = 0; d < c.from.size(); ++d)
        if (c.from[d] != c.to[d] || (d > 1 && !c.words.roi.empty())) {
          whole.lo[d] = 0;
          whole.size[d] = c.to[d];
        }
      const Tile ty(dy, whole, c.order);
      const Tile tx = blank(c.from, box, c.order);
      auto k = kernel<ResizeBackward>({ty}, {tx}, c.words, c.scales);
      k({ty}, {tx});
      add_tile(found, tx, box);
    });
    expect_close(found, dx, 0.0);
  }
}

TEST(Resize, RegionOfAnotherRank) {
  const Words w = {"tf_crop_and_resize", "linear", "floor", -0.75, 0, {0.5}};
  try {
    resize_vector(w, 2.0, 8);
    FAIL();
  } catch (const std::exception &error) {
    EXPECT_STREQ(error.what(),
                 "resize: roi: expected none or 2 numbers, found 1");
  }
}

TEST(Resize, OperandWithoutAPositionItNeeds) {
  Value x({4});
  x.data = {1, 2, 3, 4};
  const Tile tx(x, {{0}, {2}});
  const Tile ty = blank({8}, {{0}, {8}});
  try {
    kernel<Resize>({tx}, {ty}, {"asymmetric", "nearest", "floor"}, {2.0});
    FAIL();
  } catch (const std::exception &error) {
    EXPECT_STREQ(error.what(), "resize: expected an operand with position 2 of "
                               "dimension 0, found 0 to 1");
  }
}

/// Of a part of the result no position is read along the last dimension: nobody
/// sends the operand.
TEST(ResizeBackward, OperandThatNobodyNeeds) {
  const Words words = {"half_pixel", "nearest", "ceil"};
  const Tensor dy = absent({2, 3, 1});
  const Tile first = blank({2, 3, 3}, {{0, 0, 0}, {2, 3, 1}});
  auto k = kernel<ResizeBackward>({dy}, {first}, words, {1, 1, 0.5});
  k({dy}, {first});
  for (int64_t n = 0; n < 2; ++n)
    for (int64_t c = 0; c < 3; ++c)
      EXPECT_EQ(first.get({n, c, 0}), 0);
  const Tile second = blank({2, 3, 3}, {{0, 0, 1}, {2, 3, 1}});
  try {
    kernel<ResizeBackward>({dy}, {second}, words, {1, 1, 0.5});
    FAIL();
  } catch (const std::exception &error) {
    EXPECT_STREQ(error.what(),
                 "resize backward: expected an operand, found none");
  }
}

} // namespace
