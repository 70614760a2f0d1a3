//===- loss_log_test.cpp - losses that are read later ---------------------===//
#include "common/device/target.h"
#include "common/program/loss_log.h"

#include <gtest/gtest.h>

#include <limits>
#include <numeric>

using namespace ffrt;

namespace {

template <class T>
std::vector<double> log_of(DType type, int microBatches,
                           const std::vector<T> &losses,
                           int64_t *first_bad = nullptr) {
  const std::shared_ptr<void> memory = allocate(sizeof(T));
  Tensor loss;
  loss.type = type;
  loss.data = memory.get();
  LossLog log(microBatches, 10);
  for (const T &value : losses) {
    write_target(loss.data, &value, sizeof value);
    log.add(loss);
  }
  log.of_steps(); // reading changes nothing
  if (first_bad)
    *first_bad = log.first_bad();
  return log.of_steps();
}

/// Losses 0, 1, ...
template <class T>
std::vector<double> log_of(DType type, int microBatches, int n) {
  std::vector<T> losses(static_cast<std::size_t>(n));
  std::iota(losses.begin(), losses.end(), T(0));
  return log_of<T>(type, microBatches, losses);
}

TEST(LossLog, OnePass) {
  const std::vector<double> expected = {0, 1, 2};
  EXPECT_EQ(log_of<float>(DType::f32, 1, 3), expected);
  EXPECT_EQ(log_of<double>(DType::f64, 1, 3), expected);
}

TEST(LossLog, MeanOfPasses) {
  // The last step has not ended.
  const std::vector<double> expected = {1.5, 5.5};
  EXPECT_EQ(log_of<float>(DType::f32, 4, 11), expected);
}

TEST(LossLog, MoreThanAreOnTheirWay) {
  const std::vector<double> found = log_of<float>(DType::f32, 1, 1000);
  ASSERT_EQ(found.size(), 1000u);
  for (int i = 0; i < 1000; ++i)
    EXPECT_EQ(found[std::size_t(i)], i);
}

TEST(LossLog, NotFinite) {
  const float inf = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  auto first_bad = [](const std::vector<float> &losses, int microBatches) {
    int64_t step = -1;
    log_of<float>(DType::f32, microBatches, losses, &step);
    return step;
  };
  EXPECT_EQ(first_bad({1, 2, nan, inf}, 1), 3);
  EXPECT_EQ(first_bad({1, 2, 3, -inf}, 2), 2);
  EXPECT_EQ(first_bad({1, 2}, 1), 0);
  // A step that has not ended has no loss yet.
  EXPECT_EQ(first_bad({1, 2, inf}, 2), 0);
  const std::vector<double> all = {1, double(inf), 3};
  EXPECT_EQ(log_of<float>(DType::f32, 1, {1, inf, 3}), all);
}

} // namespace
