//===- normalize.cpp - batch, instance, group and layer normalisation -----===//
#include "ffrt/normalize.h"

#include "cpu/normalize/normalize_group.h"

#include <cmath>

namespace ffrt {

using namespace normalization;

namespace {

/// y from the statistics in mean and inverse.
void apply(NormalizeWork &work, const Tensor &x, const Real *scale,
           const Real *bias, const Tensor &addend, const Tensor &y) {
  if (!y.data)
    return;
  if (!work.by_columns)
    return sets::apply(work, x, {scale, bias, addend, y});
  for (int64_t s = 0; s < work.statistics; ++s) {
    work.a[s] = work.inverse[s] * work.scale_of(scale, s);
    work.b[s] = bias ? bias[work.parameter_of[s]] : 0.0f;
  }
  columns::apply(work, x, addend, y);
}

} // namespace

void NormalizeForward::operator()(Tensors in, Tensors out) {
  NormalizeWork &w = *work;
  for_each_group(w, [&](const Group &group) {
    const Tensor x = group.like(in, 0), addend = group.like(in, 3),
                 y = group.like(out, 0);
    if (w.by_columns) {
      columns::moments(w, x);
      for (int64_t s = 0; s < w.statistics; ++s) {
        w.mean[s] = Real(w.first[s]);
        w.inverse[s] = Real(1.0 / std::sqrt(w.second[s] / w.count + w.epsilon));
      }
      apply(w, x, data(in, 1), data(in, 2), addend, y);
    } else {
      sets::forward(w, x, {data(in, 1), data(in, 2), addend, y});
    }
    store(w.first, group.statistic(out, 1));
    store(w.second, group.statistic(out, 2), 1 / w.count);
  });
}

void NormalizeSum::operator()(Tensors in, Tensors out) {
  for_each_group(*work, [&](const Group &group) {
    const Tensor x = group.like(in, 0);
    work->by_columns ? columns::sum(*work, x) : sets::sum(*work, x);
    store(work->first, group.statistic(out, 0));
  });
}

void NormalizeSquares::operator()(Tensors in, Tensors out) {
  for_each_group(*work, [&](const Group &group) {
    const Tensor x = group.like(in, 0);
    const Real *sums = group.statistic(in, 1);
    for (int64_t s = 0; s < work->statistics; ++s)
      work->mean[s] = Real(sums[s] / work->count);
    work->by_columns ? columns::squares(*work, x) : sets::squares(*work, x);
    store(work->second, group.statistic(out, 0));
  });
}

void NormalizeApply::operator()(Tensors in, Tensors out) {
  NormalizeWork &w = *work;
  for_each_group(w, [&](const Group &group) {
    load(group.statistic(in, 1), w.first);
    load(group.statistic(in, 2), w.second);
    for (int64_t s = 0; s < w.statistics; ++s) {
      w.mean[s] = Real(w.first[s] / w.count);
      w.inverse[s] = Real(1.0 / std::sqrt(w.second[s] / w.count + w.epsilon));
    }
    store(w.first, group.statistic(out, 1), 1 / w.count);
    store(w.second, group.statistic(out, 2), 1 / w.count);
    apply(w, group.like(in, 0), data(in, 3), data(in, 4), group.like(in, 5),
          group.like(out, 0));
  });
}

} // namespace ffrt
