//===- loss_log_test.cpp - losses that are read later ---------------------===//
#include "common/loss_log.h"
#include "common/target.h"

#include <gtest/gtest.h>

using namespace ffrt;

namespace {

template <class T> std::vector<double> log_of(DType type, int passes, int n) {
  const std::shared_ptr<void> memory = allocate(sizeof(T));
  Tensor loss;
  loss.type = type;
  loss.data = memory.get();
  LossLog log(passes);
  for (int i = 0; i < n; ++i) {
    const T value = T(i);
    write_target(loss.data, &value, sizeof value);
    log.add(loss);
  }
  log.of_steps(); // reading changes nothing
  return log.of_steps();
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

} // namespace
