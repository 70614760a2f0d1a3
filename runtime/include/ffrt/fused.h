//===- fused.h - element-wise kernels of generated functors -----*- C++ -*-===//
//
// A program with fused layers brings a functor for each distinct one. How
// tensors are walked is decided in the runtime.
//
//===----------------------------------------------------------------------===//
#ifndef FFRT_FUSED_H
#define FFRT_FUSED_H

#include "ffrt/bfloat16.h"
#include "ffrt/float16.h"
#include "ffrt/kernel.h"
#include "ffrt/real.h"

#include <array>
#include <memory>

namespace ffrt {

/// Most operands, and most results, of a fused kernel.
constexpr int kMaxFused = 16;

/// Of an operand or a result.
constexpr DType dtype_of(const Real *) { return kReal; }
constexpr DType dtype_of(const BFloat16 *) { return DType::bf16; }
constexpr DType dtype_of(const Float16 *) { return DType::f16; }

/// Of all operands, or all results.
using DTypes = std::initializer_list<DType>;

/// Where the elements of operands and results lie: of the target.
class FusedWalk;

/// The types of operands: float, BFloat16 or Float16.
template <class... X> struct From {};

/// {y...} = F{}(x...), element by element, on Real. Operands are of the types
/// X, Fused<F, From<X...>, Y...>, and are widened when they are read. F gives a
/// Real, or an array of them if there are several results; they are rounded
/// to the types Y, of the same kinds, when they are stored. Operands broadcast
/// to the results as in numpy, aligned at the trailing logical dimensions;
/// those of the results' shape have their order. A result may be an operand of
/// its type and shape, and otherwise shares no memory with operands. Members
/// are defined in ffrt/fused_kernel.h.
template <class F, class Operands, class... Y> class Fused;

template <class F, class... X, class... Y> class Fused<F, From<X...>, Y...> {
public:
  Fused(Context &, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);

private:
  std::shared_ptr<const FusedWalk> walk;
};

} // namespace ffrt

#endif // FFRT_FUSED_H
