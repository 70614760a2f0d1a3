//===- vectors.h - vectors of neighbouring channels -------------*- C++ -*-===//
#ifndef FFRT_CPU_VECTORS_H
#define FFRT_CPU_VECTORS_H

#include "ffrt/bfloat16.h"
#include "ffrt/float16.h"
#include "ffrt/real.h"

#include <cstdint>
#include <cstring>
#include <type_traits>

namespace ffrt {

using V16 = Real __attribute__((vector_size(16 * sizeof(Real))));
using V8 = Real __attribute__((vector_size(8 * sizeof(Real))));
using V4 = Real __attribute__((vector_size(4 * sizeof(Real))));
using V2 = Real __attribute__((vector_size(2 * sizeof(Real))));

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

/// Integers of type I, as many as V has floats.
template <class I, class V> struct Replaced {
  using type
      __attribute__((vector_size(sizeof(V) / sizeof(Real) * sizeof(I)))) = I;
};

/// The same for numbers of type T that are bf16 or f16 in memory.
template <class V, class T> V load_narrow(const T *from) {
  if constexpr (std::is_same_v<V, Real>) {
    return *from;
  } else {
    using Halves = typename Replaced<uint16_t, V>::type;
    using Words = typename Replaced<uint32_t, V>::type;
    return T::template widened<V>(__builtin_convertvector(
        load<Halves>(static_cast<const void *>(from)), Words));
  }
}
template <class T, class V> void store_narrow(T *to, V value) {
  if constexpr (std::is_same_v<V, Real>) {
    *to = T(value);
  } else {
    using Halves = typename Replaced<uint16_t, V>::type;
    using Words = typename Replaced<uint32_t, V>::type;
    store(static_cast<void *>(to),
          __builtin_convertvector(T::template rounded<Words>(value), Halves));
  }
}
template <class V> V load(const BFloat16 *from) { return load_narrow<V>(from); }
template <class V> V load(const Float16 *from) { return load_narrow<V>(from); }
template <class V> void store(BFloat16 *to, V value) {
  store_narrow(to, value);
}
template <class V> void store(Float16 *to, V value) { store_narrow(to, value); }

/// Calls f(V(), c) for vectors that cover `count` channels.
template <class F> void for_vectors(int64_t count, F &&f) {
  int64_t c = 0;
  for (; c + 16 <= count; c += 16)
    f(V16(), c);
  for (; c + 8 <= count; c += 8)
    f(V8(), c);
  for (; c < count; ++c)
    f(Real(), c);
}

} // namespace ffrt

#endif // FFRT_CPU_VECTORS_H
