//===- matmul_gelu.cpp - a product with GELU, or its gradient -------------===//
#include "common/matmul/matmul_gelu.h"

#include "common/elementwise/cast.h"
#include "cpu/kernels/dnnl.h"
#include "ffrt/functors.h"
#include "ffrt/parallel.h"

#include <algorithm>
#include <type_traits>

namespace ffrt {

//===----------------------------------------------------------------------===//
// Behind a product
//===----------------------------------------------------------------------===//

/// Elements that are worth a second thread.
static constexpr int64_t kGrain = 4096;

static SharedMemory &shared_sums() {
  static SharedMemory shared;
  return shared;
}

void reserve_wide_sums(std::size_t bytes) { shared_sums().reserve(bytes); }
float *wide_sums() { return static_cast<float *>(shared_sums().data()); }

void finish_gelu(const float *sum, const Tensor &c, const Tensor &z,
                 const Tensor &y) {
  with_float(y.type, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const T *const row = c.as<T>();
    T *const kept = z.as<T>(), *const to = y.as<T>();
    const int64_t columns = y.rank == 0 ? 1 : y.shape[y.rank - 1];
    parallel_for(y.elements(), kGrain, [&](int64_t begin, int64_t end) {
      // Along rows, so that a column is counted and not divided for.
      for (int64_t i = begin; i < end;) {
        const int64_t first = i % columns,
                      last = std::min(columns, first + end - i);
        for (int64_t j = first; j < last; ++j, ++i) {
          const float x = sum[i] + (row ? float(row[j]) : 0.0f);
          if (kept)
            kept[i] = T(x);
          to[i] = T(fn::GeluTanh{}(x));
        }
      }
    });
  });
}

void finish_gelu_gradient(const float *sum, const Tensor &z, const Tensor &dz) {
  with_float(dz.type, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const T *const at = z.as<T>();
    T *const to = dz.as<T>();
    parallel_for(dz.elements(), kGrain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i)
        to[i] = T(fn::GeluTanhGradient{}(sum[i], float(at[i])));
    });
  });
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

struct MatMulGelu::Impl : ProductThenGelu {
  using ProductThenGelu::ProductThenGelu;
};

MatMulGelu::MatMulGelu(Context &cx, Tensors in, Tensors out, int64_t trans_a,
                       int64_t trans_b) {
  check_matmul_gelu(in, out);
  impl = std::make_unique<Impl>(cx, in.begin(), out.begin(), trans_a, trans_b);
}

MatMulGelu::~MatMulGelu() = default;

void MatMulGelu::operator()(Tensors in, Tensors out) {
  (*impl)(in.begin(), out.begin());
}

struct MatMulGeluBackward::Impl : ProductThenGeluBackward {
  using ProductThenGeluBackward::ProductThenGeluBackward;
};

MatMulGeluBackward::MatMulGeluBackward(Context &cx, Tensors in, Tensors out,
                                       int64_t trans_a, int64_t trans_b) {
  check_matmul_gelu_backward(in, out);
  impl = std::make_unique<Impl>(cx, in.begin(), out.begin(), trans_a, trans_b);
}

MatMulGeluBackward::~MatMulGeluBackward() = default;

void MatMulGeluBackward::operator()(Tensors in, Tensors out) {
  (*impl)(in.begin(), out.begin());
}

} // namespace ffrt
