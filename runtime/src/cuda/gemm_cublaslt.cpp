//===- gemm_cublaslt.cpp - products of matrices by cuBLASLt ---------------===//
//
// The library's matrices are column-major: y^T = op(b)^T op(a)^T is asked for,
// whose rows are the columns of y. So a bias of the library, one number for
// every row, is a row that is added to y.
//
//===----------------------------------------------------------------------===//
#include "cuda/gemm.h"

#include "ffrt/cuda/device.h"
#include "ffrt/error.h"

#include <cublasLt.h>

#include <algorithm>
#include <string>

namespace ffrt::cuda {

namespace {

void check(cublasStatus_t status, const char *what) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw Error(std::string(what) + ": " + cublasLtGetStatusString(status));
}

cublasLtHandle_t library() {
  static const cublasLtHandle_t handle = [] {
    cublasLtHandle_t made = nullptr;
    check(cublasLtCreate(&made), "cublasLtCreate");
    return made;
  }();
  return handle;
}

/// What the library may use beside the matrices: enough for every algorithm on
/// the GPUs of 2022 and later (32 MiB, cuBLAS documentation,
/// cublasSetWorkspace).
constexpr std::size_t kWorkspace = std::size_t(32) << 20;

cudaDataType_t type_of(DType type) {
  return type == DType::bf16 ? CUDA_R_16BF : CUDA_R_32F;
}

/// A matrix in memory, of `rows` contiguous elements and `columns` columns.
class Layout {
public:
  Layout(cudaDataType_t type, int64_t rows, int64_t columns,
         const GemmShape &shape, int64_t stride) {
    check(cublasLtMatrixLayoutCreate(&layout, type, uint64_t(rows),
                                     uint64_t(columns), rows),
          "cublasLtMatrixLayoutCreate");
    const int32_t count = int32_t(shape.count);
    set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, count);
    set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, stride);
  }
  ~Layout() { cublasLtMatrixLayoutDestroy(layout); }
  Layout(const Layout &) = delete;
  Layout &operator=(const Layout &) = delete;
  operator cublasLtMatrixLayout_t() const { return layout; }

private:
  template <class T>
  void set(cublasLtMatrixLayoutAttribute_t attribute, T value) {
    check(cublasLtMatrixLayoutSetAttribute(layout, attribute, &value,
                                           sizeof value),
          "cublasLtMatrixLayoutSetAttribute");
  }
  cublasLtMatrixLayout_t layout = nullptr;
};

} // namespace

struct Gemm::Impl {
  GemmShape shape;
  Layout a, b, y;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatmulHeuristicResult_t chosen{};

  explicit Impl(const GemmShape &s)
      : shape(s), a(type_of(s.factors), s.trans_a ? s.m : s.k,
                    s.trans_a ? s.k : s.m, s, s.stride_a),
        b(type_of(s.factors), s.trans_b ? s.k : s.n, s.trans_b ? s.n : s.k, s,
          s.stride_b),
        y(CUDA_R_32F, s.n, s.m, s, s.stride_y) {
    check(cublasLtMatmulDescCreate(&product,
                                   s.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                          : CUBLAS_COMPUTE_32F,
                                   CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    // The library's first factor is b.
    set(CUBLASLT_MATMUL_DESC_TRANSA, s.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, s.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    if (s.addend == GemmShape::Addend::row)
      set(CUBLASLT_MATMUL_DESC_EPILOGUE, CUBLASLT_EPILOGUE_BIAS);
    device().reserve(kWorkspace);
    choose();
  }
  ~Impl() { cublasLtMatmulDescDestroy(product); }
  Impl(const Impl &) = delete;
  Impl &operator=(const Impl &) = delete;

  template <class T>
  void set(cublasLtMatmulDescAttributes_t attribute, T value) {
    check(cublasLtMatmulDescSetAttribute(product, attribute, &value,
                                         sizeof value),
          "cublasLtMatmulDescSetAttribute");
  }

  void choose() {
    cublasLtMatmulPreference_t preference = nullptr;
    check(cublasLtMatmulPreferenceCreate(&preference),
          "cublasLtMatmulPreferenceCreate");
    check(cublasLtMatmulPreferenceSetAttribute(
              preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
              sizeof kWorkspace),
          "cublasLtMatmulPreferenceSetAttribute");
    for (auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES}) {
      const uint32_t bytes = uint32_t(shape.alignment);
      check(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &bytes,
                                                 sizeof bytes),
            "cublasLtMatmulPreferenceSetAttribute");
    }
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        library(), product, b, a, y, y, preference, 1, &chosen, &found);
    cublasLtMatmulPreferenceDestroy(preference);
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    if (found == 0)
      throw Error("matmul: expected an algorithm of cuBLASLt for " +
                  std::to_string(shape.m) + " x " + std::to_string(shape.n) +
                  " x " + std::to_string(shape.k) + ", found none");
  }
};

Gemm::Gemm(const GemmShape &shape) : impl(std::make_unique<Impl>(shape)) {}
Gemm::~Gemm() = default;
Gemm::Gemm(Gemm &&) noexcept = default;

void Gemm::operator()(const void *a, const void *b, const float *row,
                      float *y) const {
  const float beta = impl->shape.addend == GemmShape::Addend::result ? 1 : 0;
  if (impl->shape.addend == GemmShape::Addend::row)
    impl->set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, row);
  check(cublasLtMatmul(library(), impl->product, &impl->shape.alpha, b, impl->b,
                       a, impl->a, &beta, y, impl->y, y, impl->y,
                       &impl->chosen.algo, device().scratch<void>(), kWorkspace,
                       device().stream()),
        "cublasLtMatmul");
}

} // namespace ffrt::cuda
