//===- emulated_gemm.cpp - products of matrices as plain loops ------------===//
#include "cuda/gemm.h"

#include "ffrt/bfloat16.h"
#include "ffrt/cuda/device.h"
#include "ffrt/error.h"

#include <cuda_runtime.h>
#include <string>

namespace ffrt::cuda {

struct Gemm::Impl {
  GemmShape shape;
};

Gemm::Gemm(const GemmShape &shape) : impl(new Impl{shape}) {}
Gemm::~Gemm() = default;
Gemm::Gemm(Gemm &&) noexcept = default;

template <class T>
static void multiply(const GemmShape &s, const T *a, const T *b,
                     const float *row, float *y) {
  for (int64_t i = 0; i < s.m; ++i)
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = 0;
      for (int64_t k = 0; k < s.k; ++k)
        sum += double(float(a[s.trans_a ? k * s.m + i : i * s.k + k])) *
               double(float(b[s.trans_b ? j * s.k + k : k * s.n + j]));
      float &to = y[i * s.n + j];
      const double before = s.addend == GemmShape::Addend::result ? to
                            : s.addend == GemmShape::Addend::row  ? row[j]
                                                                  : 0.0;
      to = float(double(s.alpha) * sum + before);
    }
}

void Gemm::operator()(const void *a, const void *b, const float *row,
                      float *y) const {
  const GemmShape s = impl->shape;
  for (const void *operand : {a, b, static_cast<const void *>(y)})
    if (reinterpret_cast<uintptr_t>(operand) % uintptr_t(s.alignment) != 0)
      throw Error("gemm: expected operands at multiples of " +
                  std::to_string(s.alignment) + " bytes, found others");
  device().start_deferred();
  auto all = [=](const auto *pa, const auto *pb) {
    emulated::compute([=] {
      for (int64_t i = 0; i < s.count; ++i)
        multiply(s, pa + i * s.stride_a, pb + i * s.stride_b, row,
                 y + i * s.stride_y);
    });
  };
  if (s.factors == DType::bf16)
    all(static_cast<const BFloat16 *>(a), static_cast<const BFloat16 *>(b));
  else
    all(static_cast<const float *>(a), static_cast<const float *>(b));
}

} // namespace ffrt::cuda
