//===- reduce.cpp - sums over dimensions ----------------------------------===//
#include "ffrt/reduce.h"

#include "common/check.h"
#include "common/nest.h"

#include <algorithm>

namespace ffrt {

namespace {

/// Eight running sums, so that the additions do not wait for each other.
double sum_of(const float *x, int64_t n, int64_t stride) {
  double sums[8] = {};
  int64_t i = 0;
  if (stride == 1)
    for (; i + 8 <= n; i += 8)
      for (int k = 0; k < 8; ++k)
        sums[k] += x[i + k];
  for (; i < n; ++i)
    sums[i % 8] += x[i * stride];
  return ((sums[0] + sums[1]) + (sums[2] + sums[3])) +
         ((sums[4] + sums[5]) + (sums[6] + sums[7]));
}

} // namespace

ReduceSum::ReduceSum(Context &cx, Tensors in, Tensors out, const Ints &axes,
                     int64_t keepdims)
    : keepdims(keepdims != 0) {
  const char *kernel = "reduce sum";
  expect_count(kernel, "operands", in.size(), 1);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  expect_type(kernel, "operand", x, DType::f32);
  expect_type(kernel, "result", y, DType::f32);
  for (int64_t axis : axes) {
    expect(kernel, axis >= 0 && axis < x.rank,
           "axes: expected dimensions of the operand, found " +
               std::to_string(axis));
    summed[axis] = true;
  }
  if (axes.empty())
    std::fill_n(summed, x.rank, true);
  int kept = 0;
  for (int d = 0; d < x.rank; ++d)
    kept += this->keepdims || !summed[d];
  expect_rank(kernel, "result", y, kept);
  parts = int(std::clamp<int64_t>(x.elements() / 65536, 1, cx.threads));
  scratch.resize(std::size_t(parts) * std::size_t(y.elements()));
}

void ReduceSum::operator()(Tensors in, Tensors out) {
  const Tensor &x = in.begin()[0], &y = out.begin()[0];
  Index ys = y.strides(), to;
  for (int d = 0, k = 0; d < x.rank; ++d) {
    to[d] = summed[d] ? 0 : ys[k];
    k += keepdims || !summed[d];
  }
  Nest<2> nest(x.rank, x.shape, {x.strides(), to});
  const int64_t outputs = y.elements(), rows = nest.rows(), n = nest.inner();
  const Nest<2>::Offsets s = nest.inner_stride();
  const bool one_row = nest.rank == 1;
  const float *from = x.as<float>();
  parallel_for(parts, 1, [&](int64_t first, int64_t last) {
    for (int64_t part = first; part < last; ++part) {
      double *sums = scratch.data() + part * outputs;
      std::fill_n(sums, outputs, 0.0);
      // One long row is cut along itself, several are dealt out whole.
      const int64_t total = one_row ? n : rows;
      const int64_t begin = total * part / parts;
      const int64_t end = total * (part + 1) / parts;
      auto add = [&](int64_t x_at, int64_t y_at, int64_t length) {
        const float *p = from + x_at;
        double *q = sums + y_at;
        if (s[1] == 0)
          *q += sum_of(p, length, s[0]);
        else if (s[0] == 1 && s[1] == 1)
#pragma GCC ivdep
          for (int64_t i = 0; i < length; ++i)
            q[i] += p[i];
        else
          for (int64_t i = 0; i < length; ++i)
            q[i * s[1]] += p[i * s[0]];
      };
      if (one_row)
        add(begin * s[0], begin * s[1], end - begin);
      else
        nest.for_rows(begin, end, [&](const Nest<2>::Offsets &at) {
          add(at[0], at[1], n);
        });
    }
  });
  float *result = y.as<float>();
  for (int64_t i = 0; i < outputs; ++i) {
    double sum = scratch[i];
    for (int part = 1; part < parts; ++part)
      sum += scratch[part * outputs + i];
    result[i] = float(sum);
  }
}

} // namespace ffrt
