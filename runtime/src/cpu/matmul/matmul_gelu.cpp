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

/// Elements that are worth a second thread, and that are gone over at once.
static constexpr int64_t kGrain = 4096, kBlock = 4096;

static SharedMemory &shared_sums() {
  static SharedMemory shared;
  return shared;
}

void reserve_wide_sums(std::size_t bytes) { shared_sums().reserve(bytes); }
float *wide_sums() { return static_cast<float *>(shared_sums().data()); }

/// Of n neighbours in a row, all of which are in cache; what may be absent is
/// none of the loops' business.
template <class T>
static void finish(float *sum, const T *row, T *kept, T *to, int64_t n) {
  if (row) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i)
      sum[i] += float(row[i]);
  }
  if (kept) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i)
      kept[i] = T(sum[i]);
  }
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    to[i] = T(fn::GeluTanh{}(sum[i]));
}

void finish_gelu(float *sum, const Tensor &c, const Tensor &z,
                 const Tensor &y) {
  with_float(y.type, [&](auto *type) {
    using T = std::remove_pointer_t<decltype(type)>;
    const T *const row = c.as<T>();
    T *const kept = z.as<T>(), *const to = y.as<T>();
    const int64_t columns = y.rank == 0 ? 1 : y.shape[y.rank - 1];
    parallel_for(y.elements(), kGrain, [&](int64_t begin, int64_t end) {
      while (begin < end) {
        const int64_t column = begin % columns,
                      n = std::min({columns - column, end - begin, kBlock});
        finish(sum + begin, row ? row + column : nullptr,
               kept ? kept + begin : nullptr, to + begin, n);
        begin += n;
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
#pragma GCC ivdep
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
