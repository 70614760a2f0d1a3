//===- functors_test.cpp - the element-wise functions ---------------------===//
#include "ffrt/functors.h"

#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <limits>

using namespace ffrt;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr float nan = std::numeric_limits<float>::quiet_NaN();

/// The largest error of f on [low, high] in units in the last place of what
/// `expected` gives.
template <class F>
double worst_error(F f, double (*expected)(double), float low, float high) {
  double worst = 0;
  for (int i = 0; i < 200000; ++i) {
    float x = low + (high - low) * (float(i) / 200000.0f);
    double value = expected(x);
    if (std::fabs(value) < std::numeric_limits<float>::min())
      continue;
    int exponent;
    std::frexp(value, &exponent);
    double unit = std::ldexp(1.0, exponent - 24);
    worst = std::max(worst, std::fabs(f(x) - value) / unit);
  }
  return worst;
}

TEST(FastMath, IsAccurate) {
  EXPECT_LE(worst_error(fast_exp, std::exp, -87.0f, 88.5f), 2);
  EXPECT_LE(worst_error(fast_expm1, std::expm1, -20.0f, 5.0f), 4);
  EXPECT_LE(worst_error(fast_expm1, std::expm1, -1e-3f, 1e-3f), 2);
  EXPECT_LE(worst_error(fast_log, std::log, 1e-6f, 3.0f), 2);
  EXPECT_LE(worst_error(fast_log, std::log, 3.0f, 1e37f), 2);
  EXPECT_LE(worst_error(fast_log, std::log, 1e-42f, 2e-38f), 2);
  EXPECT_LE(worst_error(fast_log1p, std::log1p, 0.0f, 1.0f), 2);
  EXPECT_LE(worst_error(fast_log1p, std::log1p, 0.0f, 1e-5f), 2);
  EXPECT_LE(worst_error(fast_erf, std::erf, -6.0f, 6.0f), 2);
  EXPECT_LE(worst_error(fast_erf, std::erf, -1e-2f, 1e-2f), 2);
  EXPECT_LE(worst_error(fast_tanh, std::tanh, -12.0f, 12.0f), 2);
  EXPECT_LE(worst_error(
                fast_logistic, [](double x) { return 1 / (1 + std::exp(-x)); },
                -80.0f, 20.0f),
            4);
  EXPECT_LE(worst_error(fast_sin, std::sin, -0.78f, 0.78f), 2);
  EXPECT_LE(worst_error(fast_cos, std::cos, -0.78f, 0.78f), 2);
  for (float x : {1.0f, 3.1415927f, 100.0f, 1e3f, 12345.678f, 1e6f, 1e8f})
    for (float y : {x, -x}) {
      EXPECT_NEAR(fast_sin(y), std::sin(double(y)), 2e-7) << y;
      EXPECT_NEAR(fast_cos(y), std::cos(double(y)), 2e-7) << y;
    }
}

TEST(FastMath, HandlesTheEnds) {
  EXPECT_EQ(fast_exp(-1000.0f), 0.0f);
  EXPECT_EQ(fast_exp(1000.0f), infinity);
  EXPECT_EQ(fast_log(0.0f), -infinity);
  EXPECT_EQ(fast_log(infinity), infinity);
  EXPECT_TRUE(std::isnan(fast_log(-1.0f)));
  EXPECT_EQ(fast_erf(-40.0f), -1.0f);
  EXPECT_EQ(fast_erf(infinity), 1.0f);
  EXPECT_EQ(fast_tanh(40.0f), 1.0f);
  EXPECT_EQ(fast_tanh(-40.0f), -1.0f);
  EXPECT_EQ(fast_logistic(-200.0f), 0.0f);
  EXPECT_EQ(fn::Softplus()(200.0f), 200.0f);
  for (float (*f)(float) :
       {fast_exp, fast_expm1, fast_log, fast_erf, fast_tanh, fast_logistic,
        fast_sin, fast_cos, fast_asin, fast_acos, fast_atan, fast_sinh,
        fast_cosh, fast_asinh, fast_acosh, fast_atanh})
    EXPECT_TRUE(std::isnan(f(nan)));
  // Nothing is lost near zero.
  for (float (*f)(float) :
       {fast_asin, fast_atan, fast_sinh, fast_asinh, fast_atanh})
    EXPECT_FLOAT_EQ(f(-1e-6f), -1e-6f);
  EXPECT_EQ(fast_asin(1.0f), 1.57079637f);
  EXPECT_EQ(fast_acos(-1.0f), 3.14159274f);
  EXPECT_EQ(fast_acos(1.0f), 0.0f);
  EXPECT_EQ(fast_atan(-infinity), -1.57079637f);
  EXPECT_EQ(fast_sinh(-infinity), -infinity);
  EXPECT_NEAR(fast_sinh(88.9f) / 2.0312e38, 1.0, 1e-3);
  EXPECT_EQ(fast_cosh(-infinity), infinity);
  EXPECT_EQ(fast_asinh(-infinity), -infinity);
  EXPECT_NEAR(fast_asinh(1e30f), 69.7707, 1e-4);
  EXPECT_EQ(fast_acosh(infinity), infinity);
  EXPECT_EQ(fast_atanh(-1.0f), -infinity);
  for (float (*f)(float) : {fast_asin, fast_acos, fast_atanh})
    EXPECT_TRUE(std::isnan(f(1.1f)));
  EXPECT_TRUE(std::isnan(fast_acosh(0.9f)));
  EXPECT_TRUE(std::isnan(fast_sin(infinity)));
  EXPECT_TRUE(std::isnan(fast_cos(-infinity)));
}

/// Compares a functor with the function it stands for, and its gradient with
/// finite differences of that. `saves_result`: the gradient reads y.
template <class F, class G>
void check(F forward, G gradient, bool saves_result,
           const std::function<double(double)> &expected, float low = -4.0f,
           float high = 4.0f) {
  for (int i = 0; i < 997; ++i) {
    float x = low + (high - low) * (float(i) / 997.0f);
    double y = expected(x), h = 1e-6;
    EXPECT_NEAR(forward(x), y, 2e-6 * std::max(1.0, std::fabs(y))) << x;
    double slope = (expected(x + h) - expected(x - h)) / (2 * h);
    float saved = saves_result ? forward(x) : x;
    EXPECT_NEAR(gradient(1.5f, saved), 1.5 * slope,
                1e-5 * std::max(1.0, std::fabs(slope)))
        << x;
  }
}

TEST(Functors, AreTheFunctionsAndTheirDerivatives) {
  auto logistic = [](double x) { return 1 / (1 + std::exp(-x)); };
  check(fn::Relu(), fn::ReluGradient(), true,
        [](double x) { return std::max(x, 0.0); });
  check(fn::Sigmoid(), fn::SigmoidGradient(), true, logistic);
  check(fn::Tanh(), fn::TanhGradient(), true,
        [](double x) { return std::tanh(x); });
  check(fn::LeakyRelu{0.1f}, fn::LeakyReluGradient{0.1f}, false,
        [](double x) { return x < 0 ? 0.1 * x : x; });
  check(fn::Abs(), fn::AbsGradient(), false,
        [](double x) { return std::fabs(x); });
  check(
      fn::Sqrt(), fn::SqrtGradient(), true,
      [](double x) { return std::sqrt(x); }, 0.05f, 9.0f);
  check(fn::Exp(), fn::ExpGradient(), true,
        [](double x) { return std::exp(x); });
  check(
      fn::Log(), fn::LogGradient(), false, [](double x) { return std::log(x); },
      0.05f, 9.0f);
  check(fn::Erf(), fn::ErfGradient(), false,
        [](double x) { return std::erf(x); });
  check(
      fn::Reciprocal(), fn::ReciprocalGradient(), true,
      [](double x) { return 1 / x; }, 0.1f, 3.0f);
  check(fn::Softplus(), fn::SoftplusGradient(), false,
        [](double x) { return std::log1p(std::exp(x)); });
  check(fn::Softsign(), fn::SoftsignGradient(), true,
        [](double x) { return x / (1 + std::fabs(x)); });
  check(fn::HardSigmoid{0.2f, 0.5f}, fn::HardSigmoidGradient{0.2f, 0.5f}, true,
        [](double x) { return std::fmax(0, std::fmin(1, 0.2 * x + 0.5)); });
  check(fn::HardSwish(), fn::HardSwishGradient(), false,
        [](double x) { return x * std::fmax(0, std::fmin(1, x / 6 + 0.5)); });
  check(fn::Elu{1.5f}, fn::EluGradient{1.5f}, false,
        [](double x) { return x < 0 ? 1.5 * std::expm1(x) : x; });
  check(fn::Selu{1.5f, 1.1f}, fn::SeluGradient{1.5f, 1.1f}, false,
        [](double x) { return 1.1 * (x < 0 ? 1.5 * std::expm1(x) : x); });
  check(fn::Celu{2.0f}, fn::CeluGradient{2.0f}, false,
        [](double x) { return x < 0 ? 2 * std::expm1(x / 2) : x; });
  check(fn::Gelu(), fn::GeluGradient(), false,
        [](double x) { return 0.5 * x * (1 + std::erf(x / std::sqrt(2.0))); });
  check(fn::GeluTanh(), fn::GeluTanhGradient(), false, [](double x) {
    return 0.5 * x *
           (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x)));
  });
  check(fn::Silu(), fn::SiluGradient(), false,
        [=](double x) { return x * logistic(x); });
  check(fn::Clip{-1.0f, 2.0f}, fn::ClipGradient{-1.0f, 2.0f}, true,
        [](double x) { return std::fmin(2, std::fmax(-1, x)); });
  check(fn::Sin(), fn::SinGradient(), false,
        [](double x) { return std::sin(x); });
  check(fn::Cos(), fn::CosGradient(), false,
        [](double x) { return std::cos(x); });
  check(
      fn::Tan(), fn::TanGradient(), true, [](double x) { return std::tan(x); },
      -1.4f, 1.4f);
  check(
      fn::Asin(), fn::AsinGradient(), false,
      [](double x) { return std::asin(x); }, -0.98f, 0.98f);
  check(
      fn::Acos(), fn::AcosGradient(), false,
      [](double x) { return std::acos(x); }, -0.98f, 0.98f);
  check(fn::Atan(), fn::AtanGradient(), false,
        [](double x) { return std::atan(x); });
  check(fn::Sinh(), fn::SinhGradient(), false,
        [](double x) { return std::sinh(x); });
  check(fn::Cosh(), fn::CoshGradient(), false,
        [](double x) { return std::cosh(x); });
  check(fn::Asinh(), fn::AsinhGradient(), false,
        [](double x) { return std::asinh(x); });
  check(
      fn::Acosh(), fn::AcoshGradient(), false,
      [](double x) { return std::acosh(x); }, 1.1f, 9.0f);
  check(
      fn::Atanh(), fn::AtanhGradient(), false,
      [](double x) { return std::atanh(x); }, -0.98f, 0.98f);
}

TEST(Functors, Steps) {
  EXPECT_EQ(fn::Sign()(-3.0f), -1.0f);
  EXPECT_EQ(fn::Sign()(0.0f), 0.0f);
  EXPECT_EQ(fn::Floor()(-1.5f), -2.0f);
  EXPECT_EQ(fn::Ceil()(-1.5f), -1.0f);
  EXPECT_EQ(fn::Round()(2.5f), 2.0f);
  EXPECT_EQ(fn::Round()(-3.5f), -4.0f);
  EXPECT_EQ(fn::Scale{3.0f}(2.0f), 6.0f);
  EXPECT_EQ(fn::Shift{3.0f}(2.0f), 5.0f);
  // Bounds that contradict each other.
  EXPECT_EQ((fn::Clip{2.0f, 1.0f}(0.0f)), 1.0f);
}

TEST(Functors, OfTwoAndThree) {
  EXPECT_EQ(fn::Div()(3.0f, 4.0f), 0.75f);
  EXPECT_EQ(fn::Pow()(-2.0f, 3.0f), -8.0f);
  EXPECT_EQ(fn::Min()(2.0f, 3.0f), 2.0f);
  EXPECT_EQ(fn::Max()(2.0f, 3.0f), 3.0f);
  EXPECT_TRUE(std::isnan(fn::Min()(nan, 1.0f)));
  EXPECT_TRUE(std::isnan(fn::Max()(1.0f, nan)));
  EXPECT_EQ(fn::Prelu()(-2.0f, 0.5f), -1.0f);
  EXPECT_EQ(fn::Prelu()(2.0f, 0.5f), 2.0f);
  EXPECT_EQ(fn::Equal()(2.0f, 2.0f), 1.0f);
  EXPECT_EQ(fn::Equal()(2.0f, 3.0f), 0.0f);
  EXPECT_EQ(fn::Less()(2.0f, 2.0f), 0.0f);
  EXPECT_EQ(fn::LessOrEqual()(2.0f, 2.0f), 1.0f);
  EXPECT_EQ(fn::Greater()(3.0f, 2.0f), 1.0f);
  EXPECT_EQ(fn::GreaterOrEqual()(1.0f, 2.0f), 0.0f);
  EXPECT_EQ(fn::Keep()(5.0f, -1.0f), 5.0f);
  EXPECT_EQ(fn::Keep()(nan, 0.0f), 0.0f);
  EXPECT_EQ(fn::Drop()(nan, -1.0f), 0.0f);
  EXPECT_EQ(fn::Drop()(5.0f, 0.0f), 5.0f);
  EXPECT_EQ(fn::Fmod()(-7.5f, 2.0f), -1.5f);
  EXPECT_EQ(fn::Fmod()(7.5f, -2.0f), 1.5f);
  EXPECT_EQ(fn::Select()(1.0f, 5.0f, 6.0f), 5.0f);
  EXPECT_EQ(fn::Select()(0.0f, nan, 6.0f), 6.0f);
}

TEST(Functors, KeepWhatIsNoNumber) {
  const std::function<float(float)> functions[] = {
      fn::Relu(),
      fn::Sigmoid(),
      fn::Tanh(),
      fn::Abs(),
      fn::LeakyRelu{0.1f},
      fn::Sqrt(),
      fn::Exp(),
      fn::Log(),
      fn::Erf(),
      fn::Softplus(),
      fn::Softsign(),
      fn::Reciprocal(),
      fn::HardSwish(),
      fn::Elu{1.0f},
      fn::Selu{1.0f, 1.0f},
      fn::Celu{1.0f},
      fn::Gelu(),
      fn::GeluTanh(),
      fn::Silu(),
      fn::Clip{-1.0f, 1.0f},
      fn::HardSigmoid{0.2f, 0.5f},
      fn::Scale{0.5f},
      fn::Shift{0.5f},
      fn::Sign(),
      fn::Floor(),
      fn::Ceil(),
      fn::Round(),
  };
  for (std::size_t i = 0; i < std::size(functions); ++i)
    EXPECT_TRUE(std::isnan(functions[i](nan))) << i;
  EXPECT_TRUE(std::isnan(fn::Prelu()(nan, 0.5f)));
}

} // namespace
