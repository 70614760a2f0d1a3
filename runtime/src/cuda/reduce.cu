//===- reduce.cu - sums, maxima and products over dimensions --------------===//
//
// A warp for every result, or a block where results are few: its threads go
// over the elements of the result and combine what they have found in a fixed
// order.
//
//===----------------------------------------------------------------------===//
#include "ffrt/reduce.h"

#include "common/reduce_geometry.h"
#include "cuda/reduce_block.h"
#include "cuda/walk.h"
#include "ffrt/cuda/launch.h"

namespace ffrt {

namespace {

template <class Op> struct Combine {
  __device__ typename Op::Value operator()(typename Op::Value a,
                                           typename Op::Value b) const {
    return Op::combine(a, b);
  }
};

/// `kept` walks {x, y} over the results, `reduced` x over the elements of one.
template <class Op>
__global__ void reduce_kernel(cuda::Walk<2> kept, cuda::Walk<2> reduced,
                              const float *x, float *y) {
  using Value = typename Op::Value;
  for (int64_t r = blockIdx.x; r < kept.elements; r += gridDim.x) {
    const auto at = kept(r);
    Value value = Op::neutral;
    for (int64_t i = threadIdx.x; i < reduced.elements; i += blockDim.x)
      value = Op::combine(value, x[at[0] + reduced(i)[0]]);
    value = cuda::reduce_block(value, Value(Op::neutral), Combine<Op>());
    if (threadIdx.x == 0)
      y[at[1]] = float(value);
  }
}

} // namespace

template <class Op> struct Reduce<Op>::Plan {};

template <class Op>
Reduce<Op>::Reduce(Context &, Tensors in, Tensors out, const Ints &axes,
                   int64_t keepdims)
    : ReduceGeometry(check_reduce(Op::name, in, out, axes, keepdims)) {}

template <class Op> void Reduce<Op>::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  const cuda::Walk<2> kept(reduce_nest(*this, x, y, false)),
      inner(reduce_nest(*this, x, y, true));
  const int threads = cuda::threads_for(inner.elements);
  cuda::launch(cuda::blocks_for(kept.elements, 1, threads), threads,
               reduce_kernel<Op>, kept, inner, x.as<float>(), y.as<float>());
}

template class Reduce<SumOf>;
template class Reduce<MaxOf>;
template class Reduce<ProductOf>;

} // namespace ffrt
