//===- conv_problem.cpp - the sub-convolution of a tile -------------------===//
#include "common/conv/conv_problem.h"

#include "common/kernels/check.h"

namespace ffrt {

Tensor with_row(const Tensor &t) {
  if (t.rank != 3)
    return t;
  Tensor result = t;
  result.rank = 4;
  result.shape = {t.shape[0], t.shape[1], 1, t.shape[2]};
  result.lo = {t.lo[0], t.lo[1], 0, t.lo[2]};
  result.global = {t.global[0], t.global[1], 1, t.global[2]};
  return result;
}

ConvAttributes::ConvAttributes(const char *kernel, const Tensor &x,
                               const Ints &dilations, int64_t group,
                               const Ints &pads, const Ints &strides)
    : dilations(dilations), pads(pads), strides(strides), group(group) {
  expect(kernel, x.rank >= 3 && x.rank <= 5,
         "x: expected rank 3 to 5, found " + std::to_string(x.rank));
  const std::size_t spatial = std::size_t(x.rank) - 2;
  expect_length(kernel, "dilations", dilations, spatial);
  expect_length(kernel, "pads", pads, 2 * spatial);
  expect_length(kernel, "strides", strides, spatial);
  if (spatial > 1)
    return;
  this->dilations.insert(this->dilations.begin(), 1);
  this->strides.insert(this->strides.begin(), 1);
  this->pads = {0, pads[0], 0, pads[1]};
}

ConvProblem::ConvProblem(const char *kernel, const Tensor &x, const Tensor &w,
                         const Tensor &y, bool backward,
                         const ConvAttributes &attributes)
    : spatial(x.rank - 2), groups(1) {
  expect_rank(kernel, "w", w, x.rank);
  expect_rank(kernel, "y", y, x.rank);
  expect_row_major(kernel, "w", w);
  nothing = x.elements() == 0 || y.elements() == 0 || w.elements() == 0;
  if (!nothing) {
    groups = x.shape[1] / w.shape[1];
    expect(kernel,
           groups >= 1 && groups <= attributes.group &&
               groups * w.shape[1] == x.shape[1],
           "x: expected a multiple of " + std::to_string(w.shape[1]) +
               " channels and at most " + std::to_string(attributes.group) +
               " groups, found " + std::to_string(x.shape[1]) + " channels");
    expect(kernel, w.shape[0] == y.shape[1] && w.shape[0] % groups == 0,
           "y: expected " + std::to_string(w.shape[0]) +
               " channels, a multiple of " + std::to_string(groups) +
               " groups, found " + std::to_string(y.shape[1]));
  }
  for (int i = 0; i < spatial; ++i) {
    const std::size_t d = std::size_t(i);
    const ConvAxis axis{w.shape[i + 2], attributes.strides[d],
                        attributes.dilations[d], attributes.pads[d]};
    auto rows_of = [&](const Tensor &t) -> Rows {
      return {t.lo[i + 2], t.lo[i + 2] + t.shape[i + 2]};
    };
    AxisPlan plan =
        (backward ? plan_backward : plan_forward)(axis, rows_of(x), rows_of(y));
    nothing |= plan.in.empty() || plan.out.empty();
    in[d] = plan.in;
    out[d] = plan.out;
    strides.push_back(axis.stride);
    dilations.push_back(axis.dilation);
    pads_begin.push_back(plan.pad_begin);
    pads_end.push_back(plan.pad_end);
  }
}

void check_conv(const char *kernel, std::initializer_list<const char *> names,
                Tensors in, const char *result, Tensors out, bool is_image) {
  expect_count(kernel, "operands", in.size(), names.size());
  expect_count(kernel, "results", out.size(), 1);
  expect_same_float(kernel, names.begin()[0], in.begin()[0], names.begin()[1],
                    in.begin()[1]);
  expect_real_or(kernel, result, out.begin()[0],
                 is_image ? in.begin()[0].type : kReal);
  if (in.size() < 3 || !in.begin()[2].data)
    return;
  expect_type(kernel, names.begin()[2], in.begin()[2], kReal);
  expect_rank(kernel, names.begin()[2], in.begin()[2], 1);
}

} // namespace ffrt
