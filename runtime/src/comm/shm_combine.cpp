//===- shm_combine.cpp - reduction of several buffers ---------------------===//
#include "comm/shm_combine.h"

#include "ffrt/bfloat16.h"
#include "ffrt/float16.h"
#include "ffrt/function.h"

#include <algorithm>
#include <cstring>

namespace ffrt {

namespace {

struct Sum {
  template <class T> static T of(T a, T b) { return T(a + b); }
};
struct Max {
  template <class T> static T of(T a, T b) { return larger(a, b); }
};

template <class T, class Op>
void combine(const char *const *sources, int count, int64_t offset, int64_t n,
             char *to, char *copy) {
  // In blocks that stay in the first cache.
  constexpr int64_t kBlock = 1024;
  T sum[kBlock];
  for (int64_t at = offset, left = n; left > 0; at += kBlock, left -= kBlock) {
    const int64_t m = std::min(kBlock, left);
    auto block = [&](int i) {
      return reinterpret_cast<const T *>(sources[i]) + at;
    };
    const T *a = block(0), *b = block(1);
    for (int64_t k = 0; k < m; ++k)
      sum[k] = Op::of(a[k], b[k]);
    for (int i = 2; i < count; ++i) {
      const T *next = block(i);
      for (int64_t k = 0; k < m; ++k)
        sum[k] = Op::of(sum[k], next[k]);
    }
    const std::size_t bytes = std::size_t(m) * sizeof(T);
    std::memcpy(reinterpret_cast<T *>(to) + at, sum, bytes);
    if (copy)
      std::memcpy(reinterpret_cast<T *>(copy) + at, sum, bytes);
  }
}

template <class T> Combine combine_of(ReduceOp op) {
  return op == ReduceOp::sum ? combine<T, Sum> : combine<T, Max>;
}

} // namespace

Combine combine_of(DType type, ReduceOp op) {
  switch (type) {
  case DType::f32:
    return combine_of<float>(op);
  case DType::f64:
    return combine_of<double>(op);
  case DType::i32:
    return combine_of<int32_t>(op);
  case DType::i64:
    return combine_of<int64_t>(op);
  case DType::u8:
  case DType::boolean:
    return combine_of<uint8_t>(op);
  case DType::bf16:
    return combine_of<BFloat16>(op);
  case DType::f16:
    return combine_of<Float16>(op);
  }
  return nullptr;
}

} // namespace ffrt
