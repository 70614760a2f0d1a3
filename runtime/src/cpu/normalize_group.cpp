//===- normalize_group.cpp - tensors of normalisation kernels -------------===//
#include "normalize_group.h"

#include "common/check.h"
#include "ffrt/normalize.h"

#include <algorithm>

namespace ffrt {

namespace {

void expect_like(const char *kernel, const char *name, const Tensor &t,
                 const Tensor &x) {
  if (!t.data)
    return;
  expect_type(kernel, name, t, DType::f32);
  expect_same_shape(kernel, name, t, x);
  expect_same_order(kernel, name, t, x);
}

void expect_elements(const char *kernel, const char *name, const Tensor &t,
                     int64_t elements) {
  if (!t.data)
    return;
  expect_type(kernel, name, t, DType::f32);
  expect_row_major(kernel, name, t);
  expect(kernel, t.elements() == elements,
         std::string(name) + ": expected " + std::to_string(elements) +
             " elements, found " + std::to_string(t.elements()));
}

} // namespace

namespace normalization {

void expect_arguments(const NormalizeWork &work, const SampleGroups &groups,
                      const char *what, Tensors tensors, const Tensor &x,
                      std::initializer_list<Argument> arguments) {
  expect_count(work.kernel, what, tensors.size(), arguments.size());
  const Tensor *t = tensors.begin();
  for (const Argument &argument : arguments) {
    if (argument.kind == Kind::Like)
      expect_like(work.kernel, argument.name, *t, x);
    else
      expect_elements(work.kernel, argument.name, *t,
                      argument.kind == Kind::Statistic
                          ? groups.count * work.statistics
                          : work.parameters);
    ++t;
  }
}

void expect_whole(const char *kernel, const Tensor &x, const Ints &axes) {
  for (int64_t d : axes)
    expect(kernel, x.shape[int(d)] == x.global[int(d)],
           "axes: expected whole dimensions, found dimension " +
               std::to_string(d) + " split");
}

void store(const std::vector<double> &from, float *to, double factor) {
  if (to)
    for (std::size_t i = 0; i < from.size(); ++i)
      to[i] = float(from[i] * factor);
}

void load(const float *from, std::vector<double> &to) {
  std::copy_n(from, to.size(), to.begin());
}

} // namespace normalization

Normalization::Normalization(const char *kernel, Context &cx, Tensors in,
                             const Tensor &statistic, const Ints &axes,
                             double epsilon, const Ints &param_dims,
                             int64_t sample_groups, const Reals &clamp) {
  // The first operand is x or dy, which are alike.
  expect(kernel, in.size() > 0, "expected operands, found none");
  const Tensor &x = in.begin()[0];
  expect_type(kernel, "operand", x, DType::f32);
  groups = std::make_unique<SampleGroups>(kernel, x, statistic, sample_groups,
                                          axes, param_dims);
  work = std::make_unique<NormalizeWork>(kernel, cx, groups->part(x, 0), axes,
                                         epsilon, param_dims, clamp);
  if (groups->count > 1)
    work->group_gradients.resize(2 * std::size_t(work->parameters));
}

Normalization::~Normalization() = default;

} // namespace ffrt
