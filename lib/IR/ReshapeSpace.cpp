//===- ReshapeSpace.cpp - common factors of two shapes --------------------===//

#include "ReshapeSpace.h"

#include <algorithm>
#include <numeric>
#include <set>

using namespace ffc;
using namespace ffc::ff;
using plan::DimMap;

/// Of elements in a part of a dimension; nobody wants to copy that many.
static constexpr int64_t kMaxRuns = 1 << 16;

namespace {

/// Dimensions of both tensors with equal products: the shortest runs from the
/// left. Dimensions of extent 1 belong to no run.
struct Run {
  std::vector<int> x, y;
  int64_t elements = 1;
  /// Extents of its factors, most significant first.
  std::vector<int64_t> factors;
  /// The tensors' dimensions are products of factors.
  bool refined = false;
};

/// Prefix products of the extents of `dims`.
std::vector<int64_t> prefixes(const plan::Shape &shape,
                              const std::vector<int> &dims) {
  std::vector<int64_t> result;
  int64_t product = 1;
  for (int d : dims)
    result.push_back(product *= shape[d]);
  return result;
}

std::vector<Run> splitIntoRuns(const plan::Shape &x, const plan::Shape &y) {
  std::vector<Run> runs;
  size_t i = 0, j = 0;
  auto skipOnes = [&] {
    while (i < x.size() && x[i] == 1)
      ++i;
    while (j < y.size() && y[j] == 1)
      ++j;
  };
  for (skipOnes(); i < x.size(); skipOnes()) {
    Run run;
    int64_t px = 1, py = 1;
    do {
      std::vector<int> &dims = px <= py ? run.x : run.y;
      size_t &d = px <= py ? i : j;
      const plan::Shape &shape = px <= py ? x : y;
      (px <= py ? px : py) *= shape[d];
      if (shape[d] != 1)
        dims.push_back(static_cast<int>(d));
      ++d;
    } while (px != py);
    run.elements = px;
    runs.push_back(std::move(run));
  }
  return runs;
}

/// Factors a run: between consecutive prefix products of both sides if these
/// divide each other, else the common divisor of the leading dimensions and one
/// merged rest.
void factor(Run &run, const plan::Shape &x, const plan::Shape &y) {
  std::set<int64_t> bounds;
  for (int64_t bound : prefixes(x, run.x))
    bounds.insert(bound);
  for (int64_t bound : prefixes(y, run.y))
    bounds.insert(bound);
  int64_t last = 1;
  run.refined = true;
  for (int64_t bound : bounds) {
    run.refined &= bound % last == 0;
    run.factors.push_back(bound / last);
    last = bound;
  }
  if (run.refined)
    return;
  int64_t common = std::gcd(x[run.x.front()], y[run.y.front()]);
  run.factors = {run.elements / common};
  if (common > 1)
    run.factors.insert(run.factors.begin(), common);
}

/// Maps the dimensions `dims` of one tensor onto the factors of `run`, which
/// start at number `first`, and records which dimensions they lead.
void mapDims(const Run &run, const std::vector<int> &dims,
             const plan::Shape &shape, int first, std::vector<DimMap> &maps,
             std::vector<ReshapeSpace::Factor> &factors,
             int ReshapeSpace::Factor::*leads) {
  if (!run.refined) {
    // Position t of the common divisor covers a block of the leading dimension;
    // all else is read whole.
    if (run.factors.size() == 2) {
      int64_t block = shape[dims.front()] / run.factors.front();
      maps[dims.front()] = DimMap::window(first, block, block, 0);
      factors[first].*leads = dims.front();
    }
    return;
  }
  int f = first;
  for (int d : dims) {
    factors[f].*leads = d;
    std::vector<int> digits;
    for (int64_t left = shape[d]; left > 1; left /= factors[f++].extent)
      digits.push_back(f);
    maps[d] = DimMap::digits(std::move(digits));
  }
}

} // namespace

ReshapeSpace ff::reshapeSpace(const plan::Shape &x, const plan::Shape &y) {
  std::vector<Run> runs = splitIntoRuns(x, y);
  size_t count = 0;
  for (Run &run : runs) {
    factor(run, x, y);
    count += run.factors.size();
  }
  // Two tensors of rank 8 may have 15 factors; the last runs give up theirs.
  for (auto run = runs.rbegin(); count > plan::kMaxRank; ++run) {
    count -= run->factors.size() - 1;
    run->refined = run->x.size() == 1 && run->y.size() == 1;
    run->factors = {run->elements};
  }

  ReshapeSpace space;
  space.x.assign(x.size(), DimMap::full());
  space.y.assign(y.size(), DimMap::full());
  for (const Run &run : runs) {
    int first = static_cast<int>(space.factors.size());
    for (int64_t extent : run.factors) {
      ReshapeSpace::Factor factor;
      factor.extent = extent;
      space.factors.push_back(factor);
    }
    space.factors.back().splittable = run.refined;
    // A part of a factor is a run of elements for each of those before it.
    int64_t runs = 1;
    for (size_t i = first; i < space.factors.size(); ++i) {
      if (runs > kMaxRuns)
        space.factors[i].splittable = false;
      runs *= space.factors[i].extent;
    }
    mapDims(run, run.x, x, first, space.x, space.factors,
            &ReshapeSpace::Factor::leadsX);
    mapDims(run, run.y, y, first, space.y, space.factors,
            &ReshapeSpace::Factor::leadsY);
  }
  return space;
}
