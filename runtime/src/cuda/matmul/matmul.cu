//===- matmul.cu - matrix product -----------------------------------------===//
//
// The innermost batch dimension of the result goes to the library, the others
// are a loop of calls. The library adds rows and whole matrices, too, and cuts
// at 0; other bounds are a pass of their own. What is bf16 or f16 where y is
// f32 becomes f32 first.
//
//===----------------------------------------------------------------------===//
#include "ffrt/matmul.h"

#include "common/elementwise/cast.h"
#include "common/kernels/clamp.h"
#include "common/matmul/matmul_geometry.h"
#include "cuda/device/scratch.h"
#include "cuda/kernels/walk.h"
#include "cuda/matmul/product.h"
#include "cuda/matmul/product_shape.h"
#include "ffrt/cuda/launch.h"

#include <algorithm>
#include <optional>
#include <type_traits>

namespace ffrt {

using cuda::Gemm;
using cuda::GemmShape;
using cuda::Product;

/// y = scale * c, broadcast, + addend?
static void fill_with(const Tensor &y, const Tensor &c, float scale,
                      const float *addend) {
  const cuda::Walk<2> walk(
      Nest<2>(y.rank, y.shape, {y.strides(), addend_strides(c, y.rank)}));
  const float *from = c.as<float>();
  float *to = y.as<float>();
  cuda::for_elements(
      walk.elements, FFRT_LAMBDA(int64_t i) {
        const auto at = walk(i);
        to[at[0]] = scale * from[at[1]] + (addend ? addend[at[0]] : 0.0f);
      });
}

/// y = clip(y). What is rounded then is y's: between bounds that are rounded it
/// is what would be rounded after it is cut.
template <class T> static void clip_all(const Tensor &y, const fn::Clip &clip) {
  const fn::Clip rounded = {T(clip.alpha), T(clip.beta)};
  T *to = y.as<T>();
  cuda::for_elements(
      y.span(), FFRT_LAMBDA(int64_t i) { to[i] = T(rounded(to[i])); });
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
  std::optional<Product> first, more; ///< y = product, y += product
  bool row = false;                   ///< c is added by the library, as a row
  bool widens = false;          ///< c, which is bf16 or f16, to a y of f32
  Addend addend = Addend::none; ///< of the first product: c, or the addend
  float beta;
  int64_t operand_size, result_size;
  fn::Clip clip;
  bool clips_after = false; ///< all calls, instead of in one

  Impl(const Context &cx, const Tensor &a, const Tensor &b, const Tensor &c,
       const Tensor &more_to_add, const Tensor &y, float alpha, float beta,
       const Reals &clamp, bool trans_a, bool trans_b)
      : geometry(a, b, y, trans_a, trans_b), beta(beta),
        operand_size(int64_t(size_of(a.type))),
        result_size(int64_t(size_of(y.type))), clip(clip_of("matmul", clamp)) {
    const MatMulGeometry &g = geometry;
    check_addends(g, {a, b, c, more_to_add}, y, alpha, beta);
    GemmShape shape = cuda::matrix_product(cx, g, a.type);
    shape.relu = clip.alpha == 0.0f && clip.beta == HUGE_VALF && g.loops() == 0;
    clips_after = !clamp.empty() && !shape.relu;
    shape.result = y.type;
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
      shape.begins_after(g.batch[d].a * operand_size);
      shape.begins_after(g.batch[d].b * operand_size);
      shape.begins_after(g.batch[d].y * result_size);
    }
    if (c.data) {
      row = is_row(c, g.n) && beta == 1.0f;
      if (!row)
        addend = is_whole(c, y) && !more_to_add.data ? Addend::matrix
                                                     : Addend::result;
      widens = c.type != y.type;
    }
    // Behind the library's scratch memory, c in f32, then what products copy.
    const std::size_t copies_at =
        Gemm::scratch() +
        (widens ? cuda::aligned(std::size_t(c.elements()) * sizeof(float)) : 0);
    cuda::device().reserve(copies_at);
    shape.beta = beta;
    if (y.accumulates)
      addend = Addend::result;
    if (more_to_add.data && addend == Addend::none) {
      addend = Addend::matrix;
      shape.beta = 1;
    }
    if (addend != Addend::result) {
      shape.addend = addend;
      shape.row = row;
      first.emplace(shape, copies_at);
    }
    if (addend == Addend::result || g.loops() > 0) {
      shape.addend = Addend::result;
      shape.row = false;
      more.emplace(shape, copies_at);
    }
  }

  /// c as it is added.
  Tensor addend_of(const Tensor &c) const {
    if (!widens)
      return c;
    Tensor wide = c;
    wide.type = DType::f32;
    wide.data = cuda::device().scratch<char>() + Gemm::scratch();
    cast_elements(c, wide);
    return wide;
  }

  void run(std::size_t d, const char *a, const char *b, const void *c,
           const float *matrix, char *y, bool again) const {
    if (d == loops)
      return (again ? *more : *first)(a, b, c, matrix, y);
    const BatchDim &dim = geometry.batch[d];
    for (int64_t i = 0; i < dim.extent; ++i)
      run(d + 1, a + i * dim.a * operand_size, b + i * dim.b * operand_size, c,
          matrix ? matrix + i * dim.y : nullptr, y + i * dim.y * result_size,
          again || (i > 0 && dim.y == 0));
  }
};

MatMul::MatMul(Context &cx, Tensors in, Tensors out, double alpha, double beta,
               const Reals &clamp, int64_t trans_a, int64_t trans_b) {
  check_matmul(in, out);
  impl = std::make_unique<Impl>(cx, in.begin()[0], in.begin()[1], in.begin()[2],
                                in.begin()[3], out.begin()[0], float(alpha),
                                float(beta), clamp, trans_a != 0, trans_b != 0);
}

MatMul::~MatMul() = default;

void MatMul::operator()(Tensors in, Tensors out) {
  const Tensor c = impl->addend_of(in.begin()[2]);
  const Tensor &addend = in.begin()[3], &y = out.begin()[0];
  const bool prefilled = impl->addend == GemmShape::Addend::result;
  if (prefilled && !y.accumulates)
    fill_with(y, c, impl->beta, addend.as<float>());
  // The library adds one matrix.
  const Tensor &matrix = addend.data ? addend : c;
  impl->run(0, in.begin()[0].as<char>(), in.begin()[1].as<char>(), c.data,
            impl->addend == GemmShape::Addend::matrix ? matrix.as<float>()
                                                      : nullptr,
            y.as<char>(), prefilled);
  if (impl->clips_after)
    with_float(y.type, [&](auto *type) {
      clip_all<std::remove_pointer_t<decltype(type)>>(y, impl->clip);
    });
}

} // namespace ffrt
