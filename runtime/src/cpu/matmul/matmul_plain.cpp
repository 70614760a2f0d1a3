//===- matmul_plain.cpp - matrix product without libraries ----------------===//
//
// For programs in f64 (ffrt/real.h), for which oneDNN has none.
//
//===----------------------------------------------------------------------===//
#include "ffrt/matmul.h"

#include "common/kernels/check.h"
#include "common/kernels/clamp.h"
#include "common/kernels/nest.h"
#include "common/matmul/matmul_geometry.h"
#include "cpu/kernels/lanes.h"
#include "ffrt/parallel.h"

#include <algorithm>

namespace ffrt {

struct MatMul::Impl {
  MatMulGeometry g;
  Real alpha, beta;
  fn::Clip clip;
  bool finishes;

  Impl(const Tensor &a, const Tensor &b, const Tensor &c, const Tensor &addend,
       const Tensor &y, Real alpha, Real beta, const Reals &clamp, bool trans_a,
       bool trans_b)
      : g(a, b, y, trans_a, trans_b), alpha(alpha), beta(beta),
        clip(clip_of("matmul", clamp)),
        finishes(!clamp.empty() || addend.data) {
    for (const Tensor *t : {&a, &b, &y})
      expect_row_major("matmul", "operand or result", *t);
    check_addends(g, {a, b, c, addend}, y, alpha, beta);
  }

  /// y = beta * c, or 0.
  void start(const Tensor &y, const Tensor &c) const {
    if (!c.data) {
      std::fill_n(y.as<Real>(), y.elements(), Real(0));
      return;
    }
    const Nest<2> nest(y.rank, y.shape,
                       {y.strides(), addend_strides(c, y.rank)});
    const Nest<2>::Offsets s = nest.inner_stride();
    nest.run([&](const Nest<2>::Offsets &at, int64_t n) {
      for (int64_t i = 0; i < n; ++i)
        y.as<Real>()[at[0] + i * s[0]] = beta * c.as<Real>()[at[1] + i * s[1]];
    });
  }

  /// Adds the products along batch dimension `d` and those after it.
  void add(std::size_t d, const Real *a, const Real *b, Real *y) const {
    if (d == g.batch.size())
      return g.trans_b ? add_rows_by_rows(a, b, y) : add_rows(a, b, y);
    const BatchDim &dim = g.batch[d];
    for (int64_t i = 0; i < dim.extent; ++i)
      add(d + 1, a + i * dim.a, b + i * dim.b, y + i * dim.y);
  }

  Real at(const Real *a, int64_t row, int64_t p) const {
    return alpha * (g.trans_a ? a[p * g.m + row] : a[row * g.k + p]);
  }

  /// Threads take columns of y.
  void add_rows(const Real *a, const Real *b, Real *y) const {
    parallel_for(g.n, 64, [&](int64_t begin, int64_t end) {
      for (int64_t p = 0; p < g.k; ++p)
        for (int64_t row = 0; row < g.m; ++row) {
          const Real x = at(a, row, p), *from = b + p * g.n;
          Real *to = y + row * g.n;
          for (int64_t j = begin; j < end; ++j)
            to[j] += x * from[j];
        }
    });
  }

  /// b is transposed.
  void add_rows_by_rows(const Real *a, const Real *b, Real *y) const {
    parallel_for(g.n, 1, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j)
        for (int64_t row = 0; row < g.m; ++row)
          y[row * g.n + j] += Real(sum_over(
              g.k, [&](int64_t p) { return at(a, row, p) * b[j * g.k + p]; }));
    });
  }
};

MatMul::MatMul(Context &, Tensors in, Tensors out, double alpha, double beta,
               const Reals &clamp, int64_t trans_a, int64_t trans_b) {
  check_matmul(in, out);
  impl = std::make_unique<Impl>(in.begin()[0], in.begin()[1], in.begin()[2],
                                in.begin()[3], out.begin()[0], Real(alpha),
                                Real(beta), clamp, trans_a != 0, trans_b != 0);
}

MatMul::~MatMul() = default;

void MatMul::operator()(Tensors in, Tensors out) {
  const Tensor &c = in.begin()[2], &addend = in.begin()[3], &y = out.begin()[0];
  if (!y.accumulates)
    impl->start(y, c);
  impl->add(0, in.begin()[0].as<Real>(), in.begin()[1].as<Real>(),
            y.as<Real>());
  if (!impl->finishes)
    return;
  Real *to = y.as<Real>();
  const Real *more = addend.as<Real>();
  for (int64_t i = 0; i < y.elements(); ++i)
    to[i] = impl->clip(more ? to[i] + more[i] : to[i]);
}

} // namespace ffrt
