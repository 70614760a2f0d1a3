//===- attention_geometry.cpp - operands of attention ---------------------===//
#include "common/attention/attention_geometry.h"

#include "common/kernels/check.h"
#include "ffrt/attention.h"

namespace ffrt {

AttentionGeometry::AttentionGeometry(const char *kernel, const Tensor &q,
                                     const Tensor &k, const Tensor *v,
                                     const Tensor &mask,
                                     const AttentionNumbers &numbers)
    : kernel(kernel), operand_type(q.type), causal(numbers.causal != 0),
      scale(Real(numbers.scale)), key(uint64_t(numbers.key)),
      ratio(Real(numbers.ratio)) {
  expect_rank(kernel, "q", q, 4);
  expect_rank(kernel, "k", k, 4);
  if (v)
    expect_rank(kernel, "v", *v, 4);
  samples = q.shape[0];
  rows = q.shape[1];
  heads = q.shape[2];
  width = q.shape[3];
  keys = k.shape[1];
  values = v ? v->shape[3] : 0;
  expect_same_float(kernel, "q", q, "k", k);
  expect_heads("q", q, rows, width, operand_type);
  expect_heads("k", k, keys, width, operand_type);
  if (v) {
    expect_same_float(kernel, "q", q, "v", *v);
    expect_heads("v", *v, keys, values, operand_type);
  }
  steps[2] = k.global[1];
  steps[1] = q.global[1] * steps[2];
  steps[0] = q.global[2] * steps[1];
  first =
      q.lo[0] * steps[0] + q.lo[2] * steps[1] + q.lo[1] * steps[2] + k.lo[1];
  expect(kernel, numbers.ratio >= 0.0 && numbers.ratio < 1.0,
         "ratio: expected a number in [0, 1), found " +
             std::to_string(numbers.ratio));
  const Reals &hidden = numbers.hidden;
  expect(kernel, hidden.size() <= (mask.data ? 1u : 0u),
         "hidden: expected one number at most, and only with a mask, found " +
             std::to_string(hidden.size()));
  expect(kernel, numbers.causal == 0 || !hidden.empty(),
         "causal: expected 0, or 1 with a hidden number, found " +
             std::to_string(numbers.causal));
  if (!mask.data)
    return;
  if (!hidden.empty()) {
    replaces = true;
    this->hidden = Real(hidden[0]);
  }
  expect_type(kernel, "mask", mask, kReal);
  expect_row_major(kernel, "mask", mask);
  const int64_t scores[] = {samples, heads, rows, keys};
  const Index strides = mask.strides();
  for (int d = 0; d < mask.rank; ++d) {
    const int at = 4 - mask.rank + d;
    expect(kernel,
           at >= 0 && (mask.shape[d] == 1 || mask.shape[d] == scores[at]),
           "mask: expected a local shape that broadcasts to " +
               to_string(4, {samples, heads, rows, keys}) + ", found " +
               to_string(mask.rank, mask.shape));
    mask_strides[at] = mask.shape[d] == 1 ? 0 : strides[d];
  }
}

void AttentionGeometry::expect_heads(const char *name, const Tensor &t,
                                     int64_t positions, int64_t width,
                                     DType type) const {
  expect_dense(kernel, name, t, type, {samples, positions, heads, width});
}

void AttentionGeometry::expect_y(const Tensor &t) const {
  if (t.data)
    expect_real_or(kernel, "y", t, operand_type);
  expect_heads("y", t, rows, values, t.type);
}

void AttentionGeometry::expect_gradient(const char *name, const Tensor &t,
                                        int64_t positions,
                                        int64_t width) const {
  if (t.data)
    expect_float(kernel, name, t);
  expect_heads(name, t, positions, width, t.type);
}

void AttentionGeometry::expect_sums(const char *name, const Tensor &t) const {
  expect_floats(kernel, name, t, {samples, heads, rows});
}

AttentionGeometry check_attention_forward(Tensors in, Tensors out,
                                          const AttentionNumbers &numbers) {
  const char *kernel = "attention forward";
  expect_count(kernel, "operands", in.size(), 4);
  expect_count(kernel, "results", out.size(), 2);
  const Tensor *t = in.begin();
  const AttentionGeometry g(kernel, t[0], t[1], &t[2], t[3], numbers);
  expect(kernel, g.keys == t[1].global[1],
         "k: expected all positions (" + std::to_string(t[1].global[1]) +
             "), found " + std::to_string(g.keys));
  g.expect_y(out.begin()[0]);
  g.expect_sums("lse", out.begin()[1]);
  return g;
}

AttentionGeometry check_attention_max(Tensors in, Tensors out,
                                      const AttentionNumbers &numbers) {
  const char *kernel = "attention max";
  expect_count(kernel, "operands", in.size(), 3);
  expect_count(kernel, "results", out.size(), 1);
  const Tensor *t = in.begin();
  const AttentionGeometry g(kernel, t[0], t[1], nullptr, t[2], numbers);
  g.expect_sums("most", out.begin()[0]);
  return g;
}

AttentionGeometry check_attention_sum(Tensors in, Tensors out,
                                      const AttentionNumbers &numbers) {
  const char *kernel = "attention sum";
  expect_count(kernel, "operands", in.size(), 5);
  expect_count(kernel, "results", out.size(), 2);
  const Tensor *t = in.begin();
  const AttentionGeometry g(kernel, t[0], t[1], &t[2], t[3], numbers);
  g.expect_sums("most", t[4]);
  g.expect_sums("total", out.begin()[0]);
  g.expect_heads("sum", out.begin()[1], g.rows, g.values);
  return g;
}

AttentionApply::AttentionApply(Context & /*cx*/, Tensors in, Tensors out,
                               int64_t /*causal*/, const Reals & /*hidden*/,
                               int64_t /*key*/, double /*ratio*/,
                               double /*scale*/) {
  const char *kernel = "attention apply";
  expect_count(kernel, "operands", in.size(), 3);
  expect_count(kernel, "results", out.size(), 2);
  const Tensor &sum = in.begin()[2];
  expect_rank(kernel, "sum", sum, 4);
  const int64_t samples = sum.shape[0], rows = sum.shape[1],
                heads = sum.shape[2], values = sum.shape[3];
  expect_floats(kernel, "most", in.begin()[0], {samples, heads, rows});
  expect_floats(kernel, "total", in.begin()[1], {samples, heads, rows});
  expect_floats(kernel, "sum", sum, {samples, rows, heads, values});
  const Tensor &y = out.begin()[0];
  expect_float(kernel, "y", y);
  expect_dense(kernel, "y", y, y.type, {samples, rows, heads, values});
  expect_floats(kernel, "lse", out.begin()[1], {samples, heads, rows});
}

AttentionGeometry check_attention_backward(Tensors in, Tensors out,
                                           const AttentionNumbers &numbers) {
  const char *kernel = "attention backward";
  expect_count(kernel, "operands", in.size(), 7);
  expect_count(kernel, "results", out.size(), 3);
  const Tensor *t = in.begin(), *r = out.begin();
  const AttentionGeometry g(kernel, t[0], t[1], &t[2], t[6], numbers);
  g.expect_y(t[3]);
  g.expect_sums("lse", t[4]);
  expect_same_float(kernel, "q", t[0], "dy", t[5]);
  g.expect_heads("dy", t[5], g.rows, g.values, g.operand_type);
  g.expect_gradient("dq", r[0], g.rows, g.width);
  g.expect_gradient("dk", r[1], g.keys, g.width);
  g.expect_gradient("dv", r[2], g.keys, g.values);
  return g;
}

} // namespace ffrt
