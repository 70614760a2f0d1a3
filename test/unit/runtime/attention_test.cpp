//===- attention_test.cpp - attention, whole and tiled --------------------===//
#include "attention_case.h"
#include "ffrt/attention.h"
#include "ffrt/dropout.h"
#include "ffrt/error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <omp.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

using Case = AttentionCase;
using Operands = AttentionOperands;

/// What ff.dropout multiplies the probabilities [N, H, T, S] by.
Value drops(const Case &c) {
  const Shape shape = {c.samples(), c.heads(), c.rows(), c.keys()};
  Value ones(shape, 1.0), factors(shape);
  if (c.ratio == 0)
    return ones;
  Context cx;
  cx.seed = kSeed;
  cx.micro_batch = kMicroBatch;
  const Tile x(ones, ones.whole()), y = blank(shape, ones.whole());
  Dropout(cx, {x}, {y}, kKey, c.ratio)({x}, {y});
  add_tile(factors, y, factors.whole());
  return factors;
}

struct Results {
  Value y, lse, dq, dk, dv;
};

/// As ff.attention says, in doubles.
Results reference(const Case &c, const Value &dy) {
  Results r{Value(c.result()), Value(c.sums()), Value(c.q.shape),
            Value(c.k.shape), Value(c.v.shape)};
  const int64_t width = c.q.shape[3], values = c.v.shape[3];
  const Value factors = drops(c);
  for_box(r.lse.whole(), [&](const Shape &at) {
    const int64_t n = at[0], h = at[1], t = at[2];
    std::vector<double> p;
    for (int64_t s = 0; s < c.keys(); ++s)
      p.push_back(c.score(n, h, t, s));
    const double most = *std::max_element(p.begin(), p.end());
    double sum = 0;
    for (double score : p)
      sum += std::exp(score - most);
    const double lse = r.lse(at) = most + std::log(sum);
    std::vector<double> dp(p.size());
    double mean = 0;
    for (int64_t s = 0; s < c.keys(); ++s) {
      p[s] = std::exp(p[s] - lse);
      const double factor = factors({n, h, t, s});
      for (int64_t e = 0; e < values; ++e) {
        r.y({n, t, h, e}) += factor * p[s] * c.v({n, s, h, e});
        r.dv({n, s, h, e}) += factor * p[s] * dy({n, t, h, e});
        dp[s] += factor * dy({n, t, h, e}) * c.v({n, s, h, e});
      }
      mean += p[s] * dp[s];
    }
    for (int64_t s = 0; s < c.keys(); ++s)
      if (!c.replaced({n, h, t, s}))
        for (int64_t d = 0; d < width; ++d) {
          const double ds = c.scale * p[s] * (dp[s] - mean);
          r.dq({n, t, h, d}) += ds * c.k({n, s, h, d});
          r.dk({n, s, h, d}) += ds * c.q({n, t, h, d});
        }
  });
  return r;
}

void expect_results(const Case &c, const Results &found, const Results &want) {
  const double slack = c.tf32 ? 100 : 1;
  expect_close(found.y, want.y, slack * 2e-5);
  expect_close(found.lse, want.lse, slack * 2e-5);
  expect_close(found.dq, want.dq, slack * 5e-5);
  expect_close(found.dk, want.dk, slack * 5e-5);
  expect_close(found.dv, want.dv, slack * 5e-5);
}

Results no_results(const Case &c) {
  return {Value(c.result()), Value(c.sums()), Value(c.q.shape),
          Value(c.k.shape), Value(c.v.shape)};
}

void add_gradients(const Case &c, Context &cx, const Operands &o, Tensor y,
                   Tensor lse, Results &found) {
  const std::vector<Tensor> in = {o.q, o.k, o.v, y, lse, o.dy, o.mask};
  const Tile dq = blank(c.q.shape, o.rows), dk = blank(c.k.shape, o.keys),
             dv = blank(c.v.shape, o.seen);
  AttentionBackward(cx, in, {dq, dk, dv}, 0, c.hidden, kKey, c.ratio,
                    c.scale)(in, {dq, dk, dv});
  add_tile(found.dq, dq, o.rows);
  add_tile(found.dk, dk, o.keys);
  add_tile(found.dv, dv, o.seen);
}

/// Samples, rows and heads split at random.
void check_rows(const Case &c, Context &cx, const Value &dy,
                const Results &want, int most, std::mt19937 &random) {
  Results found = no_results(c);
  for_split({c.samples(), c.rows(), c.heads()}, most, random,
            [&](const Box &rows) {
              Box part = rows;
              part.lo.push_back(0);
              part.size.push_back(c.keys());
              const Operands o(c, dy, part);
              const Tile y = blank(c.result(), o.results),
                         lse = blank(c.sums(), o.sums);
              AttentionForward(cx, {o.q, o.k, o.v, o.mask}, {y, lse}, 0,
                               c.hidden, kKey, c.ratio,
                               c.scale)({o.q, o.k, o.v, o.mask}, {y, lse});
              add_tile(found.y, y, o.results);
              add_tile(found.lse, lse, o.sums);
              add_gradients(c, cx, o, y, lse, found);
            });
  expect_results(c, found, want);
}

/// The positions that are looked at, too.
void check_keys(const Case &c, Context &cx, const Value &dy,
                const Results &want, int most, std::mt19937 &random) {
  Results found = no_results(c);
  std::vector<Box> parts;
  for_split({c.samples(), c.rows(), c.heads(), c.keys()}, most, random,
            [&](const Box &part) { parts.push_back(part); });
  Value largest(c.sums(), -std::numeric_limits<double>::infinity());
  for (const Box &part : parts) {
    const Operands o(c, dy, part);
    const Tile tile = blank(c.sums(), o.sums);
    AttentionMax(cx, {o.q, o.k, o.mask}, {tile}, 0, c.hidden, kKey, c.ratio,
                 c.scale)({o.q, o.k, o.mask}, {tile});
    Value own(c.sums());
    add_tile(own, tile, o.sums);
    for_box(o.sums, [&](const Shape &at) {
      largest(at) = std::max(largest(at), own(at));
    });
  }
  Value total(c.sums()), sum(c.result());
  for (const Box &part : parts) {
    const Operands o(c, dy, part);
    const Tile top(largest, o.sums), t = blank(c.sums(), o.sums),
                                     s = blank(c.result(), o.results);
    AttentionSum(cx, {o.q, o.k, o.v, o.mask, top}, {t, s}, 0, c.hidden, kKey,
                 c.ratio, c.scale)({o.q, o.k, o.v, o.mask, top}, {t, s});
    add_tile(total, t, o.sums);
    add_tile(sum, s, o.results);
  }
  const Tile top(largest, largest.whole()), t(total, total.whole()),
      s(sum, sum.whole()), y = blank(c.result(), sum.whole()),
                           lse = blank(c.sums(), total.whole());
  AttentionApply(cx, {top, t, s}, {y, lse}, 0, c.hidden, kKey, c.ratio,
                 c.scale)({top, t, s}, {y, lse});
  add_tile(found.y, y, sum.whole());
  add_tile(found.lse, lse, total.whole());
  for (const Box &part : parts) {
    const Operands o(c, dy, part);
    const Tile own_y(found.y, o.results), own_lse(found.lse, o.sums);
    add_gradients(c, cx, o, own_y, own_lse, found);
  }
  expect_results(c, found, want);
}

void check(const Case &c, int most, int threads) {
  std::mt19937 random(seed());
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  const Value dy = random_value(c.result(), random, c.operand_type);
  const Results want = reference(c, dy);
  Context cx;
  cx.seed = kSeed;
  cx.micro_batch = kMicroBatch;
  cx.tf32 = c.tf32;
  check_rows(c, cx, dy, want, most, random);
  check_keys(c, cx, dy, want, most, random);
  omp_set_num_threads(before);
}

class Attention : public ::testing::TestWithParam<Precision> {};
INSTANTIATE_TEST_SUITE_P(Precisions, Attention, kAllPrecisions,
                         name_of_precision);

TEST_P(Attention, Unmasked) {
  std::mt19937 random(seed());
  check(random_case(2, 5, 7, 3, 4, 6, random, GetParam()), 3, 1);
  check(random_case(1, 150, 300, 2, 33, 65, random, GetParam()), 2, 2);
  check(random_case(2, 140, 90, 1, 64, 48, random, GetParam()), 2, 1);
  check(random_case(1, 70, 150, 2, 72, 128, random, GetParam()), 2, 1);
}

TEST_P(Attention, WideHeads) {
  std::mt19937 random(seed());
  check(random_case(1, 20, 70, 1, 140, 131, random, GetParam()), 2, 2);
  check(random_case(2, 70, 9, 1, 8, 270, random, GetParam()), 2, 1);
  Case c = random_case(1, 90, 140, 2, 132, 40, random, GetParam());
  c.ratio = 0.2;
  hide_later(c);
  check(c, 2, 1);
}

TEST_P(Attention, Dropped) {
  std::mt19937 random(seed());
  Case c = random_case(2, 70, 300, 3, 8, 8, random, GetParam());
  c.ratio = 0.3;
  check(c, 3, 2);
  c = random_case(1, 9, 17, 2, 4, 4, random, GetParam());
  c.ratio = 0.5;
  hide_later(c);
  check(c, 3, 1);
}

/// One number per key and sample, per row, or for all.
TEST_P(Attention, AddedMask) {
  std::mt19937 random(seed());
  Case c = random_case(2, 9, 11, 3, 4, 4, random, GetParam());
  for (const Shape &shape : {Shape{2, 1, 1, 11}, Shape{9, 11}, Shape{3, 1, 11},
                             Shape{9, 1}, Shape{11}, Shape{}}) {
    c.mask = random_value(shape, random);
    check(c, 3, 2);
  }
}

/// Positions behind one's own: whole blocks see nothing.
TEST_P(Attention, Causal) {
  std::mt19937 random(seed());
  for (int64_t length : {6, 330}) {
    Case c = random_case(1, length, length, 2, 8, 8, random, GetParam());
    hide_later(c);
    check(c, 2, 2);
  }
}

/// A row that sees nothing gets the mean of all, as softmax would give it.
TEST_P(Attention, HiddenRows) {
  std::mt19937 random(seed());
  Case c = random_case(1, 4, 600, 1, 8, 8, random, GetParam());
  c.mask = Value({4, 600}, 1.0);
  for (int64_t s = 0; s < 10; ++s)
    c.mask({1, 500 + s}) = 0;
  c.hidden = {-10000.0};
  check(c, 1, 1);
  // A number that is not far away counts.
  c.hidden = {-1.0};
  check(c, 1, 1);
  // -infinity is what many exporters write; every row sees something here.
  for (int64_t t = 0; t < 4; ++t)
    c.mask({t, 599}) = 0;
  c.hidden = {-std::numeric_limits<double>::infinity()};
  check(c, 1, 1);
}

/// -infinity, as long as a row sees something, even in its last block.
TEST_P(Attention, MinusInfinity) {
  std::mt19937 random(seed());
  Case c = random_case(1, 3, 600, 2, 4, 4, random, GetParam());
  c.mask = Value({600}, -std::numeric_limits<double>::infinity());
  for (int64_t s = 590; s < 600; ++s)
    c.mask({s}) = 0;
  check(c, 2, 1);
}

TEST(AttentionOperands, AbsentGradients) {
  std::mt19937 random(seed());
  const Case c = random_case(2, 5, 7, 3, 4, 6, random);
  const Value slopes = random_value(c.result(), random);
  const Results want = reference(c, slopes);
  Context cx;
  const Tensor none = absent({});
  const Tile q(c.q, c.q.whole()), k(c.k, c.k.whole()), v(c.v, c.v.whole()),
      y(want.y, want.y.whole()), lse(want.lse, want.lse.whole()),
      dy(slopes, slopes.whole());
  for (int present : {0, 1, 2}) {
    Results found = no_results(c);
    const Tile dq = blank(c.q.shape, c.q.whole()),
               dk = blank(c.k.shape, c.k.whole()),
               dv = blank(c.v.shape, c.v.whole());
    const Tensor results[] = {present == 0 ? dq : none,
                              present == 1 ? dk : none,
                              present == 2 ? dv : none};
    const std::vector<Tensor> in = {q, k, v, y, lse, dy, none},
                              out = {results[0], results[1], results[2]};
    AttentionBackward(cx, in, out, 0, {}, kKey, 0, c.scale)(in, out);
    if (present == 0) {
      add_tile(found.dq, dq, c.q.whole());
      expect_close(found.dq, want.dq, 5e-5);
    } else if (present == 1) {
      add_tile(found.dk, dk, c.k.whole());
      expect_close(found.dk, want.dk, 5e-5);
    } else {
      add_tile(found.dv, dv, c.v.whole());
      expect_close(found.dv, want.dv, 5e-5);
    }
  }
}

TEST(AttentionOperands, SameBitsOnAnyThreads) {
  std::mt19937 random(seed());
  const Case c = random_case(1, 200, 300, 1, 16, 16, random);
  std::vector<double> first;
  for (int threads : {1, 2, 3}) {
    const int before = omp_get_max_threads();
    omp_set_num_threads(threads);
    Context cx;
    const Tile q(c.q, c.q.whole()), k(c.k, c.k.whole()), v(c.v, c.v.whole()),
        y = blank(c.result(), c.q.whole()),
        lse = blank(c.sums(), Value(c.sums()).whole());
    const Tensor m = absent({});
    AttentionForward(cx, {q, k, v, m}, {y, lse}, 0, {}, 0, 0.0,
                     c.scale)({q, k, v, m}, {y, lse});
    omp_set_num_threads(before);
    Value found(c.result());
    add_tile(found, y, found.whole());
    if (first.empty())
      first = found.data;
    EXPECT_EQ(found.data, first);
  }
}

TEST(AttentionOperands, WrongOperands) {
  std::mt19937 random(seed());
  Context cx;
  Case c = random_case(2, 3, 5, 2, 4, 4, random);
  c.mask = random_value({3, 5}, random);
  const Tile q(c.q, c.q.whole()), k(c.k, c.k.whole()), v(c.v, c.v.whole()),
      mask(c.mask, c.mask.whole()),
      y = blank(c.result(), c.q.whole()),
      lse = blank(c.sums(), Value(c.sums()).whole());
  auto expect_error = [&](Tensors in, const Reals &hidden, const char *text,
                          double ratio = 0, int64_t causal = 0) {
    try {
      AttentionForward(cx, in, {y, lse}, causal, hidden, 0, ratio, 1);
      ADD_FAILURE() << "expected an error";
    } catch (const Error &error) {
      EXPECT_STREQ(error.what(), text);
    }
  };
  const Tensor none = absent({});
  expect_error({q, q, v, none}, {},
               "attention forward: v: expected local shape [2, 3, 2, 4], found "
               "[2, 5, 2, 4]");
  expect_error({q, k, v, none}, {1.0},
               "attention forward: hidden: expected one number at most, and "
               "only with a mask, found 1");
  expect_error({q, k, v, mask}, {},
               "attention forward: causal: expected 0, or 1 with a hidden "
               "number, found 1",
               0, 1);
  expect_error({q, k, v, q}, {},
               "attention forward: mask: expected a local shape that "
               "broadcasts to [2, 2, 3, 5], found [2, 3, 2, 4]");
  expect_error({q, k, v, none}, {},
               "attention forward: ratio: expected a number in [0, 1), found "
               "1.000000",
               1);
  const Tile narrow(c.v, c.v.whole(), Order::row_major, DType::bf16);
  expect_error({q, k, narrow, none}, {},
               "attention forward: q and v: expected one type, f32, bf16 or "
               "f16, found f32 and bf16");
  Tensor part = v, few = k;
  part.shape[1] = few.shape[1] = 4;
  expect_error({q, few, part, none}, {},
               "attention forward: k: expected all positions (5), found 4");
}

} // namespace
