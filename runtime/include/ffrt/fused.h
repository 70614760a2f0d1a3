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

#include <array>
#include <memory>

namespace ffrt {

/// Most operands, and most results, of a fused kernel.
constexpr int kMaxFused = 16;

/// Of a result.
constexpr DType dtype_of(const float *) { return DType::f32; }
constexpr DType dtype_of(const BFloat16 *) { return DType::bf16; }
constexpr DType dtype_of(const Float16 *) { return DType::f16; }

/// Where the elements of operands and results lie: of the target.
class FusedWalk;

/// {y...} = F{}(x0, ..., x(N-1)), element by element, on f32. F gives a float,
/// or an array of floats if there are several results; they are stored as the
/// types Y, float, BFloat16 or Float16. Operands broadcast to the results as in
/// numpy, aligned at the trailing logical dimensions; those of the results'
/// shape have their order. Results of f32 may be operands of their shape.
/// Members are defined in ffrt/fused_kernel.h.
template <class F, int N, class... Y> class Fused {
public:
  Fused(Context &, Tensors in, Tensors out);
  void operator()(Tensors in, Tensors out);

private:
  std::shared_ptr<const FusedWalk> walk;
};

} // namespace ffrt

#endif // FFRT_FUSED_H
