//===- fused_kernel.h - the loops of fused kernels --------------*- C++ -*-===//
//
// Only the innermost loop is compiled with the functor, once.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CPU_FUSED_KERNEL_H
#define FFRT_CPU_FUSED_KERNEL_H

#include "ffrt/fused.h"

#include <array>
#include <initializer_list>
#include <tuple>
#include <utility>

namespace ffrt {

/// Runs of neighbouring elements of the results are computed by one call of an
/// innermost loop, for which elements of operands that do not lie side by side
/// are first gathered or repeated in a small scratch buffer.
class FusedWalk {
public:
  /// Computes n elements of all results from the operands' elements.
  using Loop = void (*)(const float *const *x, void *const *y, int64_t n);

  FusedWalk(Tensors in, Tensors out, int operands,
            std::initializer_list<DType> results);
  /// On several threads. Results may be operands of their shape.
  void run(Tensors in, Tensors out, Loop loop) const;

private:
  /// An operand that is not as contiguous as the results.
  struct Broadcast {
    int operand;
    int64_t block[kMaxRank]; ///< strides along the dimensions of the blocks
    int64_t row, column;     ///< strides within a block
  };
  struct Pointers;

  void run_rows(const Pointers &at, Loop loop, int64_t begin,
                int64_t end) const;

  int operands, results;
  int64_t size[kMaxFused]; ///< of an element of a result, in bytes
  bool flat = true;        ///< all tensors are walked from one end to the other
  // Otherwise the results are blocks of rows x columns neighbouring elements,
  // numbered by up to kMaxRank dimensions.
  int rank = 0;
  int64_t extent[kMaxRank];
  int64_t rows = 1, columns = 1, blocks = 1;
  int broadcasts = 0;
  Broadcast broadcast[kMaxFused];
};

/// The innermost loop of a functor.
template <class F, class... Y, std::size_t... I, std::size_t... J>
void fused_loop(const float *const *in, void *const *out, int64_t n,
                std::index_sequence<I...>, std::index_sequence<J...>) {
  const float *const x[] = {in[I]...};
  const std::tuple<Y *...> y(static_cast<Y *>(out[J])...);
  const F f;
  // An element is read before it is overwritten, and by no other one.
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (sizeof...(J) == 1) {
      ((std::get<J>(y)[i] = Y(f(x[I][i]...))), ...);
    } else {
      const std::array<float, sizeof...(J)> value = f(x[I][i]...);
      ((std::get<J>(y)[i] = Y(value[J])), ...);
    }
  }
}

template <class F, int N, class... Y>
void Fused<F, N, Y...>::operator()(Tensors in, Tensors out) {
  walk->run(in, out, [](const float *const *x, void *const *y, int64_t n) {
    fused_loop<F, Y...>(x, y, n, std::make_index_sequence<N>(),
                        std::index_sequence_for<Y...>());
  });
}

} // namespace ffrt

#endif // FFRT_CPU_FUSED_KERNEL_H
