//===- products.cu - matrix products of cuBLASLt and their epilogues ------===//
//
// The first algorithm that the library proposes and the fastest of eight; then
// products with bias, activation and their gradients in one, against a product
// followed by kernels.
//
//===----------------------------------------------------------------------===//
#include "measure.h"

#include <cublasLt.h>
#include <cuda_bf16.h>
#include <string>

namespace {

constexpr std::size_t kWorkspace = std::size_t(32) << 20;

cublasLtHandle_t library() {
  static cublasLtHandle_t handle = [] {
    cublasLtHandle_t made = nullptr;
    CHECK(cublasLtCreate(&made));
    return made;
  }();
  return handle;
}

struct Type {
  const char *name;
  cudaDataType_t data;
  cublasComputeType_t compute;
  std::size_t bytes;
};
constexpr Type kTypes[] = {
    {"f32", CUDA_R_32F, CUBLAS_COMPUTE_32F, 4},
    {"tf32", CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32, 4},
    {"bf16", CUDA_R_16BF, CUBLAS_COMPUTE_32F, 2},
    {"fp16", CUDA_R_16F, CUBLAS_COMPUTE_32F, 2},
};
constexpr Type kTf32 = kTypes[1], kBf16 = kTypes[2];

/// x [m, k] times w [k, n], row-major; to the library the transposed product of
/// column-major matrices.
class Product {
public:
  Product(const Type &type, int64_t m, int64_t n, int64_t k)
      : x(std::size_t(m * k) * type.bytes), w(std::size_t(k * n) * type.bytes),
        y(std::size_t(m * n) * type.bytes),
        extra(std::size_t(m * n) * type.bytes), bias(std::size_t(n) * 4),
        workspace(kWorkspace) {
    CHECK(cublasLtMatrixLayoutCreate(&layout_w, type.data, n, k, n));
    CHECK(cublasLtMatrixLayoutCreate(&layout_x, type.data, k, m, k));
    CHECK(cublasLtMatrixLayoutCreate(&layout_y, type.data, n, m, n));
    CHECK(cublasLtMatmulDescCreate(&product, type.compute, CUDA_R_32F));
  }
  ~Product() {
    cublasLtMatmulDescDestroy(product);
    for (cublasLtMatrixLayout_t layout : {layout_w, layout_x, layout_y})
      cublasLtMatrixLayoutDestroy(layout);
  }

  /// With what the library does after the product. `aux` is the kind of what it
  /// keeps for the gradient, or takes from there: none, values or bits.
  void set_epilogue(cublasLtEpilogue_t epilogue, bool has_bias, int64_t aux) {
    set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue);
    if (has_bias)
      set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, bias.as<void>());
    if (aux > 0) {
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, extra.as<void>());
      set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, aux);
    }
  }

  /// Times of the first algorithm that works and of the fastest; false: there
  /// is none.
  bool run(Times &first, Times &best) {
    cublasLtMatmulPreference_t preference = nullptr;
    CHECK(cublasLtMatmulPreferenceCreate(&preference));
    CHECK(cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace,
        sizeof kWorkspace));
    constexpr int kMost = 8;
    cublasLtMatmulHeuristicResult_t found[kMost];
    int count = 0;
    const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
        library(), product, layout_w, layout_x, layout_y, layout_y, preference,
        kMost, found, &count);
    cublasLtMatmulPreferenceDestroy(preference);
    if (status != CUBLAS_STATUS_SUCCESS || count == 0)
      return false;
    bool any = false;
    for (int i = 0; i < count; ++i) {
      if (start(found[i].algo) != CUBLAS_STATUS_SUCCESS)
        continue;
      const Times times = measure([&] { CHECK(start(found[i].algo)); });
      if (!any)
        first = best = times;
      any = true;
      if (times.median < best.median)
        best = times;
    }
    return any;
  }

  Buffer x, w, y, extra, bias, workspace;

private:
  template <class T> void set(cublasLtMatmulDescAttributes_t what, T value) {
    CHECK(cublasLtMatmulDescSetAttribute(product, what, &value, sizeof value));
  }
  cublasStatus_t start(const cublasLtMatmulAlgo_t &algorithm) {
    const float one = 1, zero = 0;
    return cublasLtMatmul(library(), product, &one, w.as<void>(), layout_w,
                          x.as<void>(), layout_x, &zero, y.as<void>(), layout_y,
                          y.as<void>(), layout_y, &algorithm,
                          workspace.as<void>(), kWorkspace, nullptr);
  }

  cublasLtMatmulDesc_t product = nullptr;
  cublasLtMatrixLayout_t layout_w = nullptr, layout_x = nullptr,
                         layout_y = nullptr;
};

struct Shape {
  const char *name;
  int64_t m, n, k;
};
constexpr Shape kShapes[] = {
    {"square", 8192, 8192, 8192},
    {"gpt2 qkv", 8192, 2304, 768},
    {"gpt2 proj", 8192, 768, 768},
    {"gpt2 fc1", 8192, 3072, 768},
    {"gpt2 fc2", 8192, 768, 3072},
    {"gpt2 head", 8192, 50304, 768},
    {"dlrm top", 2048, 1024, 1024},
    {"mlp", 512, 2048, 2048},
    // Rows that do not begin at multiples of 16 bytes.
    {"gpt2 head, odd", 8192, 50257, 768},
    {"gpt2 head gradient", 8192, 768, 50304},
    {"gpt2 head gradient, odd", 8192, 768, 50257},
};

void products() {
  for (const Type &type : kTypes)
    for (const Shape &s : kShapes) {
      Product product(type, s.m, s.n, s.k);
      Times first{}, best{};
      if (!product.run(first, best))
        continue;
      const double flops = 2.0 * double(s.m) * double(s.n) * double(s.k);
      std::printf("{\"what\": \"product\", \"type\": \"%s\", \"shape\": "
                  "\"%s\", \"m\": %lld, \"n\": %lld, \"k\": %lld, "
                  "\"first_ms\": %.5f, \"best_ms\": %.5f, \"tflop_per_s\": "
                  "%.1f}\n",
                  type.name, s.name, (long long)s.m, (long long)s.n,
                  (long long)s.k, first.median, best.median,
                  flops / best.median / 1e9);
    }
}

//===----------------------------------------------------------------------===//
// Epilogues
//===----------------------------------------------------------------------===//

/// Gradients with that of the bias; `gelu_slope` is without.
enum class After { bias, relu, gelu, relu_gradient, gelu_gradient, gelu_slope };

template <After Kind>
constexpr bool kReadsExtra =
    Kind == After::relu_gradient || Kind == After::gelu_gradient ||
    Kind == After::gelu_slope;

__device__ float2 wide(float2 v) { return v; }
__device__ float2 wide(__nv_bfloat162 v) { return __bfloat1622float2(v); }
__device__ void store(float2 &to, float a, float b) { to = {a, b}; }
__device__ void store(__nv_bfloat162 &to, float a, float b) {
  to = __floats2bfloat162_rn(a, b);
}

/// What follows a product, as a kernel of its own: two elements a thread.
template <After Kind, class Pair>
__global__ void follow(Pair *y, Pair *extra, const Pair *bias, int64_t n,
                       int64_t columns) {
  const int64_t i = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (i >= n)
    return;
  float2 v = wide(y[i]);
  if constexpr (kReadsExtra<Kind>) {
    const float2 x = wide(extra[i]);
    auto slope = [](float a) {
      if (Kind == After::relu_gradient)
        return a > 0 ? 1.0f : 0.0f;
      const float t = tanhf(0.79788456f * (a + 0.044715f * a * a * a));
      return 0.5f * (1 + t) +
             0.5f * a * (1 - t * t) * 0.79788456f * (1 + 0.134145f * a * a);
    };
    store(y[i], v.x * slope(x.x), v.y * slope(x.y));
    return;
  }
  const float2 b = wide(bias[i % columns]);
  v = {v.x + b.x, v.y + b.y};
  if constexpr (Kind != After::bias)
    store(extra[i], v.x, v.y);
  auto bend = [](float a) {
    if (Kind == After::relu)
      return a > 0 ? a : 0.0f;
    if (Kind == After::gelu)
      return 0.5f * a * (1 + tanhf(0.79788456f * (a + 0.044715f * a * a * a)));
    return a;
  };
  store(y[i], bend(v.x), bend(v.y));
}

/// The sum of every column: the gradient of a bias.
__global__ void sum_rows(const __nv_bfloat16 *y, float *sums, int64_t rows,
                         int64_t columns) {
  const int64_t column = blockIdx.x * int64_t(blockDim.x) + threadIdx.x;
  if (column >= columns)
    return;
  const int64_t begin = rows * blockIdx.y / gridDim.y;
  const int64_t end = rows * (blockIdx.y + 1) / gridDim.y;
  float sum = 0;
  for (int64_t row = begin; row < end; ++row)
    sum += float(y[row * columns + column]);
  atomicAdd(sums + column, sum);
}

template <After Kind, class Pair = __nv_bfloat162>
void epilogue(const char *name, const Shape &s, cublasLtEpilogue_t fused,
              const Type &type = kBf16) {
  const bool has_bias = Kind != After::gelu_slope;
  const bool bits = Kind == After::relu || Kind == After::relu_gradient;
  Times plain_first{}, plain{}, fused_first{}, together{};
  Product apart(type, s.m, s.n, s.k), one(type, s.m, s.n, s.k);
  // Bits lie in rows of a multiple of 128.
  const int64_t aux = Kind == After::bias ? 0
                      : bits              ? (s.n + 127) / 128 * 128
                                          : s.n;
  one.set_epilogue(fused, has_bias, aux);
  if (!apart.run(plain_first, plain))
    return;
  const bool has_fused = one.run(fused_first, together);
  constexpr int kThreads = 256;
  const int64_t pairs = s.m * s.n / 2;
  const Times after = measure([&] {
    follow<Kind><<<unsigned((pairs + kThreads - 1) / kThreads), kThreads>>>(
        apart.y.as<Pair>(), apart.extra.as<Pair>(), apart.bias.as<Pair>(),
        pairs, s.n / 2);
    if (has_bias && kReadsExtra<Kind>)
      sum_rows<<<dim3(unsigned((s.n + kThreads - 1) / kThreads), 32),
                 kThreads>>>(apart.y.as<__nv_bfloat16>(),
                             apart.bias.as<float>(), s.m, s.n);
  });
  CHECK(cudaGetLastError());
  std::printf("{\"what\": \"epilogue\", \"type\": \"%s\", \"name\": \"%s\", "
              "\"shape\": \"%s\", \"product_ms\": %.5f, \"after_ms\": %.5f, "
              "\"fused_ms\": ",
              type.name, name, s.name, plain.median, after.median);
  if (has_fused)
    std::printf("%.5f}\n", together.median);
  else
    std::puts("null}");
}

} // namespace

int main() {
  products();
  for (const Shape &s : kShapes) {
    epilogue<After::bias>("bias", s, CUBLASLT_EPILOGUE_BIAS);
    epilogue<After::relu>("bias, ReLU", s, CUBLASLT_EPILOGUE_RELU_AUX_BIAS);
    epilogue<After::gelu>("bias, GELU", s, CUBLASLT_EPILOGUE_GELU_AUX_BIAS);
    epilogue<After::relu_gradient>("ReLU and bias gradients", s,
                                   CUBLASLT_EPILOGUE_DRELU_BGRAD);
    epilogue<After::gelu_gradient>("GELU and bias gradients", s,
                                   CUBLASLT_EPILOGUE_DGELU_BGRAD);
    epilogue<After::gelu, float2>("bias, GELU", s,
                                  CUBLASLT_EPILOGUE_GELU_AUX_BIAS, kTf32);
    epilogue<After::gelu_slope, float2>("GELU gradient", s,
                                        CUBLASLT_EPILOGUE_DGELU, kTf32);
  }
  return 0;
}
