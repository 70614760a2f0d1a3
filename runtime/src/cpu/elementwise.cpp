//===- elementwise.cpp - checks of and broadcasting element-wise kernels --===//
#include "ffrt/elementwise.h"

#include "common/check.h"
#include "common/nest.h"
#include "cpu/move.h"

namespace ffrt {

template class Elementwise<Relu, 1>;
template class Elementwise<ReluGradient, 2>;
template class Elementwise<LeakyRelu, 1>;
template class Elementwise<LeakyReluGradient, 2>;
template class Elementwise<Sigmoid, 1>;
template class Elementwise<SigmoidGradient, 2>;
template class Elementwise<Tanh, 1>;
template class Elementwise<TanhGradient, 2>;
template class Elementwise<Multiple, 1>;

void check_elementwise(Tensors in, Tensors out, int operands) {
  const char *kernel = "elementwise";
  expect_count(kernel, "operands", in.size(), std::size_t(operands));
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &y = out.begin()[0];
  expect_type(kernel, "result", y, DType::f32);
  for (const Tensor &x : in) {
    expect_type(kernel, "operand", x, DType::f32);
    expect_same_shape(kernel, "operand", x, y);
    expect_same_order(kernel, "operand", x, y);
  }
}

namespace {

/// Strides of `x` along the dimensions of a result of rank `rank`; zero where
/// x is broadcast.
Index broadcast_strides(const Tensor &x, int rank) {
  Index own = x.strides(), result;
  for (int d = rank - x.rank; d < rank; ++d) {
    int from = d - (rank - x.rank);
    result[d] = x.shape[from] == 1 ? 0 : own[from];
  }
  return result;
}

/// Operands of the result's type that broadcast to its local shape.
void check_broadcast(const char *kernel, Tensors in, Tensors out,
                     std::size_t operands) {
  expect_count(kernel, "operands", in.size(), operands);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &y = out.begin()[0];
  for (const Tensor &x : in) {
    expect_type(kernel, "operand", x, y.type);
    expect(kernel, x.rank <= y.rank,
           "expected an operand of rank at most " + std::to_string(y.rank) +
               ", found " + std::to_string(x.rank));
    for (int d = 0; d < x.rank; ++d) {
      int to = d + y.rank - x.rank;
      expect(kernel, x.shape[d] == y.shape[to] || x.shape[d] == 1,
             "expected an operand that broadcasts to local shape " +
                 to_string(y.rank, y.shape) + ", found " +
                 to_string(x.rank, x.shape));
    }
  }
}

void check_binary(const char *kernel, Tensors in, Tensors out) {
  check_broadcast(kernel, in, out, 2);
  expect_type(kernel, "result", out.begin()[0], DType::f32);
}

template <class Op> void binary(Tensors in, Tensors out, Op op) {
  const Tensor &a = in.begin()[0], &b = in.begin()[1], &y = out.begin()[0];
  Nest<3> nest(y.rank, y.shape,
               {y.strides(), broadcast_strides(a, y.rank),
                broadcast_strides(b, y.rank)});
  const Nest<3>::Offsets s = nest.inner_stride();
  const float *pa = a.as<float>(), *pb = b.as<float>();
  float *py = y.as<float>();
  nest.run([&](const Nest<3>::Offsets &at, int64_t n) {
    float *to = py + at[0];
    const float *left = pa + at[1], *right = pb + at[2];
    if (s[0] == 1 && s[1] == 1 && s[2] == 1) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        to[i] = op(left[i], right[i]);
    } else if (s[0] == 1 && s[1] == 1 && s[2] == 0) {
      const float value = *right;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        to[i] = op(left[i], value);
    } else {
      for (int64_t i = 0; i < n; ++i)
        to[i * s[0]] = op(left[i * s[1]], right[i * s[2]]);
    }
  });
}

} // namespace

Add::Add(Context &, Tensors in, Tensors out) { check_binary("add", in, out); }
void Add::operator()(Tensors in, Tensors out) {
  binary(in, out, [](float a, float b) { return a + b; });
}

Sub::Sub(Context &, Tensors in, Tensors out) { check_binary("sub", in, out); }
void Sub::operator()(Tensors in, Tensors out) {
  binary(in, out, [](float a, float b) { return a - b; });
}

Mul::Mul(Context &, Tensors in, Tensors out) { check_binary("mul", in, out); }
void Mul::operator()(Tensors in, Tensors out) {
  binary(in, out, [](float a, float b) { return a * b; });
}

Expand::Expand(Context &, Tensors in, Tensors out) {
  check_broadcast("expand", in, out, 1);
}
void Expand::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  Nest<2> nest(y.rank, y.shape, {y.strides(), broadcast_strides(x, y.rank)});
  move_strided(y.type, nest, y.data, x.data);
}

} // namespace ffrt
