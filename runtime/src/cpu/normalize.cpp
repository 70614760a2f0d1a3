//===- normalize.cpp - batch, instance, group and layer normalisation -----===//
#include "ffrt/normalize.h"

#include "common/check.h"
#include "normalize_work.h"

#include <algorithm>
#include <cmath>

namespace ffrt {

//===----------------------------------------------------------------------===//
// Geometry
//===----------------------------------------------------------------------===//

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

//===----------------------------------------------------------------------===//
// Common to all kernels
//===----------------------------------------------------------------------===//

namespace {

const Tensor &at(Tensors tensors, int i) { return tensors.begin()[i]; }

/// Absent operands and results are null.
float *data(Tensors tensors, int i) { return at(tensors, i).as<float>(); }

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

/// What each operand or result must be: x (present or not), a statistic or a
/// parameter.
enum class Kind { Like, Statistic, Parameter };
struct Argument {
  const char *name;
  Kind kind;
};

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

constexpr Argument kX{"x", Kind::Like}, kY{"y", Kind::Like},
    kDy{"dy", Kind::Like}, kDx{"dx", Kind::Like},
    kMean{"mean", Kind::Statistic}, kVar{"var", Kind::Statistic},
    kFirst{"first sums", Kind::Statistic},
    kSecond{"second sums", Kind::Statistic}, kScale{"scale", Kind::Parameter},
    kBias{"bias", Kind::Parameter}, kDscale{"dscale", Kind::Parameter},
    kDbias{"dbias", Kind::Parameter};

void expect_whole(const char *kernel, const Tensor &x, const Ints &axes) {
  for (int64_t d : axes)
    expect(kernel, x.shape[int(d)] == x.global[int(d)],
           "axes: expected whole dimensions, found dimension " +
               std::to_string(d) + " split");
}

void store(const std::vector<double> &from, float *to, double factor = 1) {
  if (to)
    for (std::size_t i = 0; i < from.size(); ++i)
      to[i] = float(from[i] * factor);
}

void load(const float *from, std::vector<double> &to) {
  std::copy_n(from, to.size(), to.begin());
}

/// y from the statistics in mean and inverse.
void apply(NormalizeWork &work, const Tensor &x, const Tensor &y,
           const float *scale, const float *bias) {
  if (!y.data)
    return;
  if (!work.by_columns)
    return sets::apply(work, x, {scale, bias, y.as<float>()});
  for (int64_t s = 0; s < work.statistics; ++s) {
    work.a[s] = work.inverse[s] * work.scale_of(scale, s);
    work.b[s] = bias ? bias[work.parameter_of[s]] : 0.0f;
  }
  columns::apply(work, x, y);
}

/// Sums over the statistics of each parameter.
void to_parameters(const NormalizeWork &work, const std::vector<double> &from,
                   std::vector<double> &scratch, float *to) {
  if (!to)
    return;
  std::fill_n(scratch.begin(), work.parameters, 0.0);
  for (std::size_t s = 0; s < from.size(); ++s)
    scratch[std::size_t(work.parameter_of[s])] += from[s];
  for (int64_t i = 0; i < work.parameters; ++i)
    to[i] = float(scratch[std::size_t(i)]);
}

void scale_up(const NormalizeWork &work, const float *scale,
              std::vector<double> &sums) {
  for (std::size_t s = 0; s < sums.size(); ++s)
    sums[s] *= work.scale_of(scale, int64_t(s));
}

/// dx from the sums of g and g * h in first and second.
void gradient_data(NormalizeWork &work, const Tensor &dy, const Tensor &x,
                   const float *scale, const Tensor &dx) {
  if (!dx.data)
    return;
  if (!work.by_columns)
    return sets::gradient_data(work, dy, x,
                               {scale, nullptr, nullptr, dx.as<float>()});
  for (int64_t s = 0; s < work.statistics; ++s) {
    const double inverse = work.inverse[s];
    work.a[s] = float(inverse * work.scale_of(scale, s));
    work.b[s] = float(-inverse * inverse * (work.second[s] / work.count));
    work.c[s] = float(-inverse * (work.first[s] / work.count));
  }
  columns::gradient_data(work, dy, x, dx);
}

} // namespace

Normalization::Normalization(const char *kernel, Context &cx, Tensors in,
                             const Tensor &statistic, const Ints &axes,
                             double epsilon, const Ints &param_dims,
                             int64_t sample_groups, const Reals &clamp) {
  // The first operand is x or dy, which are alike.
  expect(kernel, in.size() > 0, "expected operands, found none");
  const Tensor &x = at(in, 0);
  expect_type(kernel, "operand", x, DType::f32);
  groups = std::make_unique<SampleGroups>(kernel, x, statistic, sample_groups,
                                          axes, param_dims);
  work = std::make_unique<NormalizeWork>(kernel, cx, groups->part(x, 0), axes,
                                         epsilon, param_dims, clamp);
  if (groups->count > 1)
    work->group_gradients.resize(2 * std::size_t(work->parameters));
}

Normalization::~Normalization() = default;

namespace {

/// The tensors of one kernel as a group of samples has them.
class Group {
public:
  Group(NormalizeWork &work, const SampleGroups &groups, int64_t number)
      : work(work), groups(groups), number(number) {}

  /// Of x's shape.
  Tensor like(Tensors tensors, int i) const {
    return groups.part(at(tensors, i), number);
  }
  /// A statistic; null if absent.
  float *statistic(Tensors tensors, int i) const {
    float *all = data(tensors, i);
    return all ? all + number * work.statistics : nullptr;
  }
  /// Where the gradient of parameter `i` goes, 0 for scale and 1 for bias: that
  /// of the first group into the result, to which `add` adds the others'.
  float *gradient(Tensors results, int result, int i) const {
    float *all = data(results, result);
    return all && number > 0 ? scratch(i) : all;
  }
  void add(Tensors results, int result, int i) const {
    float *all = data(results, result);
    if (!all || number == 0)
      return;
    const float *more = scratch(i);
    for (int64_t p = 0; p < work.parameters; ++p)
      all[p] += more[p];
  }

private:
  float *scratch(int i) const {
    return work.group_gradients.data() + i * work.parameters;
  }

  NormalizeWork &work;
  const SampleGroups &groups;
  int64_t number;
};

template <class F>
void for_each_group(NormalizeWork &work, const SampleGroups &groups, F &&f) {
  for (int64_t g = 0; g < groups.count; ++g)
    f(Group(work, groups, g));
}

/// Tensor `i`, or an absent one.
Tensor maybe(Tensors tensors, std::size_t i) {
  return i < tensors.size() ? tensors.begin()[i] : Tensor();
}

} // namespace

//===----------------------------------------------------------------------===//
// Forward
//===----------------------------------------------------------------------===//

NormalizeForward::NormalizeForward(Context &cx, Tensors in, Tensors out,
                                   const Ints &axes, const Reals &clamp,
                                   double epsilon, const Ints &param_dims,
                                   int64_t sample_groups)
    : Normalization("normalize forward", cx, in,
                    maybe(out, 1).data ? maybe(out, 1) : maybe(out, 2), axes,
                    epsilon, param_dims, sample_groups, clamp) {
  expect_arguments(*work, *groups, "operands", in, at(in, 0),
                   {kX, kScale, kBias});
  expect_arguments(*work, *groups, "results", out, at(in, 0),
                   {kY, kMean, kVar});
  expect_whole(work->kernel, groups->part(at(in, 0), 0), axes);
}

void NormalizeForward::operator()(Tensors in, Tensors out) {
  NormalizeWork &w = *work;
  for_each_group(w, *groups, [&](const Group &group) {
    const Tensor x = group.like(in, 0), y = group.like(out, 0);
    if (w.by_columns) {
      columns::moments(w, x);
      for (int64_t s = 0; s < w.statistics; ++s) {
        w.mean[s] = float(w.first[s]);
        w.inverse[s] =
            float(1.0 / std::sqrt(w.second[s] / w.count + w.epsilon));
      }
      apply(w, x, y, data(in, 1), data(in, 2));
    } else {
      sets::forward(w, x, {data(in, 1), data(in, 2), y.as<float>()});
    }
    store(w.first, group.statistic(out, 1));
    store(w.second, group.statistic(out, 2), 1 / w.count);
  });
}

NormalizeSum::NormalizeSum(Context &cx, Tensors in, Tensors out,
                           const Ints &axes, const Reals &clamp, double epsilon,
                           const Ints &param_dims, int64_t sample_groups)
    : Normalization("normalize sum", cx, in, maybe(out, 0), axes, epsilon,
                    param_dims, sample_groups, clamp) {
  expect_arguments(*work, *groups, "operands", in, at(in, 0), {kX});
  expect_arguments(*work, *groups, "results", out, at(in, 0), {kFirst});
}

void NormalizeSum::operator()(Tensors in, Tensors out) {
  for_each_group(*work, *groups, [&](const Group &group) {
    const Tensor x = group.like(in, 0);
    work->by_columns ? columns::sum(*work, x) : sets::sum(*work, x);
    store(work->first, group.statistic(out, 0));
  });
}

NormalizeSquares::NormalizeSquares(Context &cx, Tensors in, Tensors out,
                                   const Ints &axes, const Reals &clamp,
                                   double epsilon, const Ints &param_dims,
                                   int64_t sample_groups)
    : Normalization("normalize squares", cx, in, maybe(in, 1), axes, epsilon,
                    param_dims, sample_groups, clamp) {
  expect_arguments(*work, *groups, "operands", in, at(in, 0), {kX, kFirst});
  expect_arguments(*work, *groups, "results", out, at(in, 0), {kSecond});
}

void NormalizeSquares::operator()(Tensors in, Tensors out) {
  for_each_group(*work, *groups, [&](const Group &group) {
    const Tensor x = group.like(in, 0);
    const float *sums = group.statistic(in, 1);
    for (int64_t s = 0; s < work->statistics; ++s)
      work->mean[s] = float(sums[s] / work->count);
    work->by_columns ? columns::squares(*work, x) : sets::squares(*work, x);
    store(work->second, group.statistic(out, 0));
  });
}

NormalizeApply::NormalizeApply(Context &cx, Tensors in, Tensors out,
                               const Ints &axes, const Reals &clamp,
                               double epsilon, const Ints &param_dims,
                               int64_t sample_groups)
    : Normalization("normalize apply", cx, in, maybe(in, 1), axes, epsilon,
                    param_dims, sample_groups, clamp) {
  expect_arguments(*work, *groups, "operands", in, at(in, 0),
                   {kX, kFirst, kSecond, kScale, kBias});
  expect_arguments(*work, *groups, "results", out, at(in, 0),
                   {kY, kMean, kVar});
}

void NormalizeApply::operator()(Tensors in, Tensors out) {
  NormalizeWork &w = *work;
  for_each_group(w, *groups, [&](const Group &group) {
    load(group.statistic(in, 1), w.first);
    load(group.statistic(in, 2), w.second);
    for (int64_t s = 0; s < w.statistics; ++s) {
      w.mean[s] = float(w.first[s] / w.count);
      w.inverse[s] = float(1.0 / std::sqrt(w.second[s] / w.count + w.epsilon));
    }
    store(w.first, group.statistic(out, 1), 1 / w.count);
    store(w.second, group.statistic(out, 2), 1 / w.count);
    apply(w, group.like(in, 0), group.like(out, 0), data(in, 3), data(in, 4));
  });
}

//===----------------------------------------------------------------------===//
// Backward
//===----------------------------------------------------------------------===//

NormalizeBackward::NormalizeBackward(Context &cx, Tensors in, Tensors out,
                                     const Ints &axes, double epsilon,
                                     const Ints &param_dims,
                                     int64_t sample_groups)
    : Normalization("normalize backward", cx, in, maybe(in, 2), axes, epsilon,
                    param_dims, sample_groups) {
  expect_arguments(*work, *groups, "operands", in, at(in, 0),
                   {kDy, kX, kMean, kVar, kScale});
  expect_arguments(*work, *groups, "results", out, at(in, 0),
                   {kDx, kDscale, kDbias});
  expect_whole(work->kernel, groups->part(at(in, 0), 0), axes);
}

void NormalizeBackward::operator()(Tensors in, Tensors out) {
  NormalizeWork &w = *work;
  const float *scale = data(in, 4);
  for_each_group(w, *groups, [&](const Group &group) {
    const Tensor dy = group.like(in, 0), x = group.like(in, 1),
                 dx = group.like(out, 0);
    float *dscale = group.gradient(out, 1, 0),
          *dbias = group.gradient(out, 2, 1);
    w.use(group.statistic(in, 2), group.statistic(in, 3));
    if (w.by_columns) {
      columns::gradient_sums(w, dy, x);
      to_parameters(w, w.second, w.partial, dscale);
      to_parameters(w, w.first, w.partial, dbias);
      scale_up(w, scale, w.first);
      scale_up(w, scale, w.second);
      gradient_data(w, dy, x, scale, dx);
    } else {
      sets::gradient(w, dy, x, {scale, dscale, dbias, dx.as<float>()},
                     /*whole=*/true);
    }
    group.add(out, 1, 0);
    group.add(out, 2, 1);
  });
}

NormalizeBackwardSums::NormalizeBackwardSums(Context &cx, Tensors in,
                                             Tensors out, const Ints &axes,
                                             double epsilon,
                                             const Ints &param_dims,
                                             int64_t sample_groups)
    : Normalization("normalize backward sums", cx, in, maybe(in, 2), axes,
                    epsilon, param_dims, sample_groups) {
  expect_arguments(*work, *groups, "operands", in, at(in, 0),
                   {kDy, kX, kMean, kVar, kScale});
  expect_arguments(*work, *groups, "results", out, at(in, 0),
                   {kFirst, kSecond, kDscale, kDbias});
}

void NormalizeBackwardSums::operator()(Tensors in, Tensors out) {
  NormalizeWork &w = *work;
  const float *scale = data(in, 4);
  for_each_group(w, *groups, [&](const Group &group) {
    const Tensor dy = group.like(in, 0), x = group.like(in, 1);
    float *dscale = group.gradient(out, 2, 0),
          *dbias = group.gradient(out, 3, 1);
    w.use(group.statistic(in, 2), group.statistic(in, 3));
    if (w.by_columns) {
      columns::gradient_sums(w, dy, x);
      to_parameters(w, w.second, w.partial, dscale);
      to_parameters(w, w.first, w.partial, dbias);
      scale_up(w, scale, w.first);
      scale_up(w, scale, w.second);
    } else {
      sets::gradient(w, dy, x, {scale, dscale, dbias, nullptr},
                     /*whole=*/false);
    }
    group.add(out, 2, 0);
    group.add(out, 3, 1);
    store(w.first, group.statistic(out, 0));
    store(w.second, group.statistic(out, 1));
  });
}

NormalizeBackwardData::NormalizeBackwardData(Context &cx, Tensors in,
                                             Tensors out, const Ints &axes,
                                             double epsilon,
                                             const Ints &param_dims,
                                             int64_t sample_groups)
    : Normalization("normalize backward data", cx, in, maybe(in, 2), axes,
                    epsilon, param_dims, sample_groups) {
  expect_arguments(*work, *groups, "operands", in, at(in, 0),
                   {kDy, kX, kMean, kVar, kScale, kFirst, kSecond});
  expect_arguments(*work, *groups, "results", out, at(in, 0), {kDx});
}

void NormalizeBackwardData::operator()(Tensors in, Tensors out) {
  NormalizeWork &w = *work;
  for_each_group(w, *groups, [&](const Group &group) {
    w.use(group.statistic(in, 2), group.statistic(in, 3));
    load(group.statistic(in, 5), w.first);
    load(group.statistic(in, 6), w.second);
    gradient_data(w, group.like(in, 0), group.like(in, 1), data(in, 4),
                  group.like(out, 0));
  });
}

//===----------------------------------------------------------------------===//
// Backward, one scale per statistic
//===----------------------------------------------------------------------===//

NormalizeChannelSums::NormalizeChannelSums(Context &cx, Tensors in, Tensors out,
                                           const Ints &axes, double epsilon,
                                           const Ints &param_dims)
    : Normalization("normalize channel sums", cx, in, maybe(in, 2), axes,
                    epsilon, param_dims, /*sample_groups=*/1) {
  expect_arguments(*work, *groups, "operands", in, at(in, 0),
                   {kDy, kX, kMean, kVar});
  expect_arguments(*work, *groups, "results", out, at(in, 0),
                   {kFirst, kSecond});
}

void NormalizeChannelSums::operator()(Tensors in, Tensors out) {
  NormalizeWork &w = *work;
  w.use(data(in, 2), data(in, 3));
  if (w.by_columns)
    columns::gradient_sums(w, at(in, 0), at(in, 1));
  else
    sets::gradient(w, at(in, 0), at(in, 1), {}, /*whole=*/false);
  store(w.first, data(out, 0));
  store(w.second, data(out, 1));
}

NormalizeChannelData::NormalizeChannelData(Context &cx, Tensors in, Tensors out,
                                           const Ints &axes, double epsilon,
                                           const Ints &param_dims)
    : Normalization("normalize channel data", cx, in, maybe(in, 2), axes,
                    epsilon, param_dims, /*sample_groups=*/1) {
  expect_arguments(*work, *groups, "operands", in, at(in, 0),
                   {kDy, kX, kMean, kVar, kScale, kFirst, kSecond});
  expect_arguments(*work, *groups, "results", out, at(in, 0),
                   {kDx, kDscale, kDbias});
  expect(work->kernel, work->statistics == work->parameters,
         "param_dims: expected one parameter per statistic");
}

void NormalizeChannelData::operator()(Tensors in, Tensors out) {
  NormalizeWork &w = *work;
  const float *scale = data(in, 4);
  w.use(data(in, 2), data(in, 3));
  load(data(in, 5), w.first);
  load(data(in, 6), w.second);
  store(w.second, data(out, 1));
  store(w.first, data(out, 2));
  scale_up(w, scale, w.first);
  scale_up(w, scale, w.second);
  gradient_data(w, at(in, 0), at(in, 1), scale, at(out, 0));
}

} // namespace ffrt
