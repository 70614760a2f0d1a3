//===- normalize.cpp - batch, instance, group and layer normalisation -----===//
#include "ffrt/normalize.h"

#include "normalize_group.h"

#include <cmath>

namespace ffrt {

using namespace normalization;

namespace {

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

} // namespace

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

} // namespace ffrt
