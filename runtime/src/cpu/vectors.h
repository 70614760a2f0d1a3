//===- vectors.h - vectors of neighbouring channels -------------*- C++ -*-===//
#ifndef FFRT_CPU_VECTORS_H
#define FFRT_CPU_VECTORS_H

#include <cstdint>
#include <cstring>

namespace ffrt {

using V16 = float __attribute__((vector_size(64)));
using V8 = float __attribute__((vector_size(32)));
using V4 = float __attribute__((vector_size(16)));
using V2 = float __attribute__((vector_size(8)));

/// Integers as wide as a vector, or number, of floats.
template <class V> struct IntsOf { using type = int32_t; };
template <> struct IntsOf<V16> {
  using type = int32_t __attribute__((vector_size(64)));
};
template <> struct IntsOf<V8> {
  using type = int32_t __attribute__((vector_size(32)));
};
template <> struct IntsOf<V4> {
  using type = int32_t __attribute__((vector_size(16)));
};
template <> struct IntsOf<V2> {
  using type = int32_t __attribute__((vector_size(8)));
};

/// From any address.
template <class V> V load(const void *from) {
  V value;
  std::memcpy(&value, from, sizeof(V));
  return value;
}
template <class V> void store(void *to, V value) {
  std::memcpy(to, &value, sizeof(V));
}

/// Calls f(V(), c) for vectors that cover `count` channels.
template <class F> void for_vectors(int64_t count, F &&f) {
  int64_t c = 0;
  for (; c + 16 <= count; c += 16)
    f(V16(), c);
  for (; c + 8 <= count; c += 8)
    f(V8(), c);
  for (; c < count; ++c)
    f(float(), c);
}

} // namespace ffrt

#endif // FFRT_CPU_VECTORS_H
