//===- matmul_gelu.cu - a product with GELU, or its gradient --------------===//
#include "common/matmul/matmul_gelu.h"

#include "common/elementwise/cast.h"
#include "cuda/matmul/product_algorithms.h"
#include "ffrt/cuda/launch.h"
#include "ffrt/functors.h"

#include <type_traits>

namespace ffrt {

using cuda::Gemm;
using cuda::GemmShape;

//===----------------------------------------------------------------------===//
// Behind a product of our own
//===----------------------------------------------------------------------===//

namespace {
/// Memory of the device that grows while kernels are made.
class WideSums {
public:
  static WideSums &of_process() {
    cuda::device(); // which goes last
    static WideSums only;
    return only;
  }
  void reserve(std::size_t bytes) {
    if (bytes <= size)
      return;
    cuda::device().finish();
    memory.reset();
    size = 0;
    memory.emplace(bytes);
    size = bytes;
  }
  float *data() const { return memory->as<float>(); }

private:
  std::optional<cuda::DeviceMemory> memory;
  std::size_t size = 0;
};
} // namespace

void reserve_wide_sums(std::size_t bytes) {
  WideSums::of_process().reserve(bytes);
}
float *wide_sums() { return WideSums::of_process().data(); }

template <class T>
static void finish(const float *sum, const Tensor &c, const Tensor &z,
                   const Tensor &y) {
  const T *const row = c.as<T>();
  T *const kept = z.as<T>(), *const to = y.as<T>();
  const int64_t columns = y.rank == 0 ? 1 : y.shape[y.rank - 1];
  cuda::for_elements(
      y.elements(), FFRT_LAMBDA(int64_t i) {
        const float x = sum[i] + (row ? float(row[i % columns]) : 0.0f);
        if (kept) {
          kept[i] = T(x);
        }
        to[i] = T(fn::GeluTanh{}(x));
      });
}

void finish_gelu(float *sum, const Tensor &c, const Tensor &z,
                 const Tensor &y) {
  with_float(y.type, [&](auto *type) {
    finish<std::remove_pointer_t<decltype(type)>>(sum, c, z, y);
  });
}

template <class T>
static void finish_gradient(const float *sum, const Tensor &z,
                            const Tensor &dz) {
  const T *const at = z.as<T>();
  T *const to = dz.as<T>();
  cuda::for_elements(
      dz.elements(), FFRT_LAMBDA(int64_t i) {
        to[i] = T(fn::GeluTanhGradient{}(sum[i], float(at[i])));
      });
}

void finish_gelu_gradient(const float *sum, const Tensor &z, const Tensor &dz) {
  with_float(dz.type, [&](auto *type) {
    finish_gradient<std::remove_pointer_t<decltype(type)>>(sum, z, dz);
  });
}

//===----------------------------------------------------------------------===//
// In the library
//===----------------------------------------------------------------------===//

/// The product, whose sums go to `y`. The library's GELU is not exact in f32.
static std::optional<GemmShape> gelu_shape(const Context &cx, Tensors in,
                                           const Tensor &y,
                                           GemmShape::Gelu gelu,
                                           int64_t trans_a, int64_t trans_b) {
  const bool is_rounded = cx.tf32 || is_low_precision(y.type);
  if (!is_rounded)
    return std::nullopt;
  auto shape = cuda::product_shape(cx, in.begin()[0], in.begin()[1], y, trans_a,
                                   trans_b);
  if (shape) {
    shape->result = y.type;
    shape->gelu = gelu;
  }
  return shape;
}

//===----------------------------------------------------------------------===//
// MatMulGelu
//===----------------------------------------------------------------------===//

struct MatMulGelu::Impl : cuda::ProductAlgorithms<ProductThenGelu> {
  using ProductAlgorithms::ProductAlgorithms;
};

static void call_for_gelu(const Gemm &gemm, const Tensor *in,
                          const Tensor *out) {
  gemm(in[0].data, in[1].data, in[2].data, nullptr, out[1].data, out[0].data);
}

MatMulGelu::MatMulGelu(Context &cx, Tensors in, Tensors out, int64_t trans_a,
                       int64_t trans_b) {
  check_matmul_gelu(in, out);
  const bool keeps = out.begin()[0].data != nullptr;
  auto shape = gelu_shape(cx, in, out.begin()[1],
                          keeps ? GemmShape::Gelu::forward_kept
                                : GemmShape::Gelu::forward,
                          trans_a, trans_b);
  if (shape)
    shape->row = in.begin()[2].data != nullptr;
  impl = std::make_unique<Impl>(shape, call_for_gelu, cx, in, out, trans_a,
                                trans_b);
}

MatMulGelu::~MatMulGelu() = default;

void MatMulGelu::operator()(Tensors in, Tensors out) {
  (*impl)(in.begin(), out.begin());
}

//===----------------------------------------------------------------------===//
// MatMulGeluBackward
//===----------------------------------------------------------------------===//

struct MatMulGeluBackward::Impl
    : cuda::ProductAlgorithms<ProductThenGeluBackward> {
  using ProductAlgorithms::ProductAlgorithms;
};

static void call_for_gradient(const Gemm &gemm, const Tensor *in,
                              const Tensor *out) {
  gemm(in[0].data, in[1].data, nullptr, nullptr, out[0].data, in[2].data);
}

MatMulGeluBackward::MatMulGeluBackward(Context &cx, Tensors in, Tensors out,
                                       int64_t trans_a, int64_t trans_b) {
  check_matmul_gelu_backward(in, out);
  const auto shape = gelu_shape(cx, in, out.begin()[0],
                                GemmShape::Gelu::backward, trans_a, trans_b);
  impl = std::make_unique<Impl>(shape, call_for_gradient, cx, in, out, trans_a,
                                trans_b);
}

MatMulGeluBackward::~MatMulGeluBackward() = default;

void MatMulGeluBackward::operator()(Tensors in, Tensors out) {
  (*impl)(in.begin(), out.begin());
}

} // namespace ffrt
