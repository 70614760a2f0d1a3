//===- cuda_sort_test.cpp - numbers in order of their keys ----------------===//
#include "cuda/indexing/sort.h"
#include "ffrt/embedding.h"
#include "ffrt/error.h"
#include "geometry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

using namespace ffrt;
using namespace ffrt_test;

namespace {

TEST(CudaSort, StableByKey) {
  std::mt19937 random(seed());
  for (int64_t n : {0, 1, 2, 63, 64, 65, 1000, 2047, 2048, 2049, 4096, 10000})
    for (int64_t keys : {int64_t(1), int64_t(5), cuda::kKeys}) {
      SCOPED_TRACE(std::to_string(n) + " of " + std::to_string(keys));
      std::vector<int64_t> key(size_t(n), 0), number(size_t(n), 0);
      for (int64_t &k : key)
        k = keys - 1 - int64_t(random()) % keys;
      std::iota(number.begin(), number.end(), 0);
      std::stable_sort(number.begin(), number.end(), [&](int64_t a, int64_t b) {
        return key[size_t(a)] < key[size_t(b)];
      });
      std::vector<cuda::Keyed> scratch(2 * size_t(n));
      const int64_t *of = key.data();
      const cuda::Keyed *sorted = cuda::sort_by_key(
          n, scratch.data(), [=](int64_t i) { return of[i]; });
      cuda::device().finish();
      for (int64_t i = 0; i < n; ++i) {
        ASSERT_EQ(sorted[i].number(), number[size_t(i)]) << i;
        ASSERT_EQ(sorted[i].key(), key[size_t(number[size_t(i)])]) << i;
      }
    }
}

/// Tables whose rows have no keys.
TEST(CudaSort, TooManyRows) {
  Tensor table;
  float nothing;
  table.data = &nothing;
  table.rank = 2;
  table.shape = table.global = {int64_t(1) << 31, 1};
  const Value one({1}), of_one({1, 1});
  const Tile ids(one, one.whole(), Order::row_major, DType::i32),
      dy(of_one, of_one.whole());
  Context cx;
  try {
    EmbeddingBackward(cx, {ids, dy}, {table});
    FAIL();
  } catch (const Error &e) {
    EXPECT_STREQ(e.what(), "embedding backward: expected fewer than 2^31 - 1 "
                           "rows and indices, found 2147483648");
  }
}

} // namespace
