//===- cross_entropy_test.cpp - losses of classes, whole and tiled --------===//
#include "common/device/target.h"
#include "ffrt/cross_entropy.h"
#include "ffrt/error.h"
#include "geometry.h"

#include <cmath>
#include <gtest/gtest.h>
#include <optional>
#include <utility>

using namespace ffrt;
using namespace ffrt_test;

namespace {

Tile scalar() { return blank({}, {{}, {}}); }

/// One cross-entropy with its values in double precision.
struct Case {
  int axis;
  Order order;
  DType type; ///< of the logits
  Value x, gradient, target;
  Value top, sum; ///< shaped as the target
  double loss = 0;
  std::optional<double> slope; ///< that gradients are multiplied by
  double smoothing;

  Case(const Shape &shape, int axis, Order order, DType type, double smoothing,
       std::mt19937 &random)
      : axis(axis), order(order), type(type), x(random_value(shape, random)),
        gradient(shape), target(sample_of(shape)), top(target.shape),
        sum(target.shape), smoothing(smoothing) {
    for (double &v : x.data)
      v = double(rounded(float(v * 10.0), type));
    const double count = double(target.data.size());
    if (shape.size() % 2)
      slope = 2.5;
    for_box(target.whole(), [&](const Shape &i) {
      const auto label = int64_t(random() % unsigned(shape[axis]));
      target(i) = double(label);
      top(i) = -1e30;
      each_class(i, [&](int64_t, const Shape &at) {
        top(i) = std::max(top(i), x(at));
      });
      each_class(i, [&](int64_t, const Shape &at) {
        sum(i) += std::exp(x(at) - top(i));
      });
      each_class(i, [&](int64_t c, const Shape &at) {
        const double log = x(at) - top(i) - std::log(sum(i));
        const double wanted =
            smoothing / double(shape[axis]) + (c == label ? 1 - smoothing : 0);
        gradient(at) = slope.value_or(1) * (std::exp(log) - wanted) / count;
        loss -= wanted > 0 ? wanted * log / count : 0;
      });
    });
  }

  Shape sample_of(Shape i) const {
    i.erase(i.begin() + axis);
    return i;
  }
  Box sample_of(const Box &box) const {
    return {sample_of(box.lo), sample_of(box.size)};
  }
  template <class F> void each_class(const Shape &sample, F f) const {
    Shape at = sample;
    at.insert(at.begin() + axis, 0);
    for (int64_t &c = at[std::size_t(axis)]; c < x.shape[std::size_t(axis)];
         ++c)
      f(c, at);
  }

  Tile logits(const Box &box) const { return Tile(x, box, order, type); }
  Tile widened(const Box &box) const { return Tile(x, box, order); }
  Tensor given_slope(const Tile &tile) const {
    return slope ? tile.tensor : Tensor();
  }
  Tile targets(const Box &box) const {
    return Tile(target, sample_of(box), Order::row_major, DType::i32);
  }
  void check(double found, const Value &found_gradient) const {
    EXPECT_NEAR(found, loss, 2e-6 * std::abs(loss));
    expect_close(found_gradient, gradient, 1e-6);
  }
};

template <class Kernel> void call(const Case &c, Tensors in, Tensors out) {
  Context cx;
  Kernel kernel{cx, in, out, c.axis, c.smoothing};
  const int64_t before = allocations();
  kernel(in, out);
  EXPECT_EQ(allocations(), before);
}

/// Computes `out`, and sees that logits of f32 give the same bits.
template <class Kernel, class... Others>
void call_on_logits(const Case &c, const Box &box, const Tile &out,
                    const Others &...others) {
  const Tile x = c.logits(box), wide = c.widened(box);
  Tile expected = out;
  expected.tensor.data = expected.bytes.data();
  call<Kernel>(c, {x, others...}, {out});
  call<Kernel>(c, {wide, others...}, {expected});
  finish_target();
  EXPECT_EQ(out.bytes, expected.bytes);
}

/// The gradient of a tile as f32, after a look at narrow ones, it rounded, and
/// at those that lie where the logits did. Returns the tile's share of the
/// loss, which may be absent.
template <class Kernel, class... Others>
double call_gradient(const Case &c, const Box &box, const Tile &result,
                     const Others &...others) {
  const Shape &shape = c.x.shape;
  const Tile factor(Value({}, c.slope.value_or(0)), {{}, {}});
  const Tensor slope = c.given_slope(factor), absent;
  call<Kernel>(c, {c.logits(box), others..., slope}, {absent, result});
  double share = 0;
  for (DType type : {DType::f32, DType::bf16, DType::f16}) {
    if (c.type != DType::f32 && type != DType::f32 && type != c.type)
      continue;
    const Tile x = c.logits(box), wide = c.widened(box), loss = scalar(),
               again = scalar();
    const Tile found = blank(shape, box, c.order, type);
    call<Kernel>(c, {x, others..., slope}, {loss, found});
    for_box(box, [&](const Shape &i) {
      ASSERT_EQ(found.get(i), double(rounded(float(result.get(i)), type)));
    });
    share = loss.get({});
    // Logits of f32 give the same bits.
    const Tile same = blank(shape, box, c.order, type);
    call<Kernel>(c, {wide, others..., slope}, {again, same});
    finish_target();
    EXPECT_EQ(same.bytes, found.bytes);
    EXPECT_EQ(again.get({}), share);
    if (type != c.type)
      continue;
    call<Kernel>(c, {x, others..., slope}, {again, x});
    finish_target();
    EXPECT_EQ(x.bytes, found.bytes);
    EXPECT_EQ(again.get({}), share);
  }
  return share;
}

/// Tiles that do not split the classes.
void check_fused(const Case &c, int most, std::mt19937 &random) {
  const Shape &shape = c.x.shape;
  Value gradient(shape);
  double loss = 0, loss_beside = 0;
  for_split(shape, most, random,
            [&](const Box &box) {
              const Tile share = scalar(), part = blank(shape, box, c.order);
              const Tile target = c.targets(box);
              call_on_logits<CrossEntropyForward>(c, box, share, target);
              loss += share.get({});
              loss_beside +=
                  call_gradient<CrossEntropyBackward>(c, box, part, target);
              add_tile(gradient, part, box);
            },
            {c.axis});
  c.check(loss, gradient);
  c.check(loss_beside, gradient);
}

/// Any tiles: maxima and sums are combined over them.
void check_phases(const Case &c, int most, std::mt19937 &random) {
  const Shape &shape = c.x.shape;
  Value top(c.top.shape, -1e30), sum(top.shape), gradient(shape);
  double loss = 0, loss_beside = 0;
  std::vector<Box> boxes;
  for_split(shape, most, random, [&](const Box &box) { boxes.push_back(box); });
  for (const Box &box : boxes) {
    const Tile out = blank(top.shape, c.sample_of(box));
    call_on_logits<CrossEntropyMax>(c, box, out);
    for_box(c.sample_of(box),
            [&](const Shape &i) { top(i) = std::max(top(i), out.get(i)); });
  }
  for (const Box &box : boxes) {
    const Tile out = blank(top.shape, c.sample_of(box));
    const Tile tops(top, c.sample_of(box));
    call_on_logits<CrossEntropySum>(c, box, out, tops);
    add_tile(sum, out, c.sample_of(box));
  }
  for (const Box &box : boxes) {
    const Tile target = c.targets(box);
    const Tile tops(top, c.sample_of(box)), sums(sum, c.sample_of(box));
    const Tile share = scalar(), part = blank(shape, box, c.order);
    call_on_logits<CrossEntropyApply>(c, box, share, target, tops, sums);
    loss += share.get({});
    loss_beside += call_gradient<CrossEntropyBackwardApply>(c, box, part,
                                                            target, tops, sums);
    add_tile(gradient, part, box);
  }
  c.check(loss, gradient);
  c.check(loss_beside, gradient);
}

void check(const Shape &shape, int axis, Order order, int most,
           std::mt19937 &random) {
  for (auto [type, smoothing] :
       {std::pair(DType::f32, 0.0), std::pair(DType::f32, 0.3),
        std::pair(DType::bf16, 0.3), std::pair(DType::f16, 0.0)}) {
    const Case c(shape, axis, order, type, smoothing, random);
    check_fused(c, most, random);
    check_phases(c, most, random);
  }
}

TEST(CrossEntropy, AxesOrdersAndTiles) {
  constexpr Order kOrders[] = {Order::row_major, Order::channels_last,
                               Order::pitched};
  for (unsigned round = 0; round < 6; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const Order order = kOrders[round % 3];
    const int most = round < 3 ? 1 : 3;
    check({9, 10}, 1, order, most, random);
    check({10}, 0, order, most, random);
    check({3, 10, 4, 5}, 1, order, most, random);
    check({3, 4, 10}, 2, order, most, random);
    check({300, 70}, 1, order, most, random);
  }
}

/// As many classes as a warp, or a block, has registers for, and more.
TEST(CrossEntropy, ManyClasses) {
  std::mt19937 random(seed());
  for (int64_t classes : {33, 600, 9001})
    for (Order order : {Order::row_major, Order::pitched})
      check({3, classes}, 1, order, 2, random);
}

/// `rest`: operands behind the target, after which there is a gradient if there
/// is to be one.
template <class Kernel, bool kHasGradient = false, class... Rest>
void expect_complaint(const std::string &name, const Rest &...rest) {
  std::mt19937 random(seed());
  const Value x = random_value({2, 3}, random);
  Context cx;
  for (double label : {-1.0, 3.0}) {
    Value target(Shape{2});
    target.data = {2.0, label};
    const Tile tx(x, x.whole()),
        tt(target, target.whole(), Order::row_major, DType::i32);
    const Tile tl = scalar(), tg = blank({2, 3}, x.whole());
    const auto run = [&](Tensors out) {
      Kernel(cx, {tx, tt, rest...}, out, 1)({tx, tt, rest...}, out);
    };
    try {
      if (kHasGradient)
        run({tl, tg});
      else
        run({tl});
      finish_target();
      ADD_FAILURE() << "expected an error";
    } catch (const Error &error) {
      EXPECT_EQ(std::string(error.what()),
                name + ": expected targets from 0 to 2, found " +
                    std::to_string(int(label)));
    }
  }
}

/// The message that a kernel refuses its operands with.
template <class Kernel> std::string refusal(Tensors in, Tensors out) {
  Context cx;
  try {
    Kernel(cx, in, out, 1);
  } catch (const Error &error) {
    return error.what();
  }
  return "none";
}

TEST(CrossEntropy, TypesOfLogitsAndResults) {
  const auto tile = [](DType type) {
    return blank({2, 3}, {{0, 0}, {2, 3}}, Order::row_major, type);
  };
  const Value target(Shape{2});
  const Tile f32 = tile(DType::f32), bf16 = tile(DType::bf16),
             f16 = tile(DType::f16), i32 = tile(DType::i32),
             tt(target, target.whole(), Order::row_major, DType::i32),
             loss = blank({}, {{}, {}}, Order::row_major, DType::bf16),
             sums = blank({2}, target.whole());
  const Tensor no_slope;
  EXPECT_EQ(refusal<CrossEntropyBackward>({f32, tt, no_slope}, {scalar(), i32}),
            "cross entropy backward: gradient: expected type f32, bf16 or f16, "
            "found i32");
  EXPECT_EQ(refusal<CrossEntropyBackward>({f32, tt, no_slope}, {loss, f32}),
            "cross entropy backward: loss: expected type f32, found bf16");
  EXPECT_EQ(refusal<CrossEntropyBackward>({f32, tt, loss}, {scalar(), f32}),
            "cross entropy backward: slope: expected type f32, found bf16");
  EXPECT_EQ(refusal<CrossEntropyForward>({f32, tt}, {loss}),
            "cross entropy forward: loss: expected type f32, found bf16");
  EXPECT_EQ(refusal<CrossEntropyForward>({i32, tt}, {scalar()}),
            "cross entropy forward: logits: expected type f32, bf16 or f16, "
            "found i32");
  EXPECT_EQ(
      refusal<CrossEntropyBackward>({bf16, tt, no_slope}, {scalar(), f16}),
      "cross entropy backward: logits and gradient: expected at most one "
      "type besides f32, found bf16 and f16");
  EXPECT_EQ(
      refusal<CrossEntropyBackwardApply>({f16, tt, sums, sums, no_slope},
                                         {scalar(), bf16}),
      "cross entropy backward apply: logits and gradient: expected at most "
      "one type besides f32, found f16 and bf16");
  EXPECT_EQ(refusal<CrossEntropyMax>({i32}, {sums}),
            "softmax max: operand: expected type f32, bf16 or f16, found i32");
}

TEST(CrossEntropy, TargetsAreClasses) {
  expect_complaint<CrossEntropyForward>("cross entropy forward");
  const Value ones(Shape{2}, 1.0);
  const Tile given(ones, ones.whole());
  expect_complaint<CrossEntropyApply>("cross entropy apply", given, given);
  const Tensor no_slope;
  expect_complaint<CrossEntropyBackward, true>("cross entropy backward",
                                               no_slope);
  expect_complaint<CrossEntropyBackwardApply, true>(
      "cross entropy backward apply", given, given, no_slope);
}

} // namespace
