//===- fast_math.h - functions that compilers vectorise ---------*- C++ -*-===//
//
// In place of the C library's, which gcc calls element by element: straight
// lines of arithmetic and selections, with an error of a few units in the last
// place. They rely on neither errno nor floating-point exceptions. GPUs have
// units for 2^x and 1/x, so that there the toolkit's functions take a third of
// the instructions, as exactly.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_FAST_MATH_H
#define FFRT_FAST_MATH_H

#include "ffrt/function.h"

#include <cmath>
#include <cstdint>
#include <cstring>

namespace ffrt {

FFRT_FUNCTION inline float float_of_bits(int32_t bits) {
  float value;
  std::memcpy(&value, &bits, sizeof(value));
  return value;
}

FFRT_FUNCTION inline int32_t bits_of_float(float value) {
  int32_t bits;
  std::memcpy(&bits, &value, sizeof(bits));
  return bits;
}

/// exp(x) with an error below 2 units in the last place; 0 below -87.3 or
/// nearly so, infinity above 88.7.
FFRT_FUNCTION float fast_exp(float x);

/// The same for x up to about 0, for sums of such: its error is below a unit in
/// the last place of 1.
FFRT_FUNCTION float softmax_exp(float x);

/// exp(x) - 1, also near zero.
FFRT_FUNCTION float fast_expm1(float x);

/// log(x) with an error below 2 units in the last place; minus infinity at 0,
/// not a number below.
FFRT_FUNCTION float fast_log(float x);

/// log(1 + x) for x >= 0, also near zero.
FFRT_FUNCTION float fast_log1p(float x);

/// erf(x) with an error of about 2 units in the last place.
FFRT_FUNCTION float fast_erf(float x);

FFRT_FUNCTION float fast_tanh(float x);

/// 1 / (1 + exp(-x)).
FFRT_FUNCTION float fast_logistic(float x);

/// sin(x) and cos(x) with an error below 2 units in the last place of 1, and of
/// the result near zero, up to |x| of 10^8.
FFRT_FUNCTION float fast_sin(float x);
FFRT_FUNCTION float fast_cos(float x);

#ifdef __CUDA_ARCH__

FFRT_FUNCTION inline float fast_exp(float x) { return expf(x); }

FFRT_FUNCTION inline float softmax_exp(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x * 1.44269504f));
  return y;
}

FFRT_FUNCTION inline float fast_expm1(float x) { return expm1f(x); }

FFRT_FUNCTION inline float fast_log(float x) { return logf(x); }

FFRT_FUNCTION inline float fast_log1p(float x) { return log1pf(x); }

FFRT_FUNCTION inline float fast_erf(float x) { return erff(x); }

FFRT_FUNCTION inline float fast_tanh(float x) { return tanhf(x); }

FFRT_FUNCTION inline float fast_logistic(float x) {
  return __fdividef(1.0f, 1.0f + expf(-x));
}

FFRT_FUNCTION inline float fast_sin(float x) { return sinf(x); }

FFRT_FUNCTION inline float fast_cos(float x) { return cosf(x); }

#else

/// exp(r) - 1 for |r| <= ln(2) / 2.
FFRT_FUNCTION inline float exp_less_one_near_zero(float r) {
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  return p * r * r + r;
}

FFRT_FUNCTION inline float fast_exp(float x) {
  float in = x < -87.33f ? -87.33f : x > 88.72f ? 88.72f : x;
  float n = __builtin_rintf(in * 1.44269504f);
  float r = in - n * 0.693359375f;
  r = r + n * 2.12194440e-4f;
  float p = exp_less_one_near_zero(r) + 1.0f;
  // Two factors, since 2^128 is no float while exp(88.7) is.
  int32_t k = static_cast<int32_t>(n), half = k >> 1;
  float y = p * float_of_bits((half + 127) << 23) *
            float_of_bits((k - half + 127) << 23);
  y = x < -87.33f ? 0.0f : y;
  y = x > 88.72f ? __builtin_inff() : y;
  return x != x ? x : y;
}

FFRT_FUNCTION inline float softmax_exp(float x) { return fast_exp(x); }

FFRT_FUNCTION inline float fast_expm1(float x) {
  float small = exp_less_one_near_zero(x), large = fast_exp(x) - 1.0f;
  return __builtin_fabsf(x) < 0.34f ? small : large;
}

FFRT_FUNCTION inline float fast_log(float x) {
  // Subnormal numbers are made normal.
  bool tiny = x < 1.17549435e-38f;
  float in = tiny ? x * 8388608.0f : x;
  int32_t bits = bits_of_float(in);
  // x = m * 2^k with m in [sqrt(1/2), sqrt(2)).
  int32_t k = (bits - 0x3f3504f3) >> 23;
  float m = float_of_bits(bits - static_cast<int32_t>(uint32_t(k) << 23));
  float n = static_cast<float>(k) - (tiny ? 23.0f : 0.0f);
  float r = m - 1.0f, s = r * r;
  float p = 7.0376836292e-2f;
  p = p * r - 1.1514610310e-1f;
  p = p * r + 1.1676998740e-1f;
  p = p * r - 1.2420140846e-1f;
  p = p * r + 1.4249322787e-1f;
  p = p * r - 1.6668057665e-1f;
  p = p * r + 2.0000714765e-1f;
  p = p * r - 2.4999993993e-1f;
  p = p * r + 3.3333331174e-1f;
  float y = p * r * s - n * 2.12194440e-4f - 0.5f * s;
  y = r + y + n * 0.693359375f;
  y = x == __builtin_inff() ? x : y;
  y = x == 0.0f ? -__builtin_inff() : y;
  y = x < 0.0f ? __builtin_nanf("") : y;
  return x != x ? x : y;
}

FFRT_FUNCTION inline float fast_log1p(float x) {
  // What the addition rounds away is made up for.
  float u = 1.0f + x;
  return fast_log(u) + (x - (u - 1.0f)) / u;
}

FFRT_FUNCTION inline float fast_erf(float x) {
  float t = __builtin_fabsf(x), s = x * x;
  // 1 - exp(polynomial); the polynomial turns back above 4, where erf is 1.
  float u = t < 4.0f ? t : 4.0f, v = u * u;
  float q = (-1.72853470e-5f * u + 3.83197126e-4f) * v +
            (-3.88396438e-3f * u + 2.42546219e-2f);
  q = q * u - 1.06777877e-1f;
  q = q * u - 6.34846687e-1f;
  q = q * u - 1.28717512e-1f;
  q = q * u - u;
  float large = __builtin_copysignf(1.0f - fast_exp(q), x);
  float p = -5.96761703e-4f;
  p = p * s + 4.99119423e-3f;
  p = p * s - 2.67681349e-2f;
  p = p * s + 1.12819925e-1f;
  p = p * s - 3.76125336e-1f;
  p = p * s + 1.28379166e-1f;
  float small = p * x + x;
  float y = t > 0.927734375f ? large : small;
  return x != x ? x : y;
}

FFRT_FUNCTION inline float fast_tanh(float x) {
  // An odd polynomial near zero, where the quotient cancels.
  float a = __builtin_fabsf(x), s = x * x;
  float e = fast_exp(2.0f * (a > 10.0f ? 10.0f : a));
  float large = 1.0f - 2.0f / (e + 1.0f);
  float p = -5.70498872745e-3f;
  p = p * s + 2.06390887954e-2f;
  p = p * s - 5.37397155531e-2f;
  p = p * s + 1.33314422036e-1f;
  p = p * s - 3.33332819422e-1f;
  float small = p * s * x + x;
  return a < 0.625f ? small : __builtin_copysignf(large, x);
}

FFRT_FUNCTION inline float fast_logistic(float x) {
  return 1.0f / (1.0f + fast_exp(-x));
}

/// sin(x + quarters * pi / 2).
FFRT_FUNCTION inline float sin_from(float x, double quarters) {
  // The distance to a multiple of pi / 2 needs more digits than x has.
  double n = __builtin_rint(x * 0.63661977236758134308);
  float r = static_cast<float>(x - n * 1.57079632679489661923);
  double turns = n + quarters;
  turns -= 4.0 * __builtin_floor(0.25 * turns);
  // What is not a number or infinite is no integer.
  int32_t quarter = static_cast<int32_t>(turns >= 0.0 ? turns : 0.0);
  float s = r * r;
  float p = -1.9515295891e-4f;
  p = p * s + 8.3321608736e-3f;
  p = p * s - 1.6666654611e-1f;
  float sine = p * s * r + r;
  float q = 2.443315711809948e-5f;
  q = q * s - 1.388731625493765e-3f;
  q = q * s + 4.166664568298827e-2f;
  float cosine = q * s * s - 0.5f * s + 1.0f;
  float y = (quarter & 1) != 0 ? cosine : sine;
  return (quarter & 2) != 0 ? -y : y;
}

FFRT_FUNCTION inline float fast_sin(float x) { return sin_from(x, 0.0); }

FFRT_FUNCTION inline float fast_cos(float x) { return sin_from(x, 1.0); }

#endif // __CUDA_ARCH__

#ifdef FFRT_F64
// In double precision, where speed does not matter, the C library's.
inline double fast_exp(double x) { return std::exp(x); }
inline double softmax_exp(double x) { return std::exp(x); }
inline double fast_expm1(double x) { return std::expm1(x); }
inline double fast_log(double x) { return std::log(x); }
inline double fast_log1p(double x) { return std::log1p(x); }
inline double fast_erf(double x) { return std::erf(x); }
inline double fast_tanh(double x) { return std::tanh(x); }
inline double fast_logistic(double x) { return 1.0 / (1.0 + std::exp(-x)); }
inline double fast_sin(double x) { return std::sin(x); }
inline double fast_cos(double x) { return std::cos(x); }
#endif

} // namespace ffrt

#endif // FFRT_FAST_MATH_H
