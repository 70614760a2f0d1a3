//===- cuda_walk_test.cpp - divisions and offsets of kernels for GPUs -----===//
#include "cuda/kernels/walk.h"
#include "geometry.h"

#include <gtest/gtest.h>

#include <limits>

using namespace ffrt;
using namespace ffrt_test;

namespace {

/// All quotients of numbers near multiples of the divisor, and of extremes.
template <class U> void check_division(U divisor, std::mt19937_64 &random) {
  SCOPED_TRACE("by " + std::to_string(divisor));
  const cuda::Division<U> division{int64_t(divisor)};
  EXPECT_EQ(division.divisor(), divisor);
  constexpr U most = std::numeric_limits<U>::max() / 2;
  std::vector<U> numbers = {0, 1, 2, most - 1, most, most / 2};
  for (int i = 0; i < 64; ++i) {
    const U multiple = U(random() % (most / divisor + 1)) * divisor;
    for (U delta : {U(0), U(1), divisor - 1, divisor})
      if (multiple <= most - delta)
        numbers.push_back(multiple + delta);
    numbers.push_back(U(random()) & most);
  }
  const U last = most / divisor * divisor;
  for (U n : {last, U(last - 1), divisor, U(divisor - 1)})
    numbers.push_back(n);
  for (U n : numbers)
    ASSERT_EQ(division(n), n / divisor) << n;
}

template <class U> void check_divisions() {
  std::mt19937_64 random(seed());
  constexpr U most = std::numeric_limits<U>::max() / 2;
  for (U divisor = 1; divisor < 2000; ++divisor)
    check_division<U>(divisor, random);
  for (U power = 1; power <= most / 2; power *= 2)
    for (U divisor : {U(power - 1), power, U(power + 1)})
      if (divisor > 0)
        check_division<U>(divisor, random);
  for (U divisor : {most, U(most - 1), U(most / 2 + 1), U(most / 2 + 2)})
    check_division<U>(divisor, random);
  for (int i = 0; i < 1000; ++i)
    check_division<U>((U(random()) & most) | 1, random);
}

TEST(CudaDivision, Small) { check_divisions<uint32_t>(); }
TEST(CudaDivision, Large) { check_divisions<uint64_t>(); }

/// Every number below 2^16 by every divisor below 2^10.
TEST(CudaDivision, AllOfShortNumbers) {
  for (uint32_t divisor = 1; divisor < 1024; ++divisor) {
    const cuda::Division<uint32_t> division{int64_t(divisor)};
    for (uint32_t n = 0; n < 65536; ++n)
      ASSERT_EQ(division(n), n / divisor) << n << " / " << divisor;
  }
}

/// A nest, and offsets by plain arithmetic.
struct Places {
  int rank;
  std::vector<int64_t> extent;
  std::vector<std::array<int64_t, 3>> stride;

  std::array<int64_t, 3> operator()(int64_t i) const {
    std::array<int64_t, 3> offset = {};
    for (int d = rank - 1; d >= 0; --d) {
      const int64_t at = d > 0 ? i % extent[size_t(d)] : i;
      i /= extent[size_t(d)];
      for (size_t k = 0; k < 3; ++k)
        offset[k] += at * stride[size_t(d)][k];
    }
    return offset;
  }
};

void check_walk(const Places &places, int64_t elements) {
  const cuda::Walk<3> walk(places);
  EXPECT_EQ(walk.elements, elements);
  for (int64_t k = 0; k < 1000; ++k) {
    const int64_t i = k < 500 ? k * 7919 % elements
                              : elements - 1 - (k - 500) * 104729 % elements;
    const auto expected = places(i);
    const auto found = walk(i);
    for (int o = 0; o < 3; ++o)
      ASSERT_EQ(found[o], expected[size_t(o)]) << i;
  }
}

TEST(CudaWalk, OffsetsOfElements) {
  check_walk({1, {1}, {{0, 0, 0}}}, 1);
  check_walk({1, {1000}, {{1, 0, 2}}}, 1000);
  check_walk({3, {5, 7, 3}, {{21, 1, 0}, {3, 0, 9}, {1, 5, 1}}}, 105);
  check_walk({8,
              {2, 3, 2, 3, 2, 3, 2, 3},
              {{648, 1, 0},
               {216, 2, 0},
               {108, 6, 0},
               {36, 12, 1},
               {18, 36, 0},
               {6, 72, 0},
               {3, 216, 0},
               {1, 432, 7}}},
             1296);
}

/// Offsets, and numbers of elements, of more than 31 bits.
TEST(CudaWalk, WideOffsets) {
  const int64_t much = int64_t(1) << 33;
  check_walk({2, {100, 50}, {{much, 0, 50}, {1, 1, 1}}}, 5000);
  check_walk({2, {int64_t(1) << 20, 5000}, {{5000, 0, 1}, {1, 1, 0}}},
             (int64_t(1) << 20) * 5000);
  check_walk({2, {(int64_t(1) << 31) + 1, 3}, {{3, 0, 1}, {1, 1, 0}}},
             ((int64_t(1) << 31) + 1) * 3);
  // The last offset that 31 bits hold, and the first that they do not.
  for (int64_t stride : {int64_t(INT32_MAX), int64_t(INT32_MAX) + 1})
    check_walk({2, {2, 3}, {{stride - 2, 0, 1}, {1, 1, 0}}}, 6);
}

TEST(CudaWalk, Groups) {
  const Places places{2, {3, 10}, {{20, 0, 1}, {1, 1, 0}}};
  const cuda::Walk<3> walk(places, 4);
  ASSERT_EQ(walk.elements, 9);
  for (int64_t row = 0; row < 3; ++row)
    for (int64_t group = 0; group < 3; ++group) {
      const auto found = walk(row * 3 + group);
      EXPECT_EQ(found[0], row * 20 + group * 4);
      EXPECT_EQ(found[1], group * 4);
      EXPECT_EQ(found[2], row);
    }
}

} // namespace
