//===- attention_library_test.cpp - attention by us or by a library -------===//
//
// On an emulated GPU, whose library does not read causal masks: where the mask
// hides nothing, results tell which algorithm was taken.
//
//===----------------------------------------------------------------------===//
#include "attention_case.h"
#include "ffrt/attention.h"
#include "ffrt/cuda/device.h"
#include "tuned.h"

using namespace ffrt;
using namespace ffrt_test;

namespace {

/// A case, and whether the kernels are told that its mask is causal.
struct Call {
  AttentionCase c;
  bool causal = false;
  DType results = DType::f32;
  Value dy = Value(Shape{1});

  Call(const AttentionCase &of, std::mt19937 &random)
      : c(of), dy(random_value(of.result(), random, of.operand_type)) {}

  struct Results {
    Value y, lse, dq, dk, dv;
  };

  /// Of a part of the iteration space [n, t, h, s]; elsewhere zero.
  Results operator()(const Box &part) const {
    Context cx;
    const AttentionOperands o(c, dy, part);
    const auto made = [&](const Shape &shape, const Box &box) {
      return blank(shape, box, Order::row_major, results);
    };
    const Tile y = made(c.result(), o.results), lse = blank(c.sums(), o.sums),
               dq = made(c.q.shape, o.rows), dk = made(c.k.shape, o.keys),
               dv = made(c.v.shape, o.seen);
    const std::vector<Tensor> in = {o.q, o.k, o.v, o.mask},
                              given = {o.q, o.k, o.v, y, lse, o.dy, o.mask},
                              gradients = {dq, dk, dv};
    AttentionForward(cx, in, {y, lse}, causal, c.hidden, kKey, c.ratio,
                     c.scale)(in, {y, lse});
    AttentionBackward(cx, given, gradients, causal, c.hidden, kKey, c.ratio,
                      c.scale)(given, gradients);
    cuda::device().finish();
    Results all{Value(c.result()), Value(c.sums()), Value(c.q.shape),
                Value(c.k.shape), Value(c.v.shape)};
    add_tile(all.y, y, o.results);
    add_tile(all.lse, lse, o.sums);
    add_tile(all.dq, dq, o.rows);
    add_tile(all.dk, dk, o.keys);
    add_tile(all.dv, dv, o.seen);
    return all;
  }
  Results operator()() const {
    return (*this)(
        {{0, 0, 0, 0}, {c.samples(), c.rows(), c.heads(), c.keys()}});
  }
};

void expect_alike(const Call::Results &found, const Call::Results &expected,
                  double tolerance) {
  expect_close(found.y, expected.y, tolerance);
  expect_close(found.lse, expected.lse, tolerance);
  expect_close(found.dq, expected.dq, tolerance);
  expect_close(found.dk, expected.dk, tolerance);
  expect_close(found.dv, expected.dv, tolerance);
}

/// Both algorithms are asked for, and give the same.
void check(const Call &call) {
  const auto work = [&] { return call(); };
  const Call::Results library = by_algorithm("plain", 2, work),
                      own = by_algorithm("own kernels", 2, work);
  expect_alike(library, own, call.results == DType::f32 ? 1e-4 : 2e-2);
}

class AttentionLibraries : public ::testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(Precisions, AttentionLibraries,
                         ::testing::Values(Precision{DType::bf16},
                                           Precision{DType::f16}),
                         name_of_precision);

TEST_P(AttentionLibraries, GiveWhatOurKernelsGive) {
  std::mt19937 random(seed());
  for (DType results : {DType::f32, GetParam().type}) {
    Call plain(random_case(2, 5, 7, 3, 4, 6, random, GetParam()), random);
    plain.results = results;
    check(plain);
    for (const Shape &mask :
         {Shape{7}, Shape{5, 7}, Shape{2, 1, 1, 7}, Shape{3, 5, 1}}) {
      plain.c.mask = random_value(mask, random);
      check(plain);
    }
    Call causal(random_case(2, 20, 20, 2, 8, 8, random, GetParam()), random);
    hide_later(causal.c);
    causal.causal = true;
    causal.results = results;
    check(causal);
  }
}

TEST_P(AttentionLibraries, AreTakenForCausalAttention) {
  std::mt19937 random(seed());
  Call hides(random_case(2, 20, 20, 2, 8, 8, random, GetParam()), random);
  hide_later(hides.c);
  const Call::Results expected =
      by_algorithm("own kernels", 0, [&] { return hides(); });
  Call claims = hides;
  claims.causal = true;
  for (double &number : claims.c.mask.data)
    number = 0;
  const auto work = [&] { return claims(); };
  expect_alike(by_algorithm("plain", 2, work), expected, 1e-4);
  const Call::Results all = by_algorithm("own kernels", 2, work);
  EXPECT_GT(std::abs(all.y.data.front() - expected.y.data.front()), 1e-3);
}

/// Split along samples and heads it is causal still, along rows it is not.
TEST_P(AttentionLibraries, TakePartsThatAreCausal) {
  std::mt19937 random(seed());
  Call call(random_case(2, 6, 6, 4, 8, 8, random, GetParam()), random);
  hide_later(call.c);
  call.causal = true;
  by_algorithm("plain", 2, [&] { return call({{1, 0, 2, 0}, {1, 6, 2, 6}}); });
  by_algorithm("own kernels", 0, [&] {
    return call({{0, 3, 0, 0}, {2, 3, 4, 6}});
  });
}

TEST_P(AttentionLibraries, AreNotAskedForOtherThings) {
  std::mt19937 random(seed());
  Call dropped(random_case(2, 5, 5, 2, 4, 4, random, GetParam()), random);
  dropped.c.ratio = 0.25;
  Call wide(random_case(2, 5, 5, 2, 4, 4, random), random);
  Call replaced(random_case(2, 5, 7, 2, 4, 4, random, GetParam()), random);
  hide_later(replaced.c);
  for (const Call &call : {dropped, wide, replaced})
    by_algorithm("own kernels", 0, [&] { return call(); });
}

} // namespace
