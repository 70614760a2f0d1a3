//===- matmul.cpp - matrix product ----------------------------------------===//
#include "ffrt/matmul.h"

#include "common/check.h"
#include "common/nest.h"
#include "cpu/dnnl.h"

namespace ffrt {

namespace {

using dnnl::memory;

memory::desc matrix(int64_t rows, int64_t columns, bool transposed) {
  return {{rows, columns},
          memory::data_type::f32,
          transposed ? memory::format_tag::ba : memory::format_tag::ab};
}

/// Strides of c along the dimensions of y; zero where it is broadcast.
Index bias_strides(const Tensor &c) {
  const Index own = c.strides();
  Index result;
  for (int d = 0; d < c.rank; ++d)
    result[2 - c.rank + d] = c.shape[d] == 1 ? 0 : own[d];
  return result;
}

} // namespace

struct MatMul::Impl {
  dnnl::memory a, b, c, y;
  Primitive product;
  bool bias = false; ///< c is added by oneDNN, as a row vector
  float beta;

  Impl(Tensors in, Tensors out, float alpha, float beta, bool trans_a,
       bool trans_b)
      : beta(beta) {
    const char *kernel = "matmul";
    const Tensor &ta = in.begin()[0], &tb = in.begin()[1], &tc = in.begin()[2],
                 &ty = out.begin()[0];
    for (const Tensor *t : {&ta, &tb, &ty}) {
      expect_type(kernel, "operand or result", *t, DType::f32);
      expect_rank(kernel, "operand or result", *t, 2);
    }
    const int64_t m = ty.shape[0], n = ty.shape[1], k = ta.shape[!trans_a];
    expect(kernel,
           ta.shape[trans_a] == m && tb.shape[!trans_b] == n &&
               tb.shape[trans_b] == k,
           "expected op(a) and op(b) to have a product of local shape " +
               to_string(2, ty.shape) + ", found a " + to_string(2, ta.shape) +
               " and b " + to_string(2, tb.shape));
    if (tc.data) {
      expect_type(kernel, "c", tc, DType::f32);
      expect(kernel, tc.rank <= 2,
             "c: expected rank at most 2, found " + std::to_string(tc.rank));
      for (int d = 0; d < tc.rank; ++d)
        expect(kernel,
               tc.shape[d] == 1 || tc.shape[d] == ty.shape[2 - tc.rank + d],
               "c: expected a local shape that broadcasts to " +
                   to_string(2, ty.shape) + ", found " +
                   to_string(tc.rank, tc.shape));
      const bool row =
          tc.rank >= 1 && tc.elements() == n && tc.shape[tc.rank - 1] == n;
      bias = row && alpha == 1.0f && beta == 1.0f;
    }
    dnnl::primitive_attr attributes;
    if (alpha != 1.0f)
      attributes.set_output_scales(0, {alpha});
    if (tc.data && !bias) {
      // y starts as beta * c and the product is added to it.
      dnnl::post_ops add;
      add.append_sum(1.0f);
      attributes.set_post_ops(add);
    }
    const memory::desc da = matrix(m, k, trans_a), db = matrix(k, n, trans_b),
                       dc = bias ? matrix(1, n, false) : memory::desc(),
                       dy = matrix(m, n, false);
    a = view(da);
    b = view(db);
    y = view(dy);
    std::vector<std::pair<int, dnnl::memory>> arguments = {
        {DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, y}};
    if (bias) {
      c = view(dc);
      arguments.push_back({DNNL_ARG_BIAS, c});
    }
    dnnl::matmul::primitive_desc pd({da, db, dc, dy}, attributes,
                                    dnnl_engine());
    product = Primitive(dnnl::matmul(pd), arguments);
  }

  void start_with(const Tensor &ty, const Tensor &tc) {
    const Nest<2> nest(2, ty.shape, {ty.strides(), bias_strides(tc)});
    const Nest<2>::Offsets s = nest.inner_stride();
    const float *from = tc.as<float>();
    float *to = ty.as<float>();
    nest.run([&](const Nest<2>::Offsets &at, int64_t n) {
      for (int64_t i = 0; i < n; ++i)
        to[at[0] + i * s[0]] = beta * from[at[1] + i * s[1]];
    });
  }
};

MatMul::MatMul(Context &, Tensors in, Tensors out, double alpha, double beta,
               int64_t trans_a, int64_t trans_b) try {
  expect_count("matmul", "operands", in.size(), 3);
  expect_count("matmul", "results", out.size(), 1);
  impl = std::make_unique<Impl>(in, out, float(alpha), float(beta),
                                trans_a != 0, trans_b != 0);
} catch (const dnnl::error &e) {
  dnnl_failed("matmul", e);
}

MatMul::~MatMul() = default;

void MatMul::operator()(Tensors in, Tensors out) {
  const Tensor &c = in.begin()[2], &y = out.begin()[0];
  point(impl->a, in.begin()[0]);
  point(impl->b, in.begin()[1]);
  point(impl->y, y);
  if (impl->bias)
    point(impl->c, c);
  else if (c.data)
    impl->start_with(y, c);
  impl->product();
}

} // namespace ffrt
