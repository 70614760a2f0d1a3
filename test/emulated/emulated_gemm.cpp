//===- emulated_gemm.cpp - products of matrices as plain loops ------------===//
//
// There are two plans, which differ in the last bits of results, as those of
// cuBLASLt do. The second one is said to be faster, except on odd ranks.
//
//===----------------------------------------------------------------------===//
#include "cuda/matmul/gemm.h"

#include "common/elementwise/cast.h"
#include "cuda/plans/tuner.h"
#include "ffrt/cuda/device.h"
#include "ffrt/error.h"
#include "ffrt/functors.h"
#include "ffrt/mpi.h"

#include <algorithm>
#include <cuda_runtime.h>
#include <string>
#include <type_traits>
#include <vector>

namespace ffrt::cuda {

struct Gemm::Impl : Candidates {
  GemmShape shape;
  int64_t parts = 1; ///< of sums, which are rounded

  explicit Impl(const GemmShape &s) : shape(s) {
    tuner().choose(Gemm::version() + "; " + text_of(s), *this);
  }
  std::vector<std::string> names() const override {
    return {"halves", "whole"};
  }
  void take(std::size_t i) override { parts = i == 0 ? 2 : 1; }
  double seconds() override {
    return launched_rank() % 2 ? 1 / double(parts) : double(parts);
  }
};

std::string Gemm::version() { return "emulated"; }

std::size_t Gemm::scratch() { return 0; }

bool Gemm::exists(const GemmShape &shape) {
  // The library refuses some problems.
  return (shape.sums == GemmShape::Sums::none || shape.k % 2 == 0) &&
         (shape.gelu == GemmShape::Gelu::none || shape.n % 8 == 0);
}

Gemm::Gemm(const GemmShape &shape) : impl(new Impl{shape}) {}
Gemm::~Gemm() = default;
Gemm::Gemm(Gemm &&) noexcept = default;

template <class T, class Y>
static void multiply(const GemmShape &s, int64_t parts, const T *a, const T *b,
                     const Y *row, const float *matrix, Y *y, Y *z) {
  using Addend = GemmShape::Addend;
  using Gelu = GemmShape::Gelu;
  const int64_t pa = s.a().pitch, pb = s.b().pitch, py = s.y().pitch;
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = 0;
      for (int64_t part = 0; part < parts; ++part) {
        double partial = 0;
        for (int64_t k = s.k * part / parts; k < s.k * (part + 1) / parts; ++k)
          partial += double(float(a[s.trans_a ? k * pa + i : i * pa + k])) *
                     double(float(b[s.trans_b ? j * pb + k : k * pb + j]));
        sum += double(float(partial));
      }
      const int64_t at = i * py + j;
      const double before = s.addend == Addend::result ? double(float(y[at]))
                            : s.addend == Addend::matrix
                                ? double(s.beta) * double(matrix[at])
                                : 0.0;
      const double result = double(s.alpha) * sum + before +
                            (s.row ? double(float(row[j])) : 0.0);
      const float rounded = float(s.relu ? std::max(result, 0.0) : result);
      if (s.gelu == Gelu::forward_kept)
        z[at] = Y(rounded);
      y[at] = Y(s.gelu == Gelu::none ? rounded
                : s.gelu == Gelu::backward
                    ? fn::GeluTanhGradient{}(rounded, float(z[at]))
                    : fn::GeluTanh{}(rounded));
    }
}

/// Of an operand over k, which is its rows or its columns.
template <class T>
static void add_up(const T *x, const GemmShape::Stored &matrix, bool k_first,
                   float *sums) {
  const int64_t width = k_first ? matrix.columns : matrix.rows,
                k = k_first ? matrix.rows : matrix.columns;
  for (int64_t i = 0; i < width; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < k; ++j)
      sum += double(
          float(x[k_first ? j * matrix.pitch + i : i * matrix.pitch + j]));
    sums[i] = float(sum);
  }
}

void Gemm::operator()(const void *a, const void *b, const void *row,
                      const float *matrix, void *y, void *beside) const {
  const GemmShape s = impl->shape;
  const bool adds = s.addend == GemmShape::Addend::matrix;
  for (const void *operand : {a, b, static_cast<const void *>(y),
                              adds        ? static_cast<const void *>(matrix)
                              : s.has_z() ? beside
                                          : y})
    if (reinterpret_cast<uintptr_t>(operand) % uintptr_t(s.alignment) != 0)
      throw Error("gemm: expected operands at multiples of " +
                  std::to_string(s.alignment) + " bytes, found others");
  device().start_deferred();
  const int64_t parts = impl->parts;
  auto all = [=](const auto *pa, const auto *pb, const auto *prow, auto *py) {
    emulated::compute([=] {
      for (int64_t i = 0; i < s.count; ++i)
        multiply(s, parts, pa + i * s.stride_a, pb + i * s.stride_b, prow,
                 adds ? matrix + i * s.stride_y : nullptr, py + i * s.stride_y,
                 static_cast<decltype(py)>(beside));
      auto *const sums = static_cast<float *>(beside);
      if (s.sums == GemmShape::Sums::a)
        add_up(pa, s.a(), s.trans_a, sums);
      else if (s.sums == GemmShape::Sums::b)
        add_up(pb, s.b(), !s.trans_b, sums);
    });
  };
  with_float(s.operand_type, [&](const auto *operand) {
    with_float(s.result, [&](auto *result) {
      using T = decltype(operand);
      using Y = decltype(result);
      using Row = const std::remove_pointer_t<Y> *;
      all(static_cast<T>(a), static_cast<T>(b), static_cast<Row>(row),
          static_cast<Y>(y));
    });
  });
}

} // namespace ffrt::cuda
