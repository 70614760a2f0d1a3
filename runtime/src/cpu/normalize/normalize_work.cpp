//===- normalize_work.cpp - scratch of normalisations ---------------------===//
#include "cpu/normalize/normalize_work.h"

#include <algorithm>
#include <cmath>

namespace ffrt {

NormalizeWork::NormalizeWork(const NormalizeGeometry &geometry,
                             const Context &cx, const Tensor &x)
    : NormalizeGeometry(geometry) {
  const Nest<2> rows(x.rank, x.shape, {x.strides(), statistic});
  const Nest<2>::Offsets fastest = rows.inner_stride();
  by_columns = constant && fastest[0] == 1 && fastest[1] == 1;
  parts = int(std::clamp<int64_t>(x.elements() / 32768, 1, cx.threads));

  const auto n = std::size_t(statistics), p = std::size_t(parts);
  if (constant) {
    parameter_of.resize(n);
    Index shape;
    for (int d = 0; d < x.rank; ++d)
      shape[d] = reduced[d] ? 1 : x.shape[d];
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
  if (cuts)
    for (auto *values : {&line_a, &line_b})
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
  if (groups.count > 1)
    group_gradients.resize(2 * std::size_t(parameters));
}

void NormalizeWork::use(const Real *given_mean, const Real *given_var) {
  for (std::size_t s = 0; s < mean.size(); ++s) {
    mean[s] = given_mean[s];
    inverse[s] = Real(1.0 / std::sqrt(double(given_var[s]) + epsilon));
  }
}

void NormalizeWork::use_parameters(const Real *scale, const Real *bias) {
  // As the forward operator computes it.
  for (std::size_t s = 0; s < line_a.size(); ++s) {
    line_a[s] = inverse[s] * scale_of(scale, int64_t(s));
    line_b[s] = bias ? bias[parameter_of[s]] : 0.0f;
  }
}

std::shared_ptr<NormalizeWork>
make_normalize_work(const NormalizeGeometry &geometry, const Context &cx,
                    const Tensor &x) {
  return std::make_shared<NormalizeWork>(geometry, cx, x);
}

} // namespace ffrt
