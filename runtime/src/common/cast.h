//===- cast.h - conversions of elements -------------------------*- C++ -*-===//
#ifndef FFRT_COMMON_CAST_H
#define FFRT_COMMON_CAST_H

#include "ffrt/bfloat16.h"
#include "ffrt/float16.h"
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

/// The same for what a product multiplies, f32, bf16 or f16.
template <class F> void with_factor(DType type, F f) {
  if (type == DType::bf16)
    f(static_cast<BFloat16 *>(nullptr));
  else if (type == DType::f16)
    f(static_cast<Float16 *>(nullptr));
  else
    f(static_cast<float *>(nullptr));
}

/// Calls f with pointers to the elements of two tensors that
/// expect_factor_pair() has seen.
template <class F>
void with_factor_pair(const Tensor &x, const Tensor &y, F f) {
  with_factor(x.type, [&](auto *from) {
    with_factor(y.type, [&](auto *to) {
      using X = std::remove_pointer_t<decltype(from)>;
      using Y = std::remove_pointer_t<decltype(to)>;
      if constexpr (std::is_same_v<X, Y> || std::is_same_v<X, float> ||
                    std::is_same_v<Y, float>)
        f(x.as<X>(), y.as<Y>());
    });
  });
}

/// Converts the elements of x to those of y: of the target.
void cast_elements(const Tensor &x, const Tensor &y);

} // namespace ffrt

#endif // FFRT_COMMON_CAST_H
