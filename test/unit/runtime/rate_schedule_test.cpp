//===- rate_schedule_test.cpp - the learning rate over the steps ----------===//
#include "common/optimizer/rate_schedule.h"

#include <gtest/gtest.h>

using namespace ffrt;

namespace {

RateSchedule schedule(RateSchedule::Form form, int64_t warmup) {
  RateSchedule result;
  result.form = form;
  result.rate = 1e-3;
  result.warmup = warmup;
  result.steps = 100;
  return result;
}

/// Values of PyTorch's LambdaLR, as in ONNX Runtime's
/// warmup_linear_scheduler_warmupstep-*.json.
TEST(RateSchedule, LinearAsPyTorch) {
  const RateSchedule warm = schedule(RateSchedule::linear, 70);
  EXPECT_EQ(warm.at(0), 0.0);
  EXPECT_DOUBLE_EQ(warm.at(1), 1.4285714285714285e-05);
  EXPECT_DOUBLE_EQ(warm.at(69), 0.0009857142857142857);
  EXPECT_DOUBLE_EQ(warm.at(70), 0.001);
  EXPECT_DOUBLE_EQ(warm.at(72), 0.0009333333333333333);
  EXPECT_DOUBLE_EQ(warm.at(99), 3.3333333333333335e-05);
  const RateSchedule cold = schedule(RateSchedule::linear, 0);
  EXPECT_DOUBLE_EQ(cold.at(0), 0.001);
  EXPECT_NEAR(cold.at(99), 1e-05, 1e-18);
  const RateSchedule longer = schedule(RateSchedule::linear, 200);
  EXPECT_DOUBLE_EQ(longer.at(99), 0.000495);
}

TEST(RateSchedule, CosineAndConstant) {
  RateSchedule wave = schedule(RateSchedule::cosine, 20);
  wave.last = 1e-4;
  EXPECT_DOUBLE_EQ(wave.at(10), 5e-4);
  EXPECT_DOUBLE_EQ(wave.at(20), 1e-3);
  EXPECT_DOUBLE_EQ(wave.at(60), 5.5e-4);
  EXPECT_DOUBLE_EQ(wave.at(100), 1e-4);
  EXPECT_DOUBLE_EQ(wave.at(1000), 1e-4);
  EXPECT_EQ(schedule(RateSchedule::constant, 2).at(1), 5e-4);
  EXPECT_EQ(schedule(RateSchedule::constant, 2).at(50), 1e-3);
}

} // namespace
