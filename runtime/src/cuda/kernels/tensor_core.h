//===- tensor_core.h - products of small matrices by a warp -----*- C++ -*-===//
//
// What a warp asks its tensor core for (PTX: ldmatrix and mma). Matrices are
// made of parts of 8 rows and 16 bytes, spread over the lanes: lane l has word
// l % 4 of row l / 4, with K = 4 / bytes of an element numbers.
//
//   left    16 x 8K, a word of each part: upper left, lower left, upper right,
//           lower right
//   right   8K x 8, transposed: a word of its first columns, then of the others
//   sums    16 x 8 of f32: numbers 2 (l % 4) and the next of row l / 4, then of
//           row l / 4 + 8
//
// Tests compile emulated_tensor_core.h in the place of the instructions.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_TENSOR_CORE_H
#define FFRT_CUDA_TENSOR_CORE_H

#include "cuda/kernels/shared_memory.h"
#include "ffrt/bfloat16.h"
#include "ffrt/fast_math.h"
#include "ffrt/float16.h"

#include <cuda_runtime.h>

#include <cstdint>

namespace ffrt::cuda {

/// Four parts from shared memory, a word of each. Row r of part m is where lane
/// 8 m + r says, at a multiple of 16 bytes.
__device__ inline void load_matrices(uint32_t (&words)[4], SharedAddress row) {
#ifdef __CUDACC__
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, "
               "[%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(row)
               : "memory");
#else
  emulated::load_matrices(words, row, /*transposed=*/false);
#endif
}

/// The same of 16-bit numbers, each part transposed.
__device__ inline void load_transposed(uint32_t (&words)[4],
                                       SharedAddress row) {
#ifdef __CUDACC__
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, "
               "%3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(row)
               : "memory");
#else
  emulated::load_matrices(words, row, /*transposed=*/true);
#endif
}

/// What a tensor core does with elements of a format. kAsStored: what it takes
/// are the elements as they are in memory; else each is to be made a word().
template <class Format> struct TensorCore;

template <> struct TensorCore<BFloat16> {
  using Element = BFloat16;
  static constexpr bool kAsStored = true;
  /// Two numbers in a word.
  __device__ static uint32_t word(float left, float right) {
#ifdef __CUDACC__
    uint32_t both;
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(right), "f"(left));
    return both;
#else
    return emulated::word_of(BFloat16(left), BFloat16(right));
#endif
  }
  /// What word(left, right) rounded away.
  __device__ static uint32_t rest(uint32_t rounded, float left, float right) {
    return word(left - float_of_bits(int32_t(rounded << 16)),
                right - float_of_bits(int32_t(rounded & 0xffff0000u)));
  }

  /// sums += left * right.
  __device__ static void multiply(float (&sums)[4], const uint32_t (&left)[4],
                                  uint32_t upper, uint32_t lower) {
#ifdef __CUDACC__
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(upper),
          "r"(lower));
#else
    emulated::multiply_matrices<BFloat16>(sums, left, upper, lower);
#endif
  }
};

template <> struct TensorCore<Float16> {
  using Element = Float16;
  static constexpr bool kAsStored = true;
  /// Two numbers in a word.
  __device__ static uint32_t word(float left, float right) {
#ifdef __CUDACC__
    uint32_t both;
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(both) : "f"(right), "f"(left));
    return both;
#else
    return emulated::word_of(Float16(left), Float16(right));
#endif
  }
  /// What word(left, right) rounded away.
  __device__ static uint32_t rest(uint32_t rounded, float left, float right) {
    return word(left - Float16::of_bits(uint16_t(rounded)),
                right - Float16::of_bits(uint16_t(rounded >> 16)));
  }

  /// sums += left * right.
  __device__ static void multiply(float (&sums)[4], const uint32_t (&left)[4],
                                  uint32_t upper, uint32_t lower) {
#ifdef __CUDACC__
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(upper),
          "r"(lower));
#else
    emulated::multiply_matrices<Float16>(sums, left, upper, lower);
#endif
  }
};

/// f32 of which 10 bits behind the point are multiplied.
struct TensorFloat32 {};

template <> struct TensorCore<TensorFloat32> {
  using Element = float;
  static constexpr bool kAsStored = false;
  /// A number in a word, rounded.
  __device__ static uint32_t word(float number) {
#ifdef __CUDACC__
    uint32_t rounded;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(rounded) : "f"(number));
    return rounded;
#else
    return emulated::rounded_to_tf32(number);
#endif
  }

  /// sums += left * right.
  __device__ static void multiply(float (&sums)[4], const uint32_t (&left)[4],
                                  uint32_t upper, uint32_t lower) {
#ifdef __CUDACC__
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
        : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
        : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(upper),
          "r"(lower));
#else
    emulated::multiply_matrices<float>(sums, left, upper, lower);
#endif
  }
};

/// f32 in two terms of TF32, which together have 21 bits; the product of the
/// second ones is left out.
struct SplitFloat32 {};

template <> struct TensorCore<SplitFloat32> {
  using Element = float;
  static constexpr bool kAsStored = true;
  __device__ static uint32_t word(float number) {
    return uint32_t(bits_of_float(number));
  }

  /// sums += left * right.
  __device__ static void multiply(float (&sums)[4], const uint32_t (&left)[4],
                                  uint32_t upper, uint32_t lower) {
    using Terms = TensorCore<TensorFloat32>;
    const uint32_t first[] = {first_of(left[0]), first_of(left[1]),
                              first_of(left[2]), first_of(left[3])},
                   rest[] = {rest_of(left[0]), rest_of(left[1]),
                             rest_of(left[2]), rest_of(left[3])};
    Terms::multiply(sums, rest, first_of(upper), first_of(lower));
    Terms::multiply(sums, first, rest_of(upper), rest_of(lower));
    Terms::multiply(sums, first, first_of(upper), first_of(lower));
  }

private:
  /// The bits of a number that are multiplied.
  __device__ static uint32_t first_of(uint32_t word) { return word & ~0x1fffu; }
  /// The others, as a number.
  __device__ static uint32_t rest_of(uint32_t word) {
    return uint32_t(bits_of_float(float_of_bits(int32_t(word)) -
                                  float_of_bits(int32_t(first_of(word)))));
  }
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_TENSOR_CORE_H
