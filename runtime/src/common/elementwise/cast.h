//===- cast.h - conversions of elements -------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_CAST_H
#define FFRT_COMMON_CAST_H

#include "ffrt/bfloat16.h"
#include "ffrt/float16.h"
#include "ffrt/real.h"
#include "ffrt/tensor.h"

#include <type_traits>

namespace ffrt {

/// Truth values are bytes of their own type.
struct Boolean {
  uint8_t value;
};

template <class To, class From> FFRT_FUNCTION To convert(From x) {
  if constexpr (std::is_same_v<From, Boolean>)
    return convert<To>(x.value);
  else if constexpr (std::is_same_v<To, Boolean>)
    return {uint8_t(x != 0)};
  else if constexpr (std::is_same_v<To, uint8_t>)
    // What a byte does not hold wraps around, as integers do.
    return To(int32_t(x));
  else
    return To(x);
}

/// Calls f with a null pointer to the type.
template <class F> void with_type(DType type, F f) {
  switch (type) {
  case DType::f32:
    return f(static_cast<float *>(nullptr));
  case DType::f64:
    return f(static_cast<double *>(nullptr));
  case DType::i32:
    return f(static_cast<int32_t *>(nullptr));
  case DType::i64:
    return f(static_cast<int64_t *>(nullptr));
  case DType::u8:
    return f(static_cast<uint8_t *>(nullptr));
  case DType::boolean:
    return f(static_cast<Boolean *>(nullptr));
  case DType::bf16:
    return f(static_cast<BFloat16 *>(nullptr));
  case DType::f16:
    return f(static_cast<Float16 *>(nullptr));
  }
}

/// The same for f32, bf16 and f16, the types that kernels compute with.
template <class F> void with_float(DType type, F f) {
  if constexpr (kHasLowPrecision) {
    if (type == DType::bf16)
      return f(static_cast<BFloat16 *>(nullptr));
    if (type == DType::f16)
      return f(static_cast<Float16 *>(nullptr));
  }
  f(static_cast<Real *>(nullptr));
}

/// Is bf16 or f16.
inline bool is_low_precision(DType type) {
  return type == DType::bf16 || type == DType::f16;
}

/// Calls f with the data of tensors as float or, where they are of low
/// precision, T.
template <class T, class F> void with_data_as(const F &f) { f(); }
template <class T, class F, class... Tensors>
void with_data_as(const F &f, const Tensor &t, const Tensors &...more) {
  const auto rest = [&](auto *first) {
    with_data_as<T>([&](auto *...others) { f(first, others...); }, more...);
  };
  // What is absent has no type.
  if constexpr (kHasLowPrecision)
    if (t.data && is_low_precision(t.type))
      return rest(t.as<T>());
  rest(t.as<Real>());
}

/// Calls f with the data of tensors that may be f32 or one type of low
/// precision.
template <class F, class... Tensors>
void with_data(const F &f, const Tensors &...tensors) {
  if (((tensors.data && tensors.type == DType::f16) || ...))
    with_data_as<Float16>(f, tensors...);
  else
    with_data_as<BFloat16>(f, tensors...);
}

/// Converts the elements of x to those of y: of the target.
void cast_elements(const Tensor &x, const Tensor &y);

} // namespace ffrt

#endif // FFRT_COMMON_CAST_H
