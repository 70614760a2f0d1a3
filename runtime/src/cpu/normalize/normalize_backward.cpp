//===- normalize_backward.cpp - gradients of normalisations ---------------===//
#include "ffrt/normalize.h"

#include "cpu/normalize/normalize_group.h"

#include <algorithm>

namespace ffrt {

using namespace normalization;

namespace {

/// Sums over the statistics of each parameter.
void to_parameters(const NormalizeWork &work, const std::vector<double> &from,
                   std::vector<double> &scratch, Real *to) {
  if (!to)
    return;
  std::fill_n(scratch.begin(), work.parameters, 0.0);
  for (std::size_t s = 0; s < from.size(); ++s)
    scratch[std::size_t(work.parameter_of[s])] += from[s];
  for (int64_t i = 0; i < work.parameters; ++i)
    to[i] = Real(scratch[std::size_t(i)]);
}

void scale_up(const NormalizeWork &work, const Real *scale,
              std::vector<double> &sums) {
  for (std::size_t s = 0; s < sums.size(); ++s)
    sums[s] *= work.scale_of(scale, int64_t(s));
}

/// dx from the sums of g and g * h in first and second.
void gradient_data(NormalizeWork &work, const Tensor &dy, const Tensor &x,
                   const Real *scale, const Tensor &addend, const Tensor &dx) {
  if (!dx.data)
    return;
  if (!work.by_columns)
    return sets::gradient_data(work, dy, x,
                               {scale, nullptr, nullptr, addend, dx});
  for (int64_t s = 0; s < work.statistics; ++s) {
    const double inverse = work.inverse[s];
    work.a[s] = Real(inverse * work.scale_of(scale, s));
    work.b[s] = Real(-inverse * inverse * (work.second[s] / work.count));
    work.c[s] = Real(-inverse * (work.first[s] / work.count));
  }
  columns::gradient_data(work, dy, x, addend, dx);
}

} // namespace

/// The sums over columns that the gradients of the data need, and those of the
/// parameters.
static void column_sums(NormalizeWork &w, const Tensor &dy, const Tensor &x,
                        const Real *scale, Real *dscale, Real *dbias) {
  columns::gradient_sums(w, dy, x);
  to_parameters(w, w.second, w.partial, dscale);
  to_parameters(w, w.first, w.partial, dbias);
  scale_up(w, scale, w.first);
  scale_up(w, scale, w.second);
}

void NormalizeBackward::operator()(Tensors in, Tensors out) {
  NormalizeWork &w = *work;
  const Real *scale = data(in, 4);
  for_each_group(w, [&](const Group &group) {
    const Tensor dy = group.like(in, 0), x = group.like(in, 1),
                 addend = group.like(in, 6), dx = group.like(out, 0);
    Real *dscale = group.gradient(out, 1, 0),
         *dbias = group.gradient(out, 2, 1);
    w.use(group.statistic(in, 2), group.statistic(in, 3));
    w.use_parameters(data(in, 4), data(in, 5));
    if (w.by_columns) {
      column_sums(w, dy, x, scale, dscale, dbias);
      gradient_data(w, dy, x, scale, addend, dx);
    } else {
      sets::gradient(w, dy, x, {scale, dscale, dbias, addend, dx},
                     /*whole=*/true);
    }
    group.add(out, 1, 0);
    group.add(out, 2, 1);
  });
}

void NormalizeBackwardSums::operator()(Tensors in, Tensors out) {
  NormalizeWork &w = *work;
  const Real *scale = data(in, 4);
  for_each_group(w, [&](const Group &group) {
    const Tensor dy = group.like(in, 0), x = group.like(in, 1);
    Real *dscale = group.gradient(out, 2, 0),
         *dbias = group.gradient(out, 3, 1);
    w.use(group.statistic(in, 2), group.statistic(in, 3));
    w.use_parameters(data(in, 4), data(in, 5));
    if (w.by_columns) {
      column_sums(w, dy, x, scale, dscale, dbias);
    } else {
      sets::gradient(w, dy, x, {scale, dscale, dbias, {}, {}},
                     /*whole=*/false);
    }
    group.add(out, 2, 0);
    group.add(out, 3, 1);
    store(w.first, group.statistic(out, 0));
    store(w.second, group.statistic(out, 1));
  });
}

void NormalizeBackwardData::operator()(Tensors in, Tensors out) {
  NormalizeWork &w = *work;
  for_each_group(w, [&](const Group &group) {
    w.use(group.statistic(in, 2), group.statistic(in, 3));
    w.use_parameters(data(in, 4), data(in, 5));
    load(group.statistic(in, 6), w.first);
    load(group.statistic(in, 7), w.second);
    gradient_data(w, group.like(in, 0), group.like(in, 1), data(in, 4),
                  group.like(in, 8), group.like(out, 0));
  });
}

//===----------------------------------------------------------------------===//
// Backward, one scale per statistic
//===----------------------------------------------------------------------===//

void NormalizeChannelSums::operator()(Tensors in, Tensors out) {
  NormalizeWork &w = *work;
  w.use(data(in, 2), data(in, 3));
  w.use_parameters(data(in, 4), data(in, 5));
  if (w.by_columns)
    columns::gradient_sums(w, at(in, 0), at(in, 1));
  else
    sets::gradient(w, at(in, 0), at(in, 1), {}, /*whole=*/false);
  store(w.first, data(out, 0));
  store(w.second, data(out, 1));
}

void NormalizeChannelData::operator()(Tensors in, Tensors out) {
  NormalizeWork &w = *work;
  const Real *scale = data(in, 4);
  w.use(data(in, 2), data(in, 3));
  w.use_parameters(data(in, 4), data(in, 5));
  load(data(in, 6), w.first);
  load(data(in, 7), w.second);
  store(w.second, data(out, 1));
  store(w.first, data(out, 2));
  scale_up(w, scale, w.first);
  scale_up(w, scale, w.second);
  gradient_data(w, at(in, 0), at(in, 1), scale, at(in, 8), at(out, 0));
}

} // namespace ffrt
