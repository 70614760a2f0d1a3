//===- broadcast.cpp - element-wise kernels whose operands broadcast ------===//
#include "ffrt/elementwise.h"

#include "common/copy/move.h"
#include "common/elementwise/check_elementwise.h"
#include "common/kernels/check.h"
#include "common/kernels/nest.h"

#include <array>
#include <utility>

namespace ffrt {

namespace {

/// y[i] = f(x0[i], ...) for a row of n elements; operand k moves along if bit k
/// of Moving is set, else its first element stands for all.
template <unsigned Moving, class F, std::size_t... K>
void row(F f, Real *y, const std::array<const Real *, sizeof...(K)> &x,
         int64_t n, std::index_sequence<K...>) {
  const std::array<Real, sizeof...(K)> fixed = {
      (Moving >> K & 1 ? 0.0f : *x[K])...};
  const std::array<const Real *, sizeof...(K)> p = x;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    y[i] = f((Moving >> K & 1 ? p[K][i] : fixed[K])...);
}

template <class F, int N> class Loops {
public:
  using Pointers = std::array<const Real *, N>;

  Loops(const Nest<N + 1> &nest, Real *y, const Pointers &x)
      : nest(nest), y(y), x(x) {}

  void run() const {
    const typename Nest<N + 1>::Offsets &step = nest.inner_stride();
    unsigned moving = 0;
    // A nest is ordered by the result, which is dense: its step is 1, or 0 if
    // it has one element.
    bool flat = step[0] == 1;
    for (int k = 0; k < N; ++k) {
      moving |= unsigned(step[k + 1] == 1) << k;
      flat &= step[k + 1] == 0 || step[k + 1] == 1;
    }
    if (flat)
      dispatch(moving, std::make_integer_sequence<unsigned, 1u << N>());
    else
      planes([&](Real *to, const Pointers &from, int64_t n) {
        for (int64_t i = 0; i < n; ++i)
          to[i * step[0]] = strided(from, i, Indices());
      });
  }

private:
  using Indices = std::make_index_sequence<N>;
  const Nest<N + 1> &nest;
  Real *y;
  const Pointers x;

  template <unsigned... Masks>
  void dispatch(unsigned moving,
                std::integer_sequence<unsigned, Masks...>) const {
    ((moving == Masks ? planes([](Real *to, const Pointers &from, int64_t n) {
       row<Masks>(F(), to, from, n, Indices());
     })
                      : void()),
     ...);
  }

  template <class Row> void planes(Row row) const {
    const auto next = nest.row_stride();
    nest.run_planes([&](const auto &at, int64_t rows, int64_t n) {
      Real *to = y + at[0];
      Pointers from;
      for (int k = 0; k < N; ++k)
        from[k] = x[k] + at[k + 1];
      for (int64_t r = 0; r < rows; ++r) {
        row(to, from, n);
        to += next[0];
        for (int k = 0; k < N; ++k)
          from[k] += next[k + 1];
      }
    });
  }

  template <std::size_t... K>
  Real strided(const Pointers &from, int64_t i,
               std::index_sequence<K...>) const {
    const auto &step = nest.inner_stride();
    return F()(from[K][i * step[K + 1]]...);
  }
};

} // namespace

template <class F, int N>
Broadcast<F, N>::Broadcast(Context &, Tensors in, Tensors out) {
  check_broadcast("broadcast", in, out, N);
  expect_type("broadcast", "result", out.begin()[0], kReal);
}

template <class F, int N>
void Broadcast<F, N>::operator()(Tensors in, Tensors out) {
  const Tensor &y = out.begin()[0];
  std::array<Index, N + 1> strides = {y.strides()};
  std::array<const Real *, N> x;
  for (int k = 0; k < N; ++k) {
    strides[k + 1] = broadcast_strides(in.begin()[k], y.rank);
    x[k] = in.begin()[k].template as<Real>();
  }
  const Nest<N + 1> nest(y.rank, y.shape, strides);
  Loops<F, N>(nest, y.as<Real>(), x).run();
}

#define FFRT_ELEMENTWISE(Name, Functor, N)
#define FFRT_DIFFERENTIABLE(Name)
#define FFRT_BROADCAST(Name, N) template class Broadcast<fn::Name, N>;
#include "ffrt/elementwise.inc"

Expand::Expand(Context &, Tensors in, Tensors out) {
  check_broadcast("expand", in, out, 1);
}
void Expand::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  Nest<2> nest(y.rank, y.shape, {y.strides(), broadcast_strides(x, y.rank)});
  move_strided(y.type, nest, y.data, x.data);
}

} // namespace ffrt
