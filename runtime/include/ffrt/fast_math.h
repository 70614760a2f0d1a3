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

/// The inverses of sine, cosine and tangent, with an error below 4 units in the
/// last place; not a number where there is none.
FFRT_FUNCTION float fast_asin(float x);
FFRT_FUNCTION float fast_acos(float x);
FFRT_FUNCTION float fast_atan(float x);

/// Hyperbolic functions and their inverses, also near zero, with an error of a
/// few units in the last place.
FFRT_FUNCTION float fast_sinh(float x);
FFRT_FUNCTION float fast_cosh(float x);
FFRT_FUNCTION float fast_asinh(float x);
FFRT_FUNCTION float fast_acosh(float x);
FFRT_FUNCTION float fast_atanh(float x);

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

FFRT_FUNCTION inline float fast_asin(float x) { return asinf(x); }

FFRT_FUNCTION inline float fast_acos(float x) { return acosf(x); }

FFRT_FUNCTION inline float fast_atan(float x) { return atanf(x); }

FFRT_FUNCTION inline float fast_sinh(float x) { return sinhf(x); }

FFRT_FUNCTION inline float fast_cosh(float x) { return coshf(x); }

FFRT_FUNCTION inline float fast_asinh(float x) { return asinhf(x); }

FFRT_FUNCTION inline float fast_acosh(float x) { return acoshf(x); }

FFRT_FUNCTION inline float fast_atanh(float x) { return atanhf(x); }

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

/// asin(x) for |x| <= 1/2.
FFRT_FUNCTION inline float asin_near_zero(float x) {
  float s = x * x, p = 4.2163199048e-2f;
  p = p * s + 2.4181311049e-2f;
  p = p * s + 4.5470025998e-2f;
  p = p * s + 7.4953002686e-2f;
  p = p * s + 1.6666752422e-1f;
  return p * s * x + x;
}

FFRT_FUNCTION inline float fast_asin(float x) {
  float a = __builtin_fabsf(x);
  float rest = asin_near_zero(__builtin_sqrtf(0.5f * (1.0f - a)));
  float large = __builtin_copysignf(1.57079637f - 2.0f * rest, x);
  return a > 0.5f ? large : asin_near_zero(x);
}

FFRT_FUNCTION inline float fast_acos(float x) {
  float a = __builtin_fabsf(x);
  float rest = 2.0f * asin_near_zero(__builtin_sqrtf(0.5f * (1.0f - a)));
  float small = 1.57079637f - asin_near_zero(x);
  float large = x < 0.0f ? 3.14159274f - rest : rest;
  return a > 0.5f ? large : small;
}

FFRT_FUNCTION inline float fast_atan(float x) {
  // Of a number between -tan(pi / 8) and tan(pi / 8), and what is left.
  float a = __builtin_fabsf(x);
  bool far = a > 2.41421356f, middle = a > 0.414213562f;
  float in = far ? -1.0f / a : middle ? (a - 1.0f) / (a + 1.0f) : a;
  float base = far ? 1.57079637f : middle ? 0.785398163f : 0.0f;
  float s = in * in, p = 8.05374449538e-2f;
  p = p * s - 1.38776856032e-1f;
  p = p * s + 1.99777106478e-1f;
  p = p * s - 3.33329491539e-1f;
  float y = base + (p * s * in + in);
  return x != x ? x : __builtin_copysignf(y, x);
}

FFRT_FUNCTION inline float fast_sinh(float x) {
  // With m = e^x - 1, half of m + m / (m + 1), which does not cancel. Half of
  // the exponential of large numbers is one of numbers that are less by log(2).
  float a = __builtin_fabsf(x), m = fast_expm1(a > 20.0f ? 20.0f : a);
  float small = 0.5f * (m + m / (m + 1.0f)), large = fast_exp(a - 0.693147181f);
  float y = a > 20.0f ? large : small;
  return x != x ? x : __builtin_copysignf(y, x);
}

FFRT_FUNCTION inline float fast_cosh(float x) {
  float e = fast_exp(__builtin_fabsf(x) - 0.693147181f);
  return e + 0.25f / e;
}

FFRT_FUNCTION inline float fast_asinh(float x) {
  float a = __builtin_fabsf(x), s = a * a;
  float small = fast_log1p(a + s / (1.0f + __builtin_sqrtf(1.0f + s)));
  float y = a > 1e9f ? fast_log(a) + 0.693147181f : small;
  return x != x ? x : __builtin_copysignf(y, x);
}

FFRT_FUNCTION inline float fast_acosh(float x) {
  float t = x - 1.0f;
  float small = fast_log1p(t + __builtin_sqrtf(t * (t + 2.0f)));
  return x > 1e9f ? fast_log(x) + 0.693147181f : small;
}

FFRT_FUNCTION inline float fast_atanh(float x) {
  float a = __builtin_fabsf(x);
  float y = 0.5f * fast_log1p(2.0f * a / (1.0f - a));
  y = a == 1.0f ? __builtin_inff() : y;
  return a > 1.0f ? __builtin_nanf("") : x != x ? x : __builtin_copysignf(y, x);
}

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
inline double fast_asin(double x) { return std::asin(x); }
inline double fast_acos(double x) { return std::acos(x); }
inline double fast_atan(double x) { return std::atan(x); }
inline double fast_sinh(double x) { return std::sinh(x); }
inline double fast_cosh(double x) { return std::cosh(x); }
inline double fast_asinh(double x) { return std::asinh(x); }
inline double fast_acosh(double x) { return std::acosh(x); }
inline double fast_atanh(double x) { return std::atanh(x); }
#endif

} // namespace ffrt

#endif // FFRT_FAST_MATH_H
