//===- widened.cpp - bf16 and f16 under loops over f32 --------------------===//
#include "cpu/kernels/widened.h"

namespace ffrt {

void Elements::widen(int64_t at, int64_t n, Real *to) const {
  with_float(type, [&](auto *all) {
    const auto *from = static_cast<decltype(all)>(data) + at;
    with_stride(stride, [=](auto s) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        to[i] = from[i * s];
    });
  });
}

void Elements::round(int64_t at, int64_t n) const {
  with_float(type, [&](auto *all) {
    using T = std::remove_pointer_t<decltype(all)>;
    T *to = static_cast<T *>(data) + at;
    const Real *from = buffer;
    with_stride(stride, [=](auto s) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        to[i * s] = T(from[i]);
    });
  });
}

} // namespace ffrt
