//===- product_test.cpp - products of padded copies -----------------------===//
//
// On an emulated GPU. Padded copies give the bits of what was padded: zeros are
// added to sums.
//
//===----------------------------------------------------------------------===//
#include "ffrt/cuda/device.h"
#include "ffrt/matmul.h"
#include "geometry.h"
#include "tuned.h"

using namespace ffrt;
using namespace ffrt_test;

namespace {

/// A product, and what is added to it.
struct Call {
  int64_t m, n, k;
  bool trans_a = false, trans_b = false;
  DType operand_type = DType::bf16, result = DType::f32;
  bool tf32 = false, row = false, matrix = false;
  Reals clamp = {};
  Order order_a = Order::row_major, order_b = Order::row_major,
        order_y = Order::row_major;

  std::vector<double> operator()() const {
    std::mt19937 random(seed());
    const auto drawn = [&](const Shape &shape, DType type,
                           Order order = Order::row_major) {
      const Value value = random_value(shape, random, type);
      return Tile(value, value.whole(), order, type);
    };
    const Tile a = drawn(trans_a ? Shape{k, m} : Shape{m, k}, operand_type,
                         order_a),
               b = drawn(trans_b ? Shape{n, k} : Shape{k, n}, operand_type,
                         order_b),
               c = drawn({n}, result), d = drawn({m, n}, DType::f32),
               y = blank({m, n}, Value({m, n}).whole(), order_y, result);
    Context cx;
    cx.tf32 = tf32;
    const std::vector<Tensor> in = {a, b, row ? c.tensor : absent({n}),
                                    matrix ? d.tensor : absent({m, n})};
    MatMul(cx, in, {y}, 1.0, 1.0, clamp, trans_a, trans_b)(in, {y});
    cuda::device().finish();
    std::vector<double> all;
    for_box(Value({m, n}).whole(),
            [&](const Shape &at) { all.push_back(y.get(at)); });
    return all;
  }
};

void expect_padded(const Call &call, std::size_t choices = 1) {
  SCOPED_TRACE(testing::Message() << call.m << "x" << call.n << "x" << call.k
                                  << (call.trans_a) << (call.trans_b));
  const auto padded = by_algorithm("padded", choices, call),
             plain = by_algorithm("as it is", choices, call);
  EXPECT_EQ(padded, plain);
}

/// Extents that are odd, and those that matter: where some matrix is
/// contiguous.
TEST(Products, PaddedInAnyDimension) {
  for (const auto &[m, n, k] : {std::tuple(64, 72, 99), std::tuple(64, 99, 72),
                                std::tuple(99, 64, 72), std::tuple(61, 67, 71)})
    for (bool trans_a : {false, true})
      for (bool trans_b : {false, true}) {
        Call call{m, n, k, trans_a, trans_b};
        const bool k_matters = !trans_a || trans_b;
        const bool is_padded =
            n % 8 || (trans_a && m % 8) || (k_matters && k % 8);
        expect_padded(call, is_padded);
      }
}

TEST(Products, PaddedWithWhatFollows) {
  for (DType result : {DType::f32, DType::bf16}) {
    Call call{67, 71, 90};
    call.result = result;
    call.row = true;
    expect_padded(call);
    call.clamp = {0.0};
    expect_padded(call);
    call.row = false;
    expect_padded(call);
  }
  // A matrix is added where only the depth is padded.
  Call call{67, 72, 90};
  call.matrix = true;
  expect_padded(call);
  call.n = 71;
  expect_padded(call, 0);
}

TEST(Products, PaddedOperandsOfAnyType) {
  Call call{67, 71, 90, true, true, DType::f16};
  expect_padded(call);
  call.operand_type = DType::f32;
  expect_padded(call, 0);
  call.tf32 = true;
  expect_padded(call);
  call.n = call.m = 68;
  call.k = 60;
  expect_padded(call, 0);
}

/// Pitched matrices are read and written where they are; what lies between
/// their rows is no number.
TEST(Products, PitchedNeedNoCopies) {
  const Order pitched = Order::pitched;
  // Logits of an odd vocabulary, and the gradients of operands from theirs.
  Call logits{64, 99, 72, false, true};
  logits.result = DType::bf16;
  logits.row = true;
  logits.order_y = pitched;
  expect_padded(logits, 0);
  Call of_x{64, 72, 99};
  of_x.order_a = pitched;
  expect_padded(of_x, 0);
  Call of_weights{99, 72, 64, true};
  of_weights.order_a = pitched;
  expect_padded(of_weights, 0);
  // Weights that lie the other way round are copied.
  logits.trans_b = false;
  expect_padded(logits);
  of_x.trans_b = true;
  expect_padded(of_x);
  Call of_columns{72, 99, 64, true};
  of_columns.order_b = pitched;
  expect_padded(of_columns);
}

/// Much would be added to what is small.
TEST(Products, SmallOnesStay) {
  expect_padded({64, 1, 64}, 0);
  expect_padded({64, 64, 13}, 0);
  expect_padded({64, 64, 57});
}

} // namespace
