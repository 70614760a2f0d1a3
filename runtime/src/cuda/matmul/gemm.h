//===- gemm.h - products of matrices in a library ---------------*- C++ -*-===//
//
// The only place that knows cuBLASLt (gemm_cublaslt.cpp). Tests on a machine
// without a GPU link plain loops in its place (emulated_gemm.cpp).
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_GEMM_H
#define FFRT_CUDA_GEMM_H

#include "ffrt/tensor.h"

#include <cstddef>
#include <memory>
#include <numeric>
#include <string>
#include <utility>

namespace ffrt::cuda {

/// Row-major matrices: y [m, n] = alpha op(a) op(b) + what the addend is,
/// `count` times. A matrix of a batch begins `stride` elements after the one
/// before.
struct GemmShape {
  DType operand_type = DType::f32; ///< of a and b
  DType result = DType::f32; ///< of y and the row; f32 where a matrix is added
  bool tf32 = false;         ///< operands of f32 may be rounded
  int64_t m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = false;
  /// Elements from one row of a matrix, as it lies in memory, to the next; 0:
  /// rows are side by side.
  int64_t pitch_a = 0, pitch_b = 0, pitch_y = 0;
  int64_t count = 1, stride_a = 0, stride_b = 0, stride_y = 0;
  float alpha = 1;
  /// Nothing; beta times matrices that lie as y does; y.
  enum class Addend { none, matrix, result } addend = Addend::none;
  float beta = 1;
  bool row = false;  ///< a row of n numbers is added, too
  bool relu = false; ///< y is cut at 0 in the end
  /// The sums of an operand over k are a result, too: of op(a) as m numbers, or
  /// of op(b) as n. Only of one product, to which nothing is done in the end.
  enum class Sums { none, a, b } sums = Sums::none;
  /// y is GELU, by tanh, of what it would be, z; the same, and z is a result,
  /// too; or z, which is an operand, says by which of GELU's slopes y is
  /// multiplied. z lies as y does and has its type. Only of one product of
  /// operands that may be rounded, or are, to which but for the row nothing is
  /// done; what is bf16 or f16 is rounded in the end.
  enum class Gelu { none, forward, forward_kept, backward } gelu = Gelu::none;
  bool has_z() const {
    return gelu == Gelu::forward_kept || gelu == Gelu::backward;
  }
  /// A matrix as it lies in memory.
  struct Stored {
    int64_t rows, columns, pitch;
    int64_t span() const { return rows * pitch; }
  };
  Stored a() const { return stored(m, k, trans_a, pitch_a); }
  Stored b() const { return stored(k, n, trans_b, pitch_b); }
  Stored y() const { return stored(m, n, false, pitch_y); }
  int64_t alignment = kAlignment; ///< bytes; all operands begin at multiples

  /// Of the buffers of a program.
  static constexpr int64_t kAlignment = 64;
  /// The same for operands that begin multiples of some bytes after a buffer.
  void begins_after(int64_t bytes) { alignment = std::gcd(alignment, bytes); }

private:
  static Stored stored(int64_t rows, int64_t columns, bool transposed,
                       int64_t pitch) {
    if (transposed)
      std::swap(rows, columns);
    return {rows, columns, pitch ? pitch : columns};
  }
};

/// The same as a word that names a problem.
std::string text_of(const GemmShape &shape);

/// What a GemmShape takes, chosen once (cuda/plans/tuner.h).
class Gemm {
public:
  /// The library and its version, which choices depend on.
  static std::string version();
  /// The library has an algorithm for it, as it has for all without sums and
  /// GELU.
  static bool exists(const GemmShape &shape);

  /// Bytes from the beginning of scratch memory that a call may take.
  static std::size_t scratch();

  explicit Gemm(const GemmShape &shape);
  ~Gemm();
  Gemm(Gemm &&) noexcept;
  /// `matrix` is the first of those that are added; `beside`: sums, in f32, or
  /// z.
  void operator()(const void *a, const void *b, const void *row,
                  const float *matrix, void *y, void *beside = nullptr) const;

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_GEMM_H
