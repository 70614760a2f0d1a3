//===- copy.cpp - loops of copies between buffers -------------------------===//
#include "common/copy/host_copy.h"
#include "common/copy/move.h"
#include "ffrt/bfloat16.h"
#include "ffrt/error.h"
#include "ffrt/float16.h"
#include "ffrt/function.h"

namespace ffrt {

namespace {

template <class T, class Op>
void combine_as(const Nest<2> &nest, T *dst, const T *src, Op op) {
  const Nest<2>::Offsets s = nest.inner_stride();
  nest.run([&](const Nest<2>::Offsets &at, int64_t n) {
    T *to = dst + at[0];
    const T *from = src + at[1];
    if (s[0] == 1 && s[1] == 1) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        to[i] = op(to[i], from[i]);
      return;
    }
    for (int64_t i = 0; i < n; ++i)
      to[i * s[0]] = op(to[i * s[0]], from[i * s[1]]);
  });
}

template <class T>
void combine_typed(const Nest<2> &nest, T *dst, const T *src, ReduceOp op) {
  if (op == ReduceOp::sum)
    combine_as(nest, dst, src, [](T a, T b) { return T(a + b); });
  else
    combine_as(nest, dst, src, larger<T>);
}

template <class T>
void accumulate_typed(const Nest<2> &nest, T *dst, const T *src, bool first,
                      T factor) {
  if (first)
    combine_as(nest, dst, src, [=](T, T b) { return factor * b; });
  else
    combine_as(nest, dst, src, [=](T a, T b) { return a + factor * b; });
}

template <class T> void fill_as(void *dst, int64_t n, double value) {
  T *to = static_cast<T *>(dst);
  const T element = T(value);
  parallel_for(n, 65536, [=](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      to[i] = element;
  });
}

/// Calls f(dst, src) with pointers to elements of `type`.
template <class F>
void typed(DType type, void *dst, const void *src, const char *what, F &&f) {
  auto as = [&](auto zero) {
    using T = decltype(zero);
    f(static_cast<T *>(dst), static_cast<const T *>(src));
  };
  switch (type) {
  case DType::f32:
    return as(float());
  case DType::f64:
    return as(double());
  case DType::i32:
    return as(int32_t());
  case DType::i64:
    return as(int64_t());
  case DType::bf16:
    return as(BFloat16());
  case DType::f16:
    return as(Float16());
  default:
    throw Error(std::string(what) +
                ": expected a type of 2 bytes or more, found one of 1");
  }
}

} // namespace

void move_strided(DType type, const Nest<2> &nest, void *dst, const void *src) {
  move_on_host(type, nest, dst, src);
}

void combine_strided(DType type, const Nest<2> &nest, void *dst,
                     const void *src, ReduceOp op) {
  typed(type, dst, src, "combine",
        [&](auto *to, const auto *from) { combine_typed(nest, to, from, op); });
}

void accumulate_strided(DType type, const Nest<2> &nest, void *dst,
                        const void *src, bool first, double factor) {
  switch (type) {
  case DType::f32:
    return accumulate_typed(nest, static_cast<float *>(dst),
                            static_cast<const float *>(src), first,
                            float(factor));
  case DType::f64:
    return accumulate_typed(nest, static_cast<double *>(dst),
                            static_cast<const double *>(src), first, factor);
  default:
    throw Error("accumulate: expected f32 or f64, found another type");
  }
}

void fill_elements(DType type, void *dst, int64_t n, double value) {
  switch (type) {
  case DType::f32:
    return fill_as<float>(dst, n, value);
  case DType::f64:
    return fill_as<double>(dst, n, value);
  case DType::bf16:
    return fill_as<BFloat16>(dst, n, value);
  case DType::f16:
    return fill_as<Float16>(dst, n, value);
  case DType::i32:
    return fill_as<int32_t>(dst, n, value);
  default:
    throw Error("fill: expected f32, f64, bf16, f16 or i32, found another "
                "type");
  }
}

} // namespace ffrt
