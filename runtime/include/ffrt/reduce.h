//===- reduce.h - sums, maxima and products over dimensions -----*- C++ -*-===//
#ifndef FFRT_REDUCE_H
#define FFRT_REDUCE_H

#include "ffrt/function.h"
#include "ffrt/kernel.h"
#include "ffrt/real.h"

#include <memory>

namespace ffrt {

/// How elements are combined, and in what.
struct SumOf {
  using Value = double;
  static constexpr const char *name = "reduce sum";
  static constexpr Value neutral = 0.0;
  FFRT_FUNCTION static Value combine(Value a, Value b) { return a + b; }
};
struct MaxOf {
  using Value = Real;
  static constexpr const char *name = "reduce max";
  static constexpr Value neutral = -__builtin_inff();
  FFRT_FUNCTION static Value combine(Value a, Value b) { return larger(a, b); }
};
struct ProductOf {
  using Value = double;
  static constexpr const char *name = "reduce prod";
  static constexpr Value neutral = 1.0;
  FFRT_FUNCTION static Value combine(Value a, Value b) { return a * b; }
};

/// Which dimensions of x are combined.
struct ReduceGeometry {
  bool reduced[kMaxRank] = {};
  bool keepdims = false;
};

/// {x} -> {y}: combines over `axes` (none: over all), of the tile only.
/// keepdims not 0 keeps those dimensions with extent 1. x is f32, bf16 or f16,
/// y f32; the same bits for the same number of threads.
template <class Op> class Reduce : ReduceGeometry {
public:
  Reduce(Context &cx, Tensors in, Tensors out, const Ints &axes,
         int64_t keepdims);
  void operator()(Tensors in, Tensors out);

private:
  struct Plan; ///< of the target
  std::shared_ptr<Plan> plan;
};

using ReduceSum = Reduce<SumOf>;
using ReduceMax = Reduce<MaxOf>;
using ReduceProd = Reduce<ProductOf>;

extern template class Reduce<SumOf>;
extern template class Reduce<MaxOf>;
extern template class Reduce<ProductOf>;

} // namespace ffrt

#endif // FFRT_REDUCE_H
