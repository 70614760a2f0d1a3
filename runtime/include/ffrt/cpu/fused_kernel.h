//===- fused_kernel.h - the loops of fused kernels --------------*- C++ -*-===//
//
// Only the innermost loop is compiled with the functor, once.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CPU_FUSED_KERNEL_H
#define FFRT_CPU_FUSED_KERNEL_H

#include "ffrt/fused.h"

#include <array>
#include <utility>

namespace ffrt {

/// Runs of neighbouring elements of the results are computed by one call of an
/// innermost loop, for which elements of operands that do not lie side by side
/// are first gathered or repeated in a small scratch buffer.
class FusedWalk {
public:
  /// Computes n elements of all results from the operands' elements.
  using Loop = void (*)(const float *const *x, float *const *y, int64_t n);

  FusedWalk(Tensors in, Tensors out, int operands, int results);
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
  bool flat = true; ///< all tensors are walked from one end to the other
  // Otherwise the results are blocks of rows x columns neighbouring elements,
  // numbered by up to kMaxRank dimensions.
  int rank = 0;
  int64_t extent[kMaxRank];
  int64_t rows = 1, columns = 1, blocks = 1;
  int broadcasts = 0;
  Broadcast broadcast[kMaxFused];
};

/// The innermost loop of a functor.
template <class F, std::size_t... I, std::size_t... J>
void fused_loop(const float *const *in, float *const *out, int64_t n,
                std::index_sequence<I...>, std::index_sequence<J...>) {
  const float *const x[] = {in[I]...};
  float *const y[] = {out[J]...};
  const F f;
  // An element is read before it is overwritten, and by no other one.
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (sizeof...(J) == 1) {
      y[0][i] = f(x[I][i]...);
    } else {
      const std::array<float, sizeof...(J)> value = f(x[I][i]...);
      ((y[J][i] = value[J]), ...);
    }
  }
}

template <class F, int N, int M>
Fused<F, N, M>::Fused(Context &, Tensors in, Tensors out)
    : walk(std::make_shared<FusedWalk>(in, out, N, M)) {}

template <class F, int N, int M>
void Fused<F, N, M>::operator()(Tensors in, Tensors out) {
  walk->run(in, out, [](const float *const *x, float *const *y, int64_t n) {
    fused_loop<F>(x, y, n, std::make_index_sequence<N>(),
                  std::make_index_sequence<M>());
  });
}

} // namespace ffrt

#endif // FFRT_CPU_FUSED_KERNEL_H
