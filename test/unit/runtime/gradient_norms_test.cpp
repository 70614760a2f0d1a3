//===- gradient_norms_test.cpp - norms, clipping and the scale of the loss ===//
#include "optimizer_case.h"

#include <gtest/gtest.h>

using namespace ffrt;
using namespace ffrt_test;

namespace {

TEST(SquareSum, SameBitsOnAnyThreads) {
  std::mt19937 random(seed());
  for (int64_t n : {1, 37, 100003}) {
    const Value x = random_value({n}, random);
    double want = 0;
    for (double value : x.data)
      want += value * value;
    double sums[2];
    for (int threads : {1, 2}) {
      const Threads scope(threads);
      Context cx;
      Tile tile(x, x.whole()), sum = blank({}, {});
      perform(SquareSum(cx, {tile}, {sum}), {tile}, {sum});
      sums[threads - 1] = sum.get({});
    }
    EXPECT_NEAR(sums[0], want, 1e-6 * want);
    EXPECT_EQ(sums[0], sums[1]);
  }
}

TEST(ClipScale, BoundsTheNorm) {
  Context cx;
  const Value nine({}, 9.0), sixteen({}, 16.0);
  Tile a(nine, nine.whole()), b(sixteen, sixteen.whole()),
      scale = blank({}, {});
  for (double most : {2.0, 5.5}) {
    ClipScale(cx, {a, b}, {scale}, most)({a, b}, {scale});
    EXPECT_NEAR(scale.get({}), std::min(1.0, most / 5.0), 1e-6);
  }
}

/// What LossScale keeps, and steps with these sums of squares.
class Scaling {
public:
  explicit Scaling(double scale) : scale_(tile(scale)) {}

  void step(double first, double second, double max_norm = 0) {
    const Tile a = tile(first), b = tile(second);
    LossScale(cx, {scale_, good_, skipped_, a, b},
              {factor_, scale_, good_, skipped_}, 3, 2, max_norm, 1024)(
        {scale_, good_, skipped_, a, b}, {factor_, scale_, good_, skipped_});
  }
  double scale() const { return scale_.get({}); }
  double good() const { return good_.get({}); }
  double skipped() const { return skipped_.get({}); }
  double factor() const { return factor_.get({0}); }
  double skipped_for_updates() const { return factor_.get({1}); }

private:
  static Tile tile(double value) { return Tile(Value({}, value), {{}, {}}); }

  Context cx;
  Tile scale_, good_ = tile(0), skipped_ = tile(0),
               factor_ = blank({2}, {{0}, {2}});
};

TEST(LossScale, DoublesAfterStepsInARow) {
  Scaling scaling(256);
  for (double wanted :
       {256.0, 256.0, 512.0, 512.0, 512.0, 1024.0, 1024.0, 1024.0, 1024.0}) {
    const double factor = 1 / scaling.scale();
    scaling.step(4, 5);
    EXPECT_EQ(scaling.factor(), factor);
    EXPECT_EQ(scaling.scale(), wanted);
  }
  EXPECT_EQ(scaling.good(), 0);
  EXPECT_EQ(scaling.skipped(), 0);
}

TEST(LossScale, HalvesAndSkips) {
  Scaling scaling(8);
  scaling.step(1, 1);
  EXPECT_EQ(scaling.good(), 1);
  double skipped = 0;
  for (double sum : {HUGE_VAL, std::nan(""), HUGE_VAL}) {
    scaling.step(1, sum);
    EXPECT_EQ(scaling.factor(), HUGE_VAL);
    EXPECT_EQ(scaling.good(), 0);
    EXPECT_EQ(scaling.skipped(), ++skipped);
    EXPECT_EQ(scaling.skipped_for_updates(), skipped);
  }
  EXPECT_EQ(scaling.scale(), 2); // the least
  scaling.step(1, 1);
  EXPECT_EQ(scaling.factor(), 0.5);
  EXPECT_EQ(scaling.skipped_for_updates(), 3);
}

/// Sums that are finite count, whatever their sum would be as f32.
TEST(LossScale, ClipsGradientsOfTheLoss) {
  Scaling scaling(4);
  scaling.step(9 * 16, 16 * 16, 2.0);
  EXPECT_NEAR(scaling.factor(), 2.0 / 5 / 4, 1e-6);
  scaling.step(9 * 16, 16 * 16, 5.5);
  EXPECT_EQ(scaling.factor(), 0.25);
  scaling.step(3e38, 3e38, 1.0);
  EXPECT_EQ(scaling.skipped(), 0);
}

} // namespace
