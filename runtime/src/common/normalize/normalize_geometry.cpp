//===- normalize_geometry.cpp - operands of normalisations ----------------===//
#include "common/normalize/normalize_geometry.h"

#include "common/elementwise/cast.h"
#include "common/kernels/check.h"

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
    t.data = t.as<char>() + g * t.elements() * int64_t(size_of(t.type));
  return t;
}

NormalizeGeometry::NormalizeGeometry(const char *kernel, const Tensor &x,
                                     const Tensor &statistic, const Ints &axes,
                                     double epsilon, const Ints &param_dims,
                                     int64_t sample_groups, const Reals &clamp)
    : kernel(kernel),
      groups(kernel, x, statistic, sample_groups, axes, param_dims),
      clip(clip_of(kernel, clamp)), cuts(!clamp.empty()), epsilon(epsilon) {
  const Tensor part = groups.part(x, 0);
  expect_dims(kernel, "axes", axes, part);
  expect_dims(kernel, "param_dims", param_dims, part);
  bool kept[kMaxRank];
  for (int64_t d : axes) {
    reduced[d] = true;
    count *= double(part.global[int(d)]);
  }
  for (int d = 0; d < part.rank; ++d)
    kept[d] = !reduced[d];
  for (int64_t d : param_dims) {
    has_parameter[d] = true;
    constant &= kept[d];
  }
  this->statistic = strides_over(part, kept, statistics);
  parameter = strides_over(part, has_parameter, parameters);
}

namespace {

/// Of x's shape, f32 or of the type `narrow` of those before, if one was.
void expect_like(const char *kernel, const char *name, const Tensor &t,
                 const Tensor &x, DType &narrow) {
  if (!t.data)
    return;
  expect_float(kernel, name, t);
  expect_same_shape(kernel, name, t, x);
  expect_same_order(kernel, name, t, x);
  if (!is_low_precision(t.type))
    return;
  if (is_low_precision(narrow))
    expect_real_or(kernel, name, t, narrow);
  narrow = t.type;
}

void expect_elements(const char *kernel, const char *name, const Tensor &t,
                     int64_t elements) {
  if (!t.data)
    return;
  expect_type(kernel, name, t, kReal);
  expect_row_major(kernel, name, t);
  expect(kernel, t.elements() == elements,
         std::string(name) + ": expected " + std::to_string(elements) +
             " elements, found " + std::to_string(t.elements()));
}

} // namespace

namespace normalization {

void expect_arguments(const NormalizeGeometry &geometry, Tensors in,
                      std::initializer_list<Argument> operands, Tensors out,
                      std::initializer_list<Argument> results) {
  const char *kernel = geometry.kernel;
  DType narrow = kReal;
  auto check = [&](const char *what, Tensors tensors,
                   std::initializer_list<Argument> arguments) {
    expect_count(kernel, what, tensors.size(), arguments.size());
    const Tensor *t = tensors.begin();
    for (const Argument &argument : arguments) {
      if (argument.kind == Kind::Like)
        expect_like(kernel, argument.name, *t, at(in, 0), narrow);
      else
        expect_elements(kernel, argument.name, *t,
                        argument.kind == Kind::Statistic
                            ? geometry.groups.count * geometry.statistics
                            : geometry.parameters);
      ++t;
    }
  };
  check("operands", in, operands);
  check("results", out, results);
}

void expect_whole(const NormalizeGeometry &geometry, const Tensor &all,
                  const Ints &axes) {
  const Tensor x = geometry.groups.part(all, 0);
  for (int64_t d : axes)
    expect(geometry.kernel, x.shape[int(d)] == x.global[int(d)],
           "axes: expected whole dimensions, found dimension " +
               std::to_string(d) + " split");
}

} // namespace normalization

} // namespace ffrt
