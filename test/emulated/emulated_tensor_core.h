//===- emulated_tensor_core.h - fragments of matrices, on a CPU -*- C++ -*-===//
//
// What cuda/kernels/tensor_core.h says, by lanes that read each other's
// registers.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_EMULATED_TENSOR_CORE_H
#define FFRT_EMULATED_TENSOR_CORE_H

#include "emulated_block.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace ffrt::emulated {

/// What `lane` has given at the barrier it waits at.
template <class T> T given_by(int lane) {
  const races::Unseen unseen;
  T value;
  std::memcpy(&value, slot(lane), sizeof value);
  return value;
}

/// Waits at that barrier.
template <class T> void give(const T &value) {
  {
    const races::Unseen unseen;
    std::memcpy(slot(current().lane), &value, sizeof value);
  }
  meet_warp();
}

/// Number `i` of a word.
template <class T> T number_of(uint32_t word, int i) {
  T value;
  std::memcpy(&value,
              reinterpret_cast<const char *>(&word) + int(sizeof(T)) * i,
              sizeof(T));
  return value;
}

/// The nearest number with 10 bits behind the point; ties go away from 0.
inline uint32_t rounded_to_tf32(float number) {
  uint32_t word;
  std::memcpy(&word, &number, sizeof word);
  return (word + 0x1000) & ~0x1fffu;
}

template <class T> uint32_t word_of(T left, T right) {
  static_assert(sizeof(T) == 2);
  uint32_t word;
  std::memcpy(&word, &left, 2);
  std::memcpy(reinterpret_cast<char *>(&word) + 2, &right, 2);
  return word;
}

inline void load_matrices(uint32_t (&words)[4], uintptr_t row,
                          bool transposed) {
  if (row % 16 != 0) {
    std::fprintf(stderr, "error: ldmatrix: expected rows at multiples of 16 "
                         "bytes, found others\n");
    std::abort();
  }
  const int lane = current().lane;
  give(row);
  for (int m = 0; m < 4; ++m) {
    uint16_t pair[2];
    for (int i = 0; i < 2; ++i) {
      const int r = transposed ? 2 * (lane % 4) + i : lane / 4,
                c = transposed ? lane / 4 : 2 * (lane % 4) + i;
      pair[i] =
          reinterpret_cast<const uint16_t *>(given_by<uintptr_t>(8 * m + r))[c];
    }
    words[m] = word_of(pair[0], pair[1]);
  }
  meet_warp();
}

/// What a tensor core takes of a word: of f32 the first bits.
template <class T> uint32_t taken(uint32_t word) {
  return sizeof(T) == 4 ? word & ~0x1fffu : word;
}

/// Sums are taken in f32; a tensor core's last bits may be others.
template <class T>
void multiply_matrices(float (&sums)[4], const uint32_t (&left)[4],
                       uint32_t upper, uint32_t lower) {
  struct Given {
    const uint32_t *left, *right;
  };
  const uint32_t own_left[] = {taken<T>(left[0]), taken<T>(left[1]),
                               taken<T>(left[2]), taken<T>(left[3])},
                 own_right[] = {taken<T>(upper), taken<T>(lower)};
  const Given own{own_left, own_right};
  const int lane = current().lane;
  give(own);
  // Registers are each lane's own.
  const races::Unseen unseen;
  constexpr int kOfWord = 4 / int(sizeof(T)), kOfPart = 4 * kOfWord;
  for (int i = 0; i < 4; ++i) {
    const int below = i / 2, column = 2 * (lane % 4) + i % 2;
    // k is a column of the left matrix and a row of the right one.
    for (int k = 0; k < 2 * kOfPart; ++k) {
      const int word = k % kOfPart / kOfWord;
      const auto l = given_by<Given>(lane / 4 * 4 + word),
                 r = given_by<Given>(column * 4 + word);
      sums[i] +=
          float(number_of<T>(l.left[below + k / kOfPart * 2], k % kOfWord)) *
          float(number_of<T>(r.right[k / kOfPart], k % kOfWord));
    }
  }
  meet_warp();
}

} // namespace ffrt::emulated

#endif // FFRT_EMULATED_TENSOR_CORE_H
