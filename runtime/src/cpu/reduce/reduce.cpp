//===- reduce.cpp - sums, maxima and products over dimensions -------------===//
//
// The loop nest over x tells three cases apart. Rows that are reduced as a
// whole, all else being kept (trailing dimensions in row-major order), give a
// result each. Otherwise rows are added element by element onto results that
// stay in the cache (leading dimensions; all but the channels in channels-last
// order): threads take slices of a kept outermost dimension, or, where that is
// reduced, slices of x with results of their own, which are combined in order.
//
//===----------------------------------------------------------------------===//
#include "ffrt/reduce.h"

#include "common/elementwise/cast.h"
#include "common/reduce/reduce_geometry.h"

#include <algorithm>
#include <vector>

namespace ffrt {

namespace {

using Offsets = Nest<2>::Offsets;

/// Sixteen running values, so that the operations do not wait for each other.
template <class Op, class T>
typename Op::Value fold(const T *x, int64_t n, int64_t stride) {
  constexpr int lanes = 16;
  typename Op::Value values[lanes];
  std::fill_n(values, lanes, Op::neutral);
  int64_t i = 0;
  if (stride == 1)
    for (; i + lanes <= n; i += lanes)
      for (int k = 0; k < lanes; ++k)
        values[k] = Op::combine(values[k], x[i + k]);
  for (; i < n; ++i)
    values[i % lanes] = Op::combine(values[i % lanes], x[i * stride]);
  for (int half = lanes / 2; half > 0; half /= 2)
    for (int k = 0; k < half; ++k)
      values[k] = Op::combine(values[k], values[k + half]);
  return values[0];
}

/// Combines a row of n elements of x onto `to`.
template <class Op, class T>
void fold_row(const T *x, typename Op::Value *to, int64_t n,
              const Offsets &stride) {
  if (stride[1] == 0) {
    *to = Op::combine(*to, fold<Op>(x, n, stride[0]));
  } else if (stride[0] == 1 && stride[1] == 1) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i)
      to[i] = Op::combine(to[i], x[i]);
  } else {
    for (int64_t i = 0; i < n; ++i)
      to[i * stride[1]] = Op::combine(to[i * stride[1]], x[i * stride[0]]);
  }
}

/// The same for `rows` rows, `row` apart in x, onto the same n values: four
/// rows at a time, so that the values are read and written less often.
template <class Op, class T>
void fold_rows(const T *x, int64_t row, int64_t rows, typename Op::Value *to,
               int64_t n, const Offsets &stride) {
  int64_t r = 0;
  if (stride[0] == 1 && stride[1] == 1)
    for (; r + 4 <= rows; r += 4) {
      const T *a = x + r * row, *b = a + row, *c = b + row, *d = c + row;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        to[i] = Op::combine(
            to[i], Op::combine(Op::combine(typename Op::Value(a[i]), b[i]),
                               Op::combine(typename Op::Value(c[i]), d[i])));
    }
  for (; r < rows; ++r)
    fold_row<Op>(x + r * row, to, n, stride);
}

/// Combines the part of x in `nest` onto `to`.
template <class Op, class T>
void fold_nest(const Nest<2> &nest, const T *x, typename Op::Value *to) {
  const int last = nest.rank - 1;
  const int64_t n = nest.inner();
  if (last == 0)
    return fold_row<Op>(x, to, n, nest.stride[0]);
  Nest<2> outer = nest;
  --outer.rank;
  const int64_t rows = outer.inner();
  const Offsets step = outer.inner_stride();
  outer.for_rows(0, outer.rows(), [&](const Offsets &at) {
    if (step[1] == 0)
      return fold_rows<Op>(x + at[0], step[0], rows, to + at[1], n,
                           nest.stride[last]);
    for (int64_t r = 0; r < rows; ++r)
      fold_row<Op>(x + at[0] + r * step[0], to + at[1] + r * step[1], n,
                   nest.stride[last]);
  });
}

/// Columns of results that stay in the first-level cache.
constexpr int64_t kColumns = 1024;

/// The dimension that threads share: long rows of results, else the outermost
/// that has something for everyone.
int dimension_to_cut(const Nest<2> &nest, int threads) {
  const int last = nest.rank - 1;
  if (nest.inner_stride()[1] != 0 && nest.inner() >= kColumns * threads)
    return last;
  if (nest.extent[0] >= threads)
    return 0;
  return int(std::max_element(nest.extent, nest.extent + nest.rank) -
             nest.extent);
}

/// Every row of x is a result.
bool reduces_rows(const Nest<2> &nest) {
  if (nest.rank == 1 || nest.inner_stride()[1] != 0)
    return false;
  for (int d = 0; d + 1 < nest.rank; ++d)
    if (nest.stride[d][1] == 0)
      return false;
  return true;
}

} // namespace

/// How a reduction is divided among threads.
template <class Op> struct Reduce<Op>::Plan {
  int cut = 0; ///< dimension of the loop nest that threads share
  /// Slices of x that are reduced concurrently, each into results of its own;
  /// 0: rows of x are results.
  int parts = 0;
  std::vector<typename Op::Value> scratch; ///< parts times the elements of y

  template <class T>
  void run(const Nest<2> &nest, const Tensor &x, const Tensor &y);
};

template <class Op>
Reduce<Op>::Reduce(Context &cx, Tensors in, Tensors out, const Ints &axes,
                   int64_t keepdims)
    : ReduceGeometry(check_reduce(Op::name, in, out, axes, keepdims)),
      plan(std::make_shared<Plan>()) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  const Nest<2> nest = reduce_nest(*this, x, y);
  if (reduces_rows(nest))
    return;
  // Slices of a kept dimension share one set of results.
  plan->cut = dimension_to_cut(nest, cx.threads);
  plan->parts =
      nest.stride[plan->cut][1] != 0
          ? 1
          : int(std::clamp<int64_t>(x.elements() / 65536, 1, cx.threads));
  plan->scratch.resize(std::size_t(plan->parts) * std::size_t(y.elements()));
}

/// Of elements of type T.
template <class Op>
template <class T>
void Reduce<Op>::Plan::run(const Nest<2> &nest, const Tensor &x,
                           const Tensor &y) {
  using Value = typename Op::Value;
  const T *from = x.as<T>();
  Real *result = y.as<Real>();
  if (parts == 0) {
    const int64_t n = nest.inner(), stride = nest.inner_stride()[0];
    parallel_for(nest.rows(), 1 + 16384 / n, [&](int64_t begin, int64_t end) {
      nest.for_rows(begin, end, [&](const Offsets &at) {
        result[at[1]] = Real(fold<Op>(from + at[0], n, stride));
      });
    });
    return;
  }
  const int64_t outputs = y.elements(), extent = nest.extent[cut];
  const Offsets step = nest.stride[cut];
  auto fold_slice = [&](int64_t begin, int64_t end, Value *to) {
    Nest<2> slice = nest;
    slice.extent[cut] = end - begin;
    fold_nest<Op>(slice, from + begin * step[0], to + begin * step[1]);
  };
  if (step[1] != 0) {
    std::fill_n(scratch.data(), outputs, Op::neutral);
    const int64_t block = cut == nest.rank - 1 ? kColumns : extent;
    parallel_for(extent, 1 + 65536 * extent / (x.elements() + 1),
                 [&](int64_t begin, int64_t end) {
                   for (; begin < end; begin += block)
                     fold_slice(begin, std::min(begin + block, end),
                                scratch.data());
                 });
  } else {
    parallel_for(parts, 1, [&](int64_t first, int64_t last) {
      for (int64_t part = first; part < last; ++part) {
        Value *values = scratch.data() + part * outputs;
        std::fill_n(values, outputs, Op::neutral);
        const int64_t begin = extent * part / parts;
        const int64_t end = extent * (part + 1) / parts;
        if (begin < end)
          fold_slice(begin, end, values);
      }
    });
  }
  parallel_for(outputs, 16384, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Value value = scratch[std::size_t(i)];
      for (int part = 1; part < parts; ++part)
        value = Op::combine(value, scratch[std::size_t(part * outputs + i)]);
      result[i] = Real(value);
    }
  });
}

template <class Op> void Reduce<Op>::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  const Nest<2> nest = reduce_nest(*this, x, y);
  with_float(x.type, [&](auto *type) {
    plan->template run<std::remove_pointer_t<decltype(type)>>(nest, x, y);
  });
}

template class Reduce<SumOf>;
template class Reduce<MaxOf>;
template class Reduce<ProductOf>;

} // namespace ffrt
