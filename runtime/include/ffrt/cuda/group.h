//===- group.h - neighbours in memory that move together --------*- C++ -*-===//
//
// A thread that reads and writes 16 bytes at once keeps memory busier than one
// that has 4, and shares what it computes of addresses among four elements.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_GROUP_H
#define FFRT_CUDA_GROUP_H

#include "ffrt/cuda/launch.h"

#include <cstring>
#include <type_traits>

namespace ffrt::cuda {

/// Elements that a thread has at once.
constexpr int kGroup = 4;

template <class T>
struct alignas(kGroup * sizeof(T) < 16 ? kGroup * sizeof(T) : 16) Group {
  T at[kGroup];
  __device__ T &operator[](int i) { return at[i]; }
  __device__ const T &operator[](int i) const { return at[i]; }
};

/// May groups of T begin there?
template <class T> bool begins_group(const T *data) {
  return reinterpret_cast<std::uintptr_t>(data) % alignof(Group<T>) == 0;
}

/// Elements before the next place where a group of T may begin.
template <class T> __device__ int before_group(const T *data) {
  const auto past = reinterpret_cast<std::uintptr_t>(data) / sizeof(T) % kGroup;
  return int((kGroup - past) % kGroup);
}

/// Elements from `first` on: kGroup of them, or those that are left at the end.
struct Span {
  int64_t first;
  int count;
  bool grouped; ///< a whole group in memory, wherever it is read or written
};

/// The group that begins there, read at once. As words, since the compiler may
/// take reads of elements that have another branch in common with this one.
template <class T> __device__ Group<T> read_group(const T *from) {
#ifdef __CUDA_ARCH__
  constexpr std::size_t kBytes = sizeof(Group<T>);
  using Word =
      std::conditional_t<kBytes % 16 == 0, uint4,
                         std::conditional_t<kBytes == 8, uint2, uint1>>;
  Word words[kBytes / sizeof(Word)];
  FFRT_UNROLL
  for (std::size_t i = 0; i < kBytes / sizeof(Word); ++i)
    words[i] = reinterpret_cast<const Word *>(from)[i];
  Group<T> group;
  std::memcpy(&group, words, sizeof(group));
  return group;
#else
  return *reinterpret_cast<const Group<T> *>(from);
#endif
}

template <class T> __device__ Group<T> read(const T *from, const Span &span) {
  if (span.grouped)
    return read_group(from + span.first);
  Group<T> result{};
  FFRT_UNROLL
  for (int i = 0; i < kGroup; ++i)
    if (i < span.count)
      result[i] = from[span.first + i];
  return result;
}

template <class T>
__device__ void write(T *to, const Span &span, const Group<T> &values) {
  if (span.grouped) {
    *reinterpret_cast<Group<T> *>(to + span.first) = values;
    return;
  }
  FFRT_UNROLL
  for (int i = 0; i < kGroup; ++i)
    if (i < span.count)
      to[span.first + i] = values[i];
}

/// Group `g` of n elements.
__device__ inline Span span_of(int64_t g, int64_t n, bool grouped) {
  const int64_t first = g * kGroup, left = n - first;
  const int count = left < kGroup ? int(left) : kGroup;
  return {first, count, grouped && count == kGroup};
}

inline int64_t groups_of(int64_t n) { return (n + kGroup - 1) / kGroup; }

/// f(span) for all of [0, n). `grouped`: everything that f reads and writes
/// begins_group().
template <class F> void for_spans(int64_t n, bool grouped, F f) {
  for_elements(
      groups_of(n), FFRT_LAMBDA(int64_t g) { f(span_of(g, n, grouped)); });
}

} // namespace ffrt::cuda

#endif // FFRT_CUDA_GROUP_H
