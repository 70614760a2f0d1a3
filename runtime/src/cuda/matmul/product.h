//===- product.h - a product, of padded copies if faster --------*- C++ -*-===//
//
//
// Tensor cores are fed with rows that begin at multiples of 16 bytes. Where an
// extent is odd, as many vocabularies are, the library has but slow algorithms;
// copies whose extents are rounded up may be worth their time.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CUDA_PRODUCT_H
#define FFRT_CUDA_PRODUCT_H

#include "cuda/matmul/gemm.h"

#include <cstddef>
#include <optional>

namespace ffrt::cuda {

/// A matrix in memory, and a copy with more rows, or with rows that are further
/// apart.
struct PaddedMatrix {
  int64_t rows, columns, pitch, padded_rows, padded_pitch;
  std::size_t element; ///< bytes: 2 or 4
  std::size_t at = 0;  ///< where in scratch memory the copy is

  PaddedMatrix(const GemmShape::Stored &given, const GemmShape::Stored &padded,
               std::size_t element)
      : rows(given.rows), columns(given.columns), pitch(given.pitch),
        padded_rows(padded.rows), padded_pitch(padded.pitch), element(element) {
  }
  bool is_padded() const {
    return padded_rows != rows || padded_pitch != pitch;
  }
  std::size_t bytes() const {
    return std::size_t(padded_rows * padded_pitch) * element;
  }
  /// The copy, with zeros in what is added; or what is given.
  const void *read(const void *given, char *scratch) const;
  /// Where the result is written to before write().
  void *place(void *given, char *scratch) const {
    return is_padded() ? scratch + at : given;
  }
  /// What is not padding goes to where it belongs, with rows side by side.
  void write(void *given, char *scratch) const;
};

/// What Gemm does without sums and GELU.
class Product {
public:
  /// Chooses (cuda/plans/tuner.h); without measuring, the product as it is.
  /// Copies take scratch memory from `scratch_at` on.
  Product(const GemmShape &shape, std::size_t scratch_at);

  void operator()(const void *a, const void *b, const void *row,
                  const float *matrix, void *y) const;

private:
  class Choice;

  /// A product of copies.
  struct Padded {
    PaddedMatrix a, b, row, y;
    std::size_t bytes = 0; ///< of all copies
    Gemm product;

    Padded(const GemmShape &given, const GemmShape &padded);
    void operator()(const void *a, const void *b, const void *row,
                    const float *matrix, void *y, char *scratch) const;
  };

  std::size_t scratch_at;
  std::optional<Gemm> plain;
  std::optional<Padded> padded; ///< instead
};

} // namespace ffrt::cuda

#endif // FFRT_CUDA_PRODUCT_H
