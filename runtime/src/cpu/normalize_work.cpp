//===- normalize_work.cpp - geometry of normalisations --------------------===//
#include "normalize_work.h"

#include "common/check.h"

#include <algorithm>
#include <cmath>

namespace ffrt {

namespace {

void expect_dims(const char *kernel, const char *attribute, const Ints &dims,
                 const Tensor &x) {
  for (std::size_t i = 0; i < dims.size(); ++i)
    expect(kernel,
           dims[i] >= 0 && dims[i] < x.rank &&
               (i == 0 || dims[i - 1] < dims[i]),
           std::string(attribute) +
               ": expected ascending dimensions of the operand, found " +
               std::to_string(dims[i]));
}

/// Strides, per dimension of x, of a row-major tensor with some of them.
Index strides_over(const Tensor &x, const bool *has, int64_t &elements) {
  Index strides;
  elements = 1;
  for (int d = x.rank - 1; d >= 0; --d)
    if (has[d]) {
      strides[d] = elements;
      elements *= x.shape[d];
    }
  return strides;
}

} // namespace

SampleGroups::SampleGroups(const char *kernel, const Tensor &x,
                           const Tensor &statistic, int64_t global,
                           const Ints &axes, const Ints &param_dims)
    : global(global), samples(x.rank > 0 ? x.shape[0] : 1) {
  if (global == 1)
    return;
  expect(kernel,
         global > 1 && x.rank > 0 && x.global[0] % global == 0 &&
             !axes.empty() && axes.front() == 0 &&
             (param_dims.empty() || param_dims.front() != 0),
         "sample_groups: expected to divide dimension 0 of shape " +
             to_string(x.rank, x.global) +
             ", normalised and without parameters, found " +
             std::to_string(global));
  // Without statistics nothing is written but x's shape, so it is one box: a
  // part of a group, or whole groups.
  const int64_t whole = x.global[0] / global;
  count = statistic.data     ? statistic.shape[0]
          : samples <= whole ? 1
                             : samples / whole;
  expect(kernel, count > 0 && samples % count == 0,
         "operand: expected equal parts of " + std::to_string(count) +
             " groups, found " + std::to_string(samples) + " samples");
  samples /= count;
}

Tensor SampleGroups::part(Tensor t, int64_t g) const {
  if (global == 1)
    return t;
  t.shape[0] = samples;
  t.global[0] /= global;
  if (t.data)
    t.data = t.as<float>() + g * t.elements();
  return t;
}

NormalizeWork::NormalizeWork(const char *kernel, const Context &cx,
                             const Tensor &x, const Ints &axes, double epsilon,
                             const Ints &param_dims, const Reals &clamp)
    : kernel(kernel), clip(clip_of(kernel, clamp)), epsilon(epsilon) {
  expect_dims(kernel, "axes", axes, x);
  expect_dims(kernel, "param_dims", param_dims, x);
  bool kept[kMaxRank], has_parameter[kMaxRank] = {};
  for (int64_t d : axes) {
    reduced[d] = true;
    count *= double(x.global[int(d)]);
  }
  for (int d = 0; d < x.rank; ++d)
    kept[d] = !reduced[d];
  bool constant = true; // parameters within a set
  for (int64_t d : param_dims) {
    has_parameter[d] = true;
    constant &= kept[d];
  }
  statistic = strides_over(x, kept, statistics);
  parameter = strides_over(x, has_parameter, parameters);
  const Nest<2> rows(x.rank, x.shape, {x.strides(), statistic});
  const Nest<2>::Offsets fastest = rows.inner_stride();
  by_columns = constant && fastest[0] == 1 && fastest[1] == 1;
  parts = int(std::clamp<int64_t>(x.elements() / 32768, 1, cx.threads));

  const auto n = std::size_t(statistics), p = std::size_t(parts);
  if (constant) {
    parameter_of.resize(n);
    Index shape;
    for (int d = 0; d < x.rank; ++d)
      shape[d] = kept[d] ? x.shape[d] : 1;
    const Nest<2> map(x.rank, shape, {statistic, parameter});
    map.for_rows(0, map.rows(), [&](const Nest<2>::Offsets &at) {
      for (int64_t i = 0; i < map.inner(); ++i)
        parameter_of[std::size_t(at[0] + i * map.inner_stride()[0])] =
            int32_t(at[1] + i * map.inner_stride()[1]);
    });
  }
  first.resize(n);
  second.resize(n);
  for (auto *values : {&mean, &inverse, &a, &b, &c})
    values->resize(n);
  if (by_columns) {
    moments.resize(p * n);
    partial.resize(p * 2 * n);
    line = 3 * rows.inner();
  } else {
    partial.resize(p * 2 * std::size_t(parameters));
    line = 2 * parameters;
    pending.resize(p);
  }
  line = (line + 15) / 16 * 16; // threads do not share cache lines
  lines.resize(p * std::size_t(line));
}

void NormalizeWork::use(const float *given_mean, const float *given_var) {
  for (std::size_t s = 0; s < mean.size(); ++s) {
    mean[s] = given_mean[s];
    inverse[s] = float(1.0 / std::sqrt(double(given_var[s]) + epsilon));
  }
}

} // namespace ffrt
