//===- fused_kernel.h - the loops of fused kernels --------------*- C++ -*-===//
//
// Only the innermost loop is compiled with the functor, once.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_CPU_FUSED_KERNEL_H
#define FFRT_CPU_FUSED_KERNEL_H

#include "ffrt/fused.h"
#include "ffrt/real.h"

#include <array>
#include <tuple>
#include <utility>

namespace ffrt {

/// Runs of neighbouring elements of the results are computed by one call of an
/// innermost loop, for which elements of operands that do not lie side by side
/// are first gathered or repeated in a small scratch buffer.
class FusedWalk {
public:
  /// Computes n elements of all results from the operands' elements.
  using Loop = void (*)(const void *const *x, void *const *y, int64_t n);

  FusedWalk(Tensors in, Tensors out, DTypes operands, DTypes results);
  /// On several threads.
  void run(Tensors in, Tensors out, Loop loop) const;

private:
  /// An operand that is not as contiguous as the results.
  struct Broadcast {
    int operand;
    DType type;
    // Strides in elements.
    int64_t block[kMaxRank]; ///< along the dimensions of the blocks
    int64_t row, column;     ///< within a block
  };
  struct Pointers;

  void run_rows(const Pointers &at, Loop loop, int64_t begin,
                int64_t end) const;

  int operands, results;
  // Of an element of an operand and of a result, in bytes.
  int64_t operand_size[kMaxFused], result_size[kMaxFused];
  bool flat = true; ///< all tensors are walked from one end to the other
  // Otherwise the results are blocks of rows x columns neighbouring elements,
  // numbered by up to kMaxRank dimensions.
  int rank = 0;
  int64_t extent[kMaxRank];
  int64_t rows = 1, columns = 1, blocks = 1;
  int broadcasts = 0;
  Broadcast broadcast[kMaxFused];
};

/// Pointers to the types P.
template <class... P, class Void, std::size_t... I>
std::tuple<P *...> pointers_to(Void *const *data, std::index_sequence<I...>) {
  return {static_cast<P *>(data[I])...};
}

/// The innermost loop of a functor.
template <class F, class... X, class... Y, std::size_t... I, std::size_t... J>
void fused_loop(const std::tuple<const X *...> x, const std::tuple<Y *...> y,
                int64_t n, std::index_sequence<I...>,
                std::index_sequence<J...>) {
  const F f;
  // An element is read before it is overwritten, and by no other one.
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    if constexpr (sizeof...(J) == 1) {
      ((std::get<J>(y)[i] = Y(f(Real(std::get<I>(x)[i])...))), ...);
    } else {
      const std::array<Real, sizeof...(J)> value =
          f(Real(std::get<I>(x)[i])...);
      ((std::get<J>(y)[i] = Y(value[J])), ...);
    }
  }
}

template <class F, class... X, class... Y>
void Fused<F, From<X...>, Y...>::operator()(Tensors in, Tensors out) {
  walk->run(in, out, [](const void *const *x, void *const *y, int64_t n) {
    constexpr std::index_sequence_for<X...> operands;
    constexpr std::index_sequence_for<Y...> results;
    fused_loop<F>(pointers_to<const X...>(x, operands),
                  pointers_to<Y...>(y, results), n, operands, results);
  });
}

} // namespace ffrt

#endif // FFRT_CPU_FUSED_KERNEL_H
