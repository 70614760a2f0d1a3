//===- reduce_geometry.cpp - which elements a reduction combines ----------===//
#include "common/reduce/reduce_geometry.h"

#include "common/kernels/check.h"

#include <algorithm>

namespace ffrt {

ReduceGeometry check_reduce(const char *kernel, Tensors in, Tensors out,
                            const Ints &axes, int64_t keepdims) {
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  expect_float(kernel, "operand", x);
  expect_type(kernel, "result", y, kReal);
  ReduceGeometry geometry;
  geometry.keepdims = keepdims != 0;
  for (int64_t axis : axes) {
    expect(kernel, axis >= 0 && axis < x.rank,
           "axes: expected dimensions of the operand, found " +
               std::to_string(axis));
    geometry.reduced[axis] = true;
  }
  if (axes.empty())
    std::fill_n(geometry.reduced, x.rank, true);
  int kept = 0;
  for (int d = 0; d < x.rank; ++d)
    kept += geometry.keepdims || !geometry.reduced[d];
  expect_rank(kernel, "result", y, kept);
  return geometry;
}

/// Strides of y along the dimensions of x.
static Index result_strides(const ReduceGeometry &geometry, const Tensor &x,
                            const Tensor &y) {
  const Index strides = y.strides();
  Index result;
  for (int d = 0, k = 0; d < x.rank; ++d) {
    result[d] = geometry.reduced[d] ? 0 : strides[k];
    k += geometry.keepdims || !geometry.reduced[d];
  }
  return result;
}

Nest<2> reduce_nest(const ReduceGeometry &geometry, const Tensor &x,
                    const Tensor &y) {
  return Nest<2>(x.rank, x.shape,
                 {x.strides(), result_strides(geometry, x, y)});
}

Nest<2> reduce_nest(const ReduceGeometry &geometry, const Tensor &x,
                    const Tensor &y, bool reduced) {
  Index shape = x.shape;
  for (int d = 0; d < x.rank; ++d)
    if (geometry.reduced[d] != reduced)
      shape[d] = 1;
  return Nest<2>(x.rank, shape, {x.strides(), result_strides(geometry, x, y)});
}

} // namespace ffrt
