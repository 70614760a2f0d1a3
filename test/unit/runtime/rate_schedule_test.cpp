//===- rate_schedule_test.cpp - the learning rate over the steps ----------===//
#include "common/optimizer/rate_schedule.h"

#include "ffrt/error.h"

#include <gtest/gtest.h>

using namespace ffrt;

namespace {

RateSchedule schedule(const char *form, int64_t warmup) {
  RateSchedule result;
  result.form = parse_rate_form(form);
  result.rate = 1e-3;
  result.warmup = warmup;
  result.steps = 100;
  return result;
}

/// Values of PyTorch's LambdaLR, as in ONNX Runtime's
/// warmup_linear_scheduler_warmupstep-*.json.
TEST(RateSchedule, LinearAsPyTorch) {
  const RateSchedule warm = schedule("linear", 70);
  EXPECT_EQ(warm.at(0), 0.0);
  EXPECT_DOUBLE_EQ(warm.at(1), 1.4285714285714285e-05);
  EXPECT_DOUBLE_EQ(warm.at(69), 0.0009857142857142857);
  EXPECT_DOUBLE_EQ(warm.at(70), 0.001);
  EXPECT_DOUBLE_EQ(warm.at(72), 0.0009333333333333333);
  EXPECT_DOUBLE_EQ(warm.at(99), 3.3333333333333335e-05);
  const RateSchedule cold = schedule("linear", 0);
  EXPECT_DOUBLE_EQ(cold.at(0), 0.001);
  EXPECT_NEAR(cold.at(99), 1e-05, 1e-18);
  const RateSchedule longer = schedule("linear", 200);
  EXPECT_DOUBLE_EQ(longer.at(99), 0.000495);
}

TEST(RateSchedule, CosineAndConstant) {
  RateSchedule wave = schedule("cosine", 20);
  wave.last = 1e-4;
  EXPECT_DOUBLE_EQ(wave.at(10), 5e-4);
  EXPECT_DOUBLE_EQ(wave.at(20), 1e-3);
  EXPECT_DOUBLE_EQ(wave.at(60), 5.5e-4);
  EXPECT_DOUBLE_EQ(wave.at(100), 1e-4);
  EXPECT_DOUBLE_EQ(wave.at(1000), 1e-4);
  EXPECT_EQ(schedule("constant", 2).at(1), 5e-4);
  EXPECT_EQ(schedule("constant", 2).at(50), 1e-3);
}

/// Values of PyTorch 1.13's OneCycleLR, StepLR, MultiStepLR, ExponentialLR,
/// PolynomialLR and CosineAnnealingWarmRestarts over 20 steps from 0.1.
TEST(RateSchedule, OtherFormsAsPyTorch) {
  struct Case {
    const char *form;
    double last;
    std::vector<double> values;
  };
  const int64_t steps[] = {0, 1, 2, 3, 5, 9, 10, 19};
  for (const Case &c : std::vector<Case>{
           {"one-cycle",
            4e-07,
            {0.004, 0.013167184270002533, 0.037167184270002526,
             0.06683281572999747, 0.1, 0.0811745653949763, 0.07169430017913009,
             4e-07}},
           {"step:3:0.5",
            0,
            {0.1, 0.1, 0.1, 0.05, 0.05, 0.0125, 0.0125, 0.0015625}},
           {"multi-step:2,5,10:0.1",
            0,
            {0.1, 0.1, 0.01, 0.01, 0.001, 0.001, 0.0001, 0.0001}},
           {"exponential:0.9",
            0,
            {0.1, 0.09, 0.081, 0.0729, 0.059049, 0.03874204890000002,
             0.03486784401000002, 0.013508517176729932}},
           {"polynomial:2",
            0,
            {0.1, 0.09025, 0.081, 0.07225, 0.05625, 0.03025, 0.025, 0.00025}},
           {"cosine:4",
            0.01,
            {0.1, 0.08681980515339464, 0.055, 0.023180194846605363,
             0.08681980515339464, 0.08681980515339464, 0.055,
             0.023180194846605363}},
           {"wsd:0.5", 0.02, {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.028}}}) {
    RateSchedule schedule;
    schedule.form = parse_rate_form(c.form);
    schedule.rate = 0.1;
    schedule.last = c.last;
    schedule.steps = 20;
    for (std::size_t i = 0; i < c.values.size(); ++i)
      EXPECT_NEAR(schedule.at(steps[i]), c.values[i], 1e-14)
          << c.form << " " << steps[i];
    EXPECT_TRUE(parse_rate_form(to_string(schedule.form)) == schedule.form);
  }
}

TEST(RateSchedule, WordsThatAreNone) {
  for (const char *text :
       {"", "square", "linear:3", "cosine:", "cosine:0", "cosine:3:4", "step:3",
        "step:3,4:0.5", "step:3:0", "multi-step:5,2:0.1", "exponential",
        "polynomial:x", "wsd:1.5", "one-cycle:2"})
    EXPECT_THROW(parse_rate_form(text), Error) << text;
}

} // namespace
