//===- gemm_cublaslt.cpp - products of matrices by cuBLASLt ---------------===//
//
// The library's matrices are column-major: y^T = op(b)^T op(a)^T is asked for,
// whose rows are the columns of y. So a bias of the library, one number for
// every row, is a row that is added to y.
//
//===----------------------------------------------------------------------===//
#include "cuda/matmul/gemm.h"

#include "cuda/plans/plan_timer.h"
#include "cuda/plans/tuner.h"
#include "ffrt/cuda/device.h"
#include "ffrt/error.h"

#include <cublasLt.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

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

/// So many algorithms are asked for.
constexpr int kMost = 8;

cudaDataType_t type_of(DType type) {
  return type == DType::bf16  ? CUDA_R_16BF
         : type == DType::f16 ? CUDA_R_16F
                              : CUDA_R_32F;
}

/// A matrix in memory; our rows are the library's columns.
class Layout {
public:
  Layout(cudaDataType_t type, const GemmShape::Stored &matrix,
         const GemmShape &shape, int64_t stride) {
    check(cublasLtMatrixLayoutCreate(&layout, type, uint64_t(matrix.columns),
                                     uint64_t(matrix.rows), matrix.pitch),
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

class Preference {
public:
  Preference() {
    check(cublasLtMatmulPreferenceCreate(&preference),
          "cublasLtMatmulPreferenceCreate");
  }
  ~Preference() { cublasLtMatmulPreferenceDestroy(preference); }
  Preference(const Preference &) = delete;
  Preference &operator=(const Preference &) = delete;
  operator cublasLtMatmulPreference_t() const { return preference; }

  template <class T>
  void set(cublasLtMatmulPreferenceAttributes_t attribute, T value) {
    check(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value,
                                               sizeof value),
          "cublasLtMatmulPreferenceSetAttribute");
  }

private:
  cublasLtMatmulPreference_t preference = nullptr;
};

/// What is done with a sum before it is written.
cublasLtEpilogue_t epilogue_of(const GemmShape &s) {
  switch (s.gelu) {
  case GemmShape::Gelu::none:
    break;
  case GemmShape::Gelu::forward:
    return s.row ? CUBLASLT_EPILOGUE_GELU_BIAS : CUBLASLT_EPILOGUE_GELU;
  case GemmShape::Gelu::forward_kept:
    return s.row ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
  case GemmShape::Gelu::backward:
    return CUBLASLT_EPILOGUE_DGELU;
  }
  // The library's first operand is b.
  if (s.sums != GemmShape::Sums::none)
    return s.sums == GemmShape::Sums::b ? CUBLASLT_EPILOGUE_BGRADA
                                        : CUBLASLT_EPILOGUE_BGRADB;
  if (s.row)
    return s.relu ? CUBLASLT_EPILOGUE_RELU_BIAS : CUBLASLT_EPILOGUE_BIAS;
  return s.relu ? CUBLASLT_EPILOGUE_RELU : CUBLASLT_EPILOGUE_DEFAULT;
}

/// What distinguishes an algorithm.
std::string name_of(const cublasLtMatmulAlgo_t &algorithm) {
  std::string name;
  for (const auto &[word, attribute] :
       {std::pair("algorithm ", CUBLASLT_ALGO_CONFIG_ID),
        std::pair(" tile ", CUBLASLT_ALGO_CONFIG_TILE_ID),
        std::pair(" stages ", CUBLASLT_ALGO_CONFIG_STAGES_ID),
        std::pair(" parts ", CUBLASLT_ALGO_CONFIG_SPLITK_NUM),
        std::pair(" reduction ", CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME),
        std::pair(" swizzle ", CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING),
        std::pair(" option ", CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION),
        std::pair(" inner ", CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID),
        std::pair(" cluster ", CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID)}) {
    // Some are of two bytes, and not every algorithm has all.
    uint32_t value = 0;
    std::size_t size = 0;
    if (cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, nullptr, 0,
                                             &size) == CUBLAS_STATUS_SUCCESS &&
        size <= sizeof value &&
        cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value,
                                             size,
                                             &size) == CUBLAS_STATUS_SUCCESS)
      name += word + std::to_string(value);
  }
  return name;
}

} // namespace

struct Gemm::Impl {
  GemmShape shape;
  Layout a, b, y;
  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatmulAlgo_t chosen{};

  explicit Impl(const GemmShape &s)
      : shape(s), a(type_of(s.operand_type), s.a(), s, s.stride_a),
        b(type_of(s.operand_type), s.b(), s, s.stride_b),
        y(type_of(s.result), s.y(), s, s.stride_y) {
    check(cublasLtMatmulDescCreate(&product,
                                   s.tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32
                                          : CUBLAS_COMPUTE_32F,
                                   CUDA_R_32F),
          "cublasLtMatmulDescCreate");
    set(CUBLASLT_MATMUL_DESC_TRANSA, s.trans_b ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_TRANSB, s.trans_a ? CUBLAS_OP_T : CUBLAS_OP_N);
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(s));
    // Algorithms are proposed for pointers of this alignment.
    void *const aligned = reinterpret_cast<void *>(s.alignment);
    if (s.row || s.sums != GemmShape::Sums::none)
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, aligned);
    if (s.has_z()) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, s.n);
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, aligned);
    }
    device().reserve(kWorkspace);
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

  void run(const void *pa, const void *pb, const void *row, const float *matrix,
           void *py, void *beside) {
    using Addend = GemmShape::Addend;
    // It has the type of y. What the gradient of a bias is written to has the
    // same name.
    if (shape.row)
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, row);
    else if (shape.sums != GemmShape::Sums::none)
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, beside);
    if (shape.has_z())
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, beside);
    const float beta = shape.addend == Addend::matrix   ? shape.beta
                       : shape.addend == Addend::result ? 1.0f
                                                        : 0.0f;
    const void *c = shape.addend == Addend::matrix ? matrix : py;
    check(cublasLtMatmul(library(), product, &shape.alpha, pb, b, pa, a, &beta,
                         c, y, py, y, &chosen, device().scratch<void>(),
                         kWorkspace, device().stream()),
          "cublasLtMatmul");
  }

  /// The library's proposals. For what it cannot do it has none, or calls an
  /// argument wrong.
  std::vector<cublasLtMatmulAlgo_t> algorithms() {
    Preference preference;
    preference.set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                   uint64_t(kWorkspace));
    // Parts of sums that are added up where y is might come in any order, and
    // those of the type of a bf16 or f16 y are rounded.
    uint32_t refused = CUBLASLT_REDUCTION_SCHEME_INPLACE;
    if (shape.result != DType::f32)
      refused |= CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
    preference.set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
                   CUBLASLT_REDUCTION_SCHEME_MASK & ~refused);
    for (auto attribute : {CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES,
                           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES,
                           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES,
                           CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES})
      preference.set(attribute, uint32_t(shape.alignment));
    cublasLtMatmulHeuristicResult_t results[kMost]{};
    int found = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        library(), product, b, a, y, y, preference, kMost, results, &found);
    if (status == CUBLAS_STATUS_NOT_SUPPORTED ||
        status == CUBLAS_STATUS_INVALID_VALUE)
      return {};
    check(status, "cublasLtMatmulAlgoGetHeuristic");
    std::vector<cublasLtMatmulAlgo_t> list;
    for (int i = 0; i < found; ++i)
      if (results[i].state == CUBLAS_STATUS_SUCCESS)
        list.push_back(results[i].algo);
    return list;
  }

  void choose();
};

namespace {

/// Bytes from the first to the last of `count` matrices.
std::size_t extent(const GemmShape &s, int64_t elements, int64_t stride,
                   DType type) {
  return std::size_t(elements + (s.count - 1) * stride) * size_of(type);
}

} // namespace

void Gemm::Impl::choose() {
  class Algorithms : public Candidates {
  public:
    explicit Algorithms(Impl &gemm) : gemm(gemm), list(gemm.algorithms()) {}
    std::vector<std::string> names() const override {
      std::vector<std::string> result;
      for (const cublasLtMatmulAlgo_t &algorithm : list)
        result.push_back(name_of(algorithm));
      return result;
    }
    void take(std::size_t i) override { gemm.chosen = list[i]; }
    double seconds() override {
      const GemmShape &s = gemm.shape;
      if (!y) {
        a = operands.add(extent(s, s.a().span(), s.stride_a, s.operand_type));
        b = operands.add(extent(s, s.b().span(), s.stride_b, s.operand_type));
        c = operands.add(extent(s, s.y().span(), s.stride_y, s.result));
        y = operands.add(extent(s, s.y().span(), s.stride_y, s.result));
        beside = operands.add(
            s.has_z() ? extent(s, s.y().span(), s.stride_y, s.result)
                      : std::size_t(std::max(s.m, s.n)) * sizeof(float));
      }
      return seconds_of(
          [&] { gemm.run(a, b, c, static_cast<float *>(c), y, beside); });
    }

  private:
    Impl &gemm;
    const std::vector<cublasLtMatmulAlgo_t> list;
    TimedOperands operands;
    void *a = nullptr, *b = nullptr, *c = nullptr, *y = nullptr,
         *beside = nullptr;
  };
  const std::string problem = text_of(shape);
  Algorithms algorithms(*this);
  try {
    tuner().choose(Gemm::version() + "; " + problem, algorithms);
  } catch (const Error &error) {
    throw Error("matmul: expected an algorithm of cuBLASLt for " + problem +
                ", found none (" + error.what() + ")");
  }
}

std::string Gemm::version() {
  return "cuBLASLt " + std::to_string(cublasLtGetVersion());
}

std::size_t Gemm::scratch() { return kWorkspace; }

bool Gemm::exists(const GemmShape &shape) {
  // z, of the type of y, is refused where its rows are not multiples of 8.
  if (shape.has_z() && shape.n % 8 != 0)
    return false;
  return !Impl(shape).algorithms().empty();
}

Gemm::Gemm(const GemmShape &shape) : impl(std::make_unique<Impl>(shape)) {
  impl->choose();
}
Gemm::~Gemm() = default;
Gemm::Gemm(Gemm &&) noexcept = default;

void Gemm::operator()(const void *a, const void *b, const void *row,
                      const float *matrix, void *y, void *beside) const {
  impl->run(a, b, row, matrix, y, beside);
}

} // namespace ffrt::cuda
