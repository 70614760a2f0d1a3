//===- elementwise.cpp - element-wise kernels on equal shapes -------------===//
#include "ffrt/elementwise.h"

#include "common/elementwise/check_elementwise.h"
#include "ffrt/parallel.h"

#include <array>
#include <utility>

namespace ffrt {

template <class F, int N>
void Elementwise<F, N>::check(Tensors in, Tensors out) {
  check_elementwise(in, out, N);
}

template <class F, std::size_t... I>
static void apply(const F &f, Tensors in, Tensors out,
                  std::index_sequence<I...>) {
  const std::array<const Real *, sizeof...(I)> x = {
      in.begin()[I].template as<Real>()...};
  Real *y = out.begin()->as<Real>();
  parallel_for(out.begin()->elements(), 16384,
               [x, y, &f](int64_t begin, int64_t end) {
                 // A local copy tells the compiler that stores to y do not
                 // change f, and that it may be read at any time.
                 const F g = f;
#pragma GCC ivdep
                 for (int64_t i = begin; i < end; ++i)
                   y[i] = g(x[I][i]...);
               });
}

template <class F, int N>
void Elementwise<F, N>::operator()(Tensors in, Tensors out) {
  apply(f, in, out, std::make_index_sequence<N>());
}

#define FFRT_ELEMENTWISE(Name, Functor, N)                                     \
  template class Elementwise<fn::Functor, N>;
#define FFRT_DIFFERENTIABLE(Name)                                              \
  FFRT_ELEMENTWISE(Name##Forward, Name, 1)                                     \
  FFRT_ELEMENTWISE(Name##Backward, Name##Gradient, 2)
#define FFRT_BROADCAST(Name, N)
#include "ffrt/elementwise.inc"

} // namespace ffrt
