//===- cast.cpp - elements as another type --------------------------------===//
#include "common/check.h"
#include "ffrt/bfloat16.h"
#include "ffrt/elementwise.h"

namespace ffrt {

namespace {

/// Truth values are bytes of their own type.
struct Boolean {
  uint8_t value;
};

template <class To, class From> To convert(From x) {
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

template <class To, class From> void cast(const Tensor &x, const Tensor &y) {
  const From *from = x.as<From>();
  To *to = y.as<To>();
  parallel_for(y.elements(), 16384, [=](int64_t begin, int64_t end) {
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i)
      to[i] = convert<To>(from[i]);
  });
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
  }
}

} // namespace

Cast::Cast(Context &, Tensors in, Tensors out, int64_t to) {
  expect_count("cast", "operands", in.size(), 1);
  expect_count("cast", "results", out.size(), 1);
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  expect_same_shape("cast", "operand", x, y);
  expect_same_order("cast", "operand", x, y);
  expect_type("cast", "result", y, DType(to));
}

void Cast::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  with_type(x.type, [&](auto *from) {
    with_type(y.type, [&](auto *to) {
      cast<std::remove_pointer_t<decltype(to)>,
           std::remove_pointer_t<decltype(from)>>(x, y);
    });
  });
}

} // namespace ffrt
