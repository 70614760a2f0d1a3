//===- reduce.cu - sums, maxima and products over dimensions --------------===//
#include "ffrt/reduce.h"

#include "common/elementwise/cast.h"
#include "common/reduce/reduce_geometry.h"
#include "cuda/reduce/reduction.h"

namespace ffrt {

namespace {

template <class Op> struct Combine {
  using Value = typename Op::Value;
  __device__ Value neutral() const { return Op::neutral; }
  __device__ Value operator()(Value a, Value b) const {
    return Op::combine(a, b);
  }
};

/// `kept` walks {x, y} over the results, `reduced` x over the elements of one.
cuda::Reduction<2> reduction_of(const ReduceGeometry &geometry, const Tensor &x,
                                const Tensor &y) {
  return {reduce_nest(geometry, x, y, false),
          reduce_nest(geometry, x, y, true)};
}

using At = cuda::Offsets<2>;

/// Elements of x.
template <class Value, class T> struct Elements {
  const T *x;

  bool begin_groups() const { return cuda::begins_group(x); }
  __device__ cuda::Group<T> read(const At &at, const cuda::Span &span) const {
    return cuda::read(x + at[0], span);
  }
  __device__ cuda::Nothing own(const At &) const { return {}; }
  __device__ Value of(const cuda::Group<T> &elements, int k,
                      cuda::Nothing) const {
    return Value(float(elements[k]));
  }
};

template <class Op, class T>
void combine(const cuda::Reduction<2> &r, const T *x, float *y) {
  using Value = typename Op::Value;
  cuda::reduce(
      r, cuda::device().scratch<Value>(), Combine<Op>(), Elements<Value, T>{x},
      FFRT_LAMBDA(const At &at, Value value) { y[at[1]] = float(value); });
}

} // namespace

template <class Op> struct Reduce<Op>::Plan {};

template <class Op>
Reduce<Op>::Reduce(Context &, Tensors in, Tensors out, const Ints &axes,
                   int64_t keepdims)
    : ReduceGeometry(check_reduce(Op::name, in, out, axes, keepdims)) {
  cuda::device().reserve(
      reduction_of(*this, in.begin()[0], out.begin()[0]).partial() *
      sizeof(typename Op::Value));
}

template <class Op> void Reduce<Op>::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  const cuda::Reduction<2> r = reduction_of(*this, x, y);
  with_float(x.type, [&](auto *type) {
    combine<Op>(r, x.as<std::remove_pointer_t<decltype(type)>>(),
                y.as<float>());
  });
}

template class Reduce<SumOf>;
template class Reduce<MaxOf>;
template class Reduce<ProductOf>;

} // namespace ffrt
