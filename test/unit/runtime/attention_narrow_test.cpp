//===- attention_narrow_test.cpp - attention's bf16 and f16 ---------------===//
#include "attention_case.h"
#include "common/device/target.h"
#include "ffrt/attention.h"
#include "ffrt/error.h"

using namespace ffrt;
using namespace ffrt_test;

namespace {

constexpr DType kTypes[] = {DType::f32, DType::bf16, DType::f16};

/// A narrow y is that of f32, rounded, and lse does not depend on its type.
/// Adds both to those of the whole call.
void check_results(const AttentionCase &c, Context &cx,
                   const AttentionOperands &o, Value &y, Value &lse) {
  const auto call = [&](const Tile &y, const Tile &lse) {
    const std::vector<Tensor> in = {o.q, o.k, o.v, o.mask}, out = {y, lse};
    AttentionForward(cx, in, out, 0, c.hidden, kKey, c.ratio, c.scale)(in, out);
  };
  const Tile wide = blank(c.result(), o.results),
             narrow =
                 blank(c.result(), o.results, Order::row_major, c.operand_type),
             own_lse = blank(c.sums(), o.sums),
             same_lse = blank(c.sums(), o.sums);
  call(wide, own_lse);
  call(narrow, same_lse);
  expect_rounded(narrow, wide, o.results);
  EXPECT_EQ(same_lse.bytes, own_lse.bytes);
  add_tile(y, narrow, o.results);
  add_tile(lse, own_lse, o.sums);
}

/// A narrow y gives the gradients that the same numbers give in f32, and narrow
/// gradients are those, rounded.
void check_gradients(const AttentionCase &c, Context &cx,
                     const AttentionOperands &o, const Value &y,
                     const Value &lse) {
  struct Gradients {
    Tile dq, dk, dv;
  };
  const Tile own_lse(lse, o.sums);
  const auto call = [&](DType type, DType dq, DType dk, DType dv) {
    const Order order = Order::row_major;
    const Tile own_y(y, o.results, order, type);
    Gradients d{blank(c.q.shape, o.rows, order, dq),
                blank(c.k.shape, o.keys, order, dk),
                blank(c.v.shape, o.seen, order, dv)};
    const std::vector<Tensor> in = {o.q,     o.k,  o.v,   own_y,
                                    own_lse, o.dy, o.mask},
                              out = {d.dq, d.dk, d.dv};
    AttentionBackward(cx, in, out, 0, c.hidden, kKey, c.ratio, c.scale)(in,
                                                                        out);
    finish_target();
    return d;
  };
  const DType b = DType::bf16, h = DType::f16, f = DType::f32;
  const Gradients wide = call(f, f, f, f);
  const DType types[][3] = {{f, f, f}, {b, b, b}, {h, h, h}, {b, f, h}};
  for (const auto &type : types) {
    const Gradients d = call(c.operand_type, type[0], type[1], type[2]);
    expect_rounded(d.dq, wide.dq, o.rows);
    expect_rounded(d.dk, wide.dk, o.keys);
    expect_rounded(d.dv, wide.dv, o.seen);
  }
}

/// Whole, and split at random, as far as the direction allows.
void check(const AttentionCase &c, std::mt19937 &random) {
  Context cx;
  cx.seed = kSeed;
  cx.micro_batch = kMicroBatch;
  cx.tf32 = c.tf32;
  const Value dy = random_value(c.result(), random, c.operand_type);
  for (int most : {1, 2}) {
    Value y(c.result()), lse(c.sums());
    for_split({c.samples(), c.rows(), c.heads()}, most, random,
              [&](const Box &rows) {
                Box part = rows;
                part.lo.push_back(0);
                part.size.push_back(c.keys());
                check_results(c, cx, AttentionOperands(c, dy, part), y, lse);
              });
    for_split({c.samples(), c.rows(), c.heads(), c.keys()}, most, random,
              [&](const Box &part) {
                check_gradients(c, cx, AttentionOperands(c, dy, part), y, lse);
              });
  }
}

class NarrowAttention : public ::testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(Precisions, NarrowAttention, kAllPrecisions,
                         name_of_precision);

/// Heads of widths that have kernels of their own.
TEST_P(NarrowAttention, Unmasked) {
  std::mt19937 random(seed());
  check(random_case(2, 5, 7, 3, 4, 6, random, GetParam()), random);
  check(random_case(1, 70, 150, 2, 33, 65, random, GetParam()), random);
  check(random_case(1, 70, 90, 1, 64, 48, random, GetParam()), random);
  check(random_case(1, 20, 70, 1, 140, 131, random, GetParam()), random);
}

TEST_P(NarrowAttention, MaskedAndDropped) {
  std::mt19937 random(seed());
  for (int64_t width : {8, 70, 132}) {
    AttentionCase c = random_case(1, 70, 70, 2, width, 40, random, GetParam());
    c.ratio = 0.2;
    hide_later(c);
    check(c, random);
  }
  AttentionCase c = random_case(2, 9, 11, 3, 4, 4, random, GetParam());
  c.mask = random_value({9, 11}, random);
  check(c, random);
}

/// Of sums over all tiles.
TEST(NarrowAttentionOperands, Quotients) {
  std::mt19937 random(seed());
  const Shape shape = {2, 5, 3, 7}, rows = {2, 3, 5};
  const Value sums = random_value(shape, random),
              tops = random_value(rows, random);
  Value totals = random_value(rows, random);
  for (double &total : totals.data)
    total += 2;
  const Tile sum(sums, sums.whole()), most(tops, tops.whole()),
      total(totals, totals.whole()), lse = blank(rows, tops.whole()),
                                     wide = blank(shape, sums.whole());
  Context cx;
  for (DType type : kTypes) {
    const Tile y = blank(shape, sums.whole(), Order::row_major, type);
    for (const Tile *result : {&wide, &y})
      AttentionApply(cx, {most, total, sum}, {*result, lse}, 0, {}, 0, 0,
                     1)({most, total, sum}, {*result, lse});
    expect_rounded(y, wide, sums.whole());
  }
}

/// The message that f refuses operands with.
template <class F> std::string refusal(const F &f) {
  try {
    f();
  } catch (const Error &error) {
    return error.what();
  }
  return "none";
}

TEST(NarrowAttentionOperands, TypesOfResults) {
  std::mt19937 random(seed());
  Context cx;
  const Tensor none = absent({});
  const auto tile = [&](DType type) {
    const Shape shape = {2, 3, 2, 4};
    return Tile(Value(shape), Value(shape).whole(), Order::row_major, type);
  };
  const Tile f32 = tile(DType::f32), bf16 = tile(DType::bf16),
             f16 = tile(DType::f16), i32 = tile(DType::i32),
             lse = blank({2, 2, 3}, {{0, 0, 0}, {2, 2, 3}});
  const auto forward = [&](const Tile &operand, const Tile &y) {
    return refusal([&] {
      AttentionForward(cx, {operand, operand, operand, none}, {y, lse}, 0, {},
                       0, 0, 1);
    });
  };
  const auto backward = [&](const Tile &operand, const Tile &y) {
    return refusal([&] {
      AttentionBackward(cx, {operand, operand, operand, y, lse, operand, none},
                        {none, none, none}, 0, {}, 0, 0, 1);
    });
  };
  EXPECT_EQ(forward(bf16, bf16), "none");
  EXPECT_EQ(forward(bf16, f16),
            "attention forward: y: expected type f32 or bf16, found f16");
  EXPECT_EQ(forward(f32, bf16),
            "attention forward: y: expected type f32, found bf16");
  EXPECT_EQ(backward(f16, f16), "none");
  EXPECT_EQ(backward(f16, bf16),
            "attention backward: y: expected type f32 or f16, found bf16");
  EXPECT_EQ(backward(f32, f16),
            "attention backward: y: expected type f32, found f16");
  EXPECT_EQ(refusal([&] {
              AttentionApply(cx, {lse, lse, f32}, {i32, lse}, 0, {}, 0, 0, 1);
            }),
            "attention apply: y: expected type f32, bf16 or f16, found i32");
}

} // namespace
