//===- matmul.cu - matrix product -----------------------------------------===//
//
// The innermost batch dimension of the result goes to the library, the others
// are a loop of calls. The library adds rows and whole matrices, too.
//
//===----------------------------------------------------------------------===//
#include "ffrt/matmul.h"

#include "common/matmul_geometry.h"
#include "cuda/gemm.h"
#include "cuda/walk.h"
#include "ffrt/cuda/launch.h"

#include <algorithm>
#include <optional>

namespace ffrt {

using cuda::Gemm;
using cuda::GemmShape;

/// y = scale * c, broadcast.
static void fill_with(const Tensor &y, const Tensor &c, float scale) {
  const cuda::Walk<2> walk(
      Nest<2>(y.rank, y.shape, {y.strides(), addend_strides(c, y.rank)}));
  const float *from = c.as<float>();
  float *to = y.as<float>();
  cuda::for_elements(
      walk.elements, FFRT_LAMBDA(int64_t i) {
        const auto at = walk(i);
        to[at[0]] = scale * from[at[1]];
      });
}

/// Does `c` lie as y does, not broadcast?
static bool is_whole(const Tensor &c, const Tensor &y) {
  return c.rank == y.rank &&
         std::equal(c.shape.v, c.shape.v + c.rank, y.shape.v);
}

struct MatMul::Impl {
  using Addend = GemmShape::Addend;

  MatMulGeometry geometry;
  std::size_t loops; ///< outermost dimensions of the batch, one call each
  std::optional<Gemm> first, more; ///< y = product, y += product
  Addend addend = Addend::none;    ///< of the first product
  float beta;
  int64_t factor_size;

  Impl(const Context &cx, const Tensor &a, const Tensor &b, const Tensor &c,
       const Tensor &y, float alpha, float beta, bool trans_a, bool trans_b)
      : geometry(a, b, y, trans_a, trans_b), beta(beta),
        factor_size(int64_t(size_of(a.type))) {
    const MatMulGeometry &g = geometry;
    GemmShape shape;
    shape.factors = a.type;
    shape.tf32 = cx.tf32 && a.type == DType::f32;
    shape.m = g.m;
    shape.n = g.n;
    shape.k = g.k;
    shape.trans_a = trans_a;
    shape.trans_b = trans_b;
    shape.alpha = alpha;
    loops = g.batch.size();
    if (loops > g.loops()) {
      const BatchDim &last = g.batch[--loops];
      shape.count = last.extent;
      shape.stride_a = last.a;
      shape.stride_b = last.b;
      shape.stride_y = last.y;
    }
    for (std::size_t d = 0; d < loops; ++d) {
      shape.begins_after(g.batch[d].a * factor_size);
      shape.begins_after(g.batch[d].b * factor_size);
      shape.begins_after(g.batch[d].y * int64_t(sizeof(float)));
    }
    if (c.data) {
      check_addend(c, y);
      addend = is_row(c, g.n) && beta == 1.0f ? Addend::row
               : is_whole(c, y)               ? Addend::matrix
                                              : Addend::result;
    }
    if (addend != Addend::result) {
      shape.addend = addend;
      shape.beta = beta;
      first.emplace(shape);
    }
    if (addend == Addend::result || g.loops() > 0) {
      shape.addend = Addend::result;
      more.emplace(shape);
    }
  }

  void run(std::size_t d, const char *a, const char *b, const float *c,
           float *y, bool again) const {
    if (d == loops)
      return (again ? *more : *first)(a, b, c, y);
    const BatchDim &dim = geometry.batch[d];
    for (int64_t i = 0; i < dim.extent; ++i)
      run(d + 1, a + i * dim.a * factor_size, b + i * dim.b * factor_size,
          addend == Addend::matrix ? c + i * dim.y : c, y + i * dim.y,
          again || (i > 0 && dim.y == 0));
  }
};

MatMul::MatMul(Context &cx, Tensors in, Tensors out, double alpha, double beta,
               int64_t trans_a, int64_t trans_b) {
  check_matmul(in, out);
  impl = std::make_unique<Impl>(cx, in.begin()[0], in.begin()[1], in.begin()[2],
                                out.begin()[0], float(alpha), float(beta),
                                trans_a != 0, trans_b != 0);
}

MatMul::~MatMul() = default;

void MatMul::operator()(Tensors in, Tensors out) {
  const Tensor &c = in.begin()[2], &y = out.begin()[0];
  const bool prefilled = impl->addend == GemmShape::Addend::result;
  if (prefilled)
    fill_with(y, c, impl->beta);
  impl->run(0, in.begin()[0].as<char>(), in.begin()[1].as<char>(),
            c.as<float>(), y.as<float>(), prefilled);
}

} // namespace ffrt
