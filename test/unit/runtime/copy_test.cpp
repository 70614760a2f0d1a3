//===- copy_test.cpp - moving boxes between buffers -----------------------===//
#include "ffrt/copy.h"
#include "ffrt/error.h"
#include "ffrt/parallel.h"
#include "geometry.h"

#include <gtest/gtest.h>
#include <omp.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

Index index_of(const Shape &s) {
  Index i;
  for (std::size_t d = 0; d < s.size(); ++d)
    i[int(d)] = s[d];
  return i;
}

TEST(Copy, BoxesInAllOrders) {
  for (unsigned round = 0; round < 40; ++round) {
    std::mt19937 random(seed() * 1000 + round);
    const Shape to_shape = {4, 40, 5, 36}, from_shape = {3, 48, 6, 33};
    const Value a = random_value(to_shape, random);
    const Value b = random_value(from_shape, random);
    Order oa = round % 2 ? Order::channels_last : Order::row_major;
    Order ob = round / 2 % 2 ? Order::channels_last : Order::row_major;
    Shape size, to, from;
    for (int d = 0; d < 4; ++d) {
      int64_t most = std::min(to_shape[d], from_shape[d]);
      size.push_back(round < 8 ? most : 1 + int64_t(random() % unsigned(most)));
      to.push_back(int64_t(random() % unsigned(to_shape[d] - size[d] + 1)));
      from.push_back(int64_t(random() % unsigned(from_shape[d] - size[d] + 1)));
    }
    for (int kind = 0; kind < 3; ++kind) {
      const Tile ta(a, a.whole(), oa), tb(b, b.whole(), ob);
      if (kind == 0)
        copy(ta, index_of(to), tb, index_of(from), index_of(size));
      else
        combine(ta, index_of(to), tb, index_of(from), index_of(size),
                kind == 1 ? ReduceOp::sum : ReduceOp::max);
      Value expected = a, found(to_shape);
      for_box({Shape(4, 0), size}, [&](const Shape &i) {
        Shape at = i, source = i;
        for (int d = 0; d < 4; ++d) {
          at[d] += to[d];
          source[d] += from[d];
        }
        double &v = expected(at);
        v = kind == 0   ? b(source)
            : kind == 1 ? double(float(v) + float(b(source)))
                        : std::max(v, b(source));
      });
      add_tile(found, ta, a.whole());
      expect_close(found, expected, 0.0);
    }
  }
}

TEST(Copy, Accumulates) {
  std::mt19937 random(seed());
  const Shape shape = {3, 300, 100};
  Value sum = random_value(shape, random);
  const Tile total(sum, sum.whole());
  for (int microBatch = 0; microBatch < 3; ++microBatch) {
    const Value part = random_value(shape, random);
    const Tile t(part, part.whole());
    accumulate(total, {}, t, {}, index_of(shape), microBatch == 0, 0.25);
    for_box({Shape(3, 0), shape}, [&](const Shape &at) {
      const float scaled = float(part(at)) * 0.25f;
      sum(at) =
          microBatch == 0 ? double(scaled) : double(float(sum(at)) + scaled);
    });
  }
  Value found(shape);
  add_tile(found, total, sum.whole());
  expect_close(found, sum, 0.0);
}

/// Inside of a parallel region there is one thread, whatever is asked for.
TEST(Parallel, CoversAllWithFewerThreads) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(2);
  std::vector<int> times(2000);
  parallel_for(2, 1, [&](int64_t begin, int64_t end) {
    for (int64_t half = begin; half < end; ++half)
      parallel_for(1000, 10, [&](int64_t from, int64_t to) {
        for (int64_t i = from; i < to; ++i)
          ++times[std::size_t(half * 1000 + i)];
      });
  });
  omp_set_num_threads(before);
  EXPECT_EQ(times, std::vector<int>(2000, 1));
}

TEST(Copy, AccumulatesNoIntegers) {
  int32_t a[1] = {1}, b[1] = {2};
  Tensor to, from;
  to.data = a;
  from.data = b;
  to.type = from.type = DType::i32;
  to.rank = from.rank = 1;
  to.shape[0] = from.shape[0] = 1;
  EXPECT_THROW(accumulate(to, {}, from, {}, Index{1}, true, 1.0), Error);
}

TEST(Copy, CombinesIntegersAndDoubles) {
  int64_t a[3] = {1, 5, -7}, b[3] = {2, 3, 4};
  Tensor ta, tb;
  ta.type = tb.type = DType::i64;
  ta.rank = tb.rank = 1;
  ta.shape = tb.shape = {3};
  ta.data = a;
  tb.data = b;
  combine(ta, {}, tb, {}, {3}, ReduceOp::max);
  EXPECT_EQ(a[0], 2);
  EXPECT_EQ(a[1], 5);
  EXPECT_EQ(a[2], 4);
  double x[1] = {0.5}, y[1] = {0.25};
  ta.type = tb.type = DType::f64;
  ta.data = x;
  tb.data = y;
  combine(ta, {}, tb, {}, {1}, ReduceOp::sum);
  EXPECT_EQ(x[0], 0.75);
  // What is not a number wins, on either side.
  for (bool first : {false, true}) {
    x[0] = first ? NAN : 1;
    y[0] = first ? 1 : NAN;
    combine(ta, {}, tb, {}, {1}, ReduceOp::max);
    EXPECT_TRUE(std::isnan(x[0]));
  }
}

} // namespace
