//===- normalize_work.cu - geometry of normalisations on GPUs -------------===//
#include "cuda/normalize/normalize_work.h"

#include "common/kernels/check.h"

#include <algorithm>

namespace ffrt {

using namespace normalization;

namespace {

/// The dimensions of x that `has` tells of, and the groups before them or not.
/// With `statistics`, of these as if they were x.
template <class Has>
Nest<3> places_of(const NormalizeGeometry &g, const Tensor &x, bool groups,
                  Has has, bool statistics = false) {
  Index shape, strides[3];
  int rank = 0;
  auto add = [&](int64_t extent, int64_t first, int64_t second, int64_t third) {
    shape[rank] = extent;
    strides[0][rank] = statistics ? second : first;
    strides[1][rank] = second;
    strides[2][rank] = third;
    ++rank;
  };
  int64_t part = 1;
  for (int d = 0; d < x.rank; ++d)
    part *= x.shape[d];
  if (groups && g.groups.count > 1)
    add(g.groups.count, part, g.statistics, 0);
  const Index own = x.strides();
  for (int d = 0; d < x.rank; ++d)
    if (has(d))
      add(x.shape[d], own[d], g.statistic[d], g.parameter[d]);
  return {rank, shape, {strides[0], strides[1], strides[2]}};
}

Reduction by_statistic(const NormalizeGeometry &g, const Tensor &x) {
  return {places_of(g, x, true, [&](int d) { return !g.reduced[d]; }),
          places_of(g, x, false, [&](int d) { return g.reduced[d]; })};
}

Reduction by_parameter(const NormalizeGeometry &g, const Tensor &x) {
  const bool of_statistics = g.constant;
  auto is_left = [&](int d) {
    return !g.has_parameter[d] && !(of_statistics && g.reduced[d]);
  };
  return {places_of(
              g, x, false, [&](int d) { return g.has_parameter[d]; },
              of_statistics),
          places_of(g, x, true, is_left, of_statistics)};
}

} // namespace

NormalizeWork::NormalizeWork(const NormalizeGeometry &geometry, const Tensor &x)
    : NormalizeWork(geometry, x,
                    places_of(geometry, x, true, [](int) { return true; })) {}

NormalizeWork::NormalizeWork(const NormalizeGeometry &geometry, const Tensor &x,
                             const Nest<3> &places)
    : all(places), groups(places, cuda::kGroup),
      has_groups(cuda::has_groups(places)), sets(by_statistic(geometry, x)),
      parameters(by_parameter(geometry, x)),
      statistics(geometry.groups.count * geometry.statistics),
      each(cuda::groups_of(statistics) * cuda::kGroup), cuts(geometry.cuts),
      constant(geometry.constant) {
  cuda::device().reserve(std::size_t(each) * 6 * sizeof(float) +
                         (std::size_t(statistics) +
                          std::max(sets.partial(), parameters.partial())) *
                             sizeof(Pair));
}

std::shared_ptr<NormalizeWork>
make_normalize_work(const NormalizeGeometry &geometry, const Context & /*cx*/,
                    const Tensor &x) {
  // The groups are a dimension beside those of x.
  expect(geometry.kernel, geometry.groups.count == 1 || x.rank < kMaxRank,
         "sample_groups: expected fewer than " + std::to_string(kMaxRank) +
             " dimensions");
  return std::make_shared<NormalizeWork>(geometry, x);
}

} // namespace ffrt
