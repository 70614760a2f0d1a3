//===- Rules.cpp - how an operator can be partitioned ---------------------===//

#include "ffc/Plan/Rules.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

using namespace ffc::plan;

static int64_t ceilDiv(int64_t a, int64_t b) {
  return a >= 0 ? (a + b - 1) / b : -(-a / b);
}
static int64_t floorDiv(int64_t a, int64_t b) {
  return a >= 0 ? a / b : -ceilDiv(-a, b);
}

int64_t ffc::plan::maxDegree(const IterDim &dim) {
  return ceilDiv(dim.extent, dim.granularity);
}

Interval ffc::plan::blockOf(const IterDim &dim, int64_t degree, int64_t index) {
  int64_t units = maxDegree(dim);
  int64_t small = units / degree, larger = units % degree;
  auto unit = [&](int64_t i) { return i * small + std::min(i, larger); };
  return {unit(index) * dim.granularity,
          std::min(unit(index + 1) * dim.granularity, dim.extent)};
}

Interval ffc::plan::blockOf(const IterDim &dim,
                            const std::vector<int64_t> &shares, int64_t index) {
  const int64_t units = maxDegree(dim);
  const auto degree = static_cast<int64_t>(shares.size());
  const int64_t all = std::accumulate(shares.begin(), shares.end(), int64_t(0));
  // The nearest border, with a unit for every block on both sides of it.
  int64_t begin = 0, end = 0, before = 0;
  for (int64_t i = 0; i <= index; ++i) {
    begin = end;
    before += shares[i];
    const int64_t nearest = (2 * units * before + all) / (2 * all);
    end = std::max(begin + 1, std::min(nearest, units - (degree - 1 - i)));
  }
  return {begin * dim.granularity, std::min(end * dim.granularity, dim.extent)};
}

DimMap DimMap::window(int d, int64_t stride, int64_t reach, int64_t pad) {
  DimMap map;
  map.kind = Kind::Window;
  map.dims = {d};
  map.stride = stride;
  map.reach = reach;
  map.pad = pad;
  return map;
}

DimMap DimMap::inverse(int d, int64_t stride, int64_t reach, int64_t pad) {
  DimMap map = window(d, stride, reach, pad);
  map.kind = Kind::Inverse;
  return map;
}

DimMap DimMap::digits(std::vector<int> dims) {
  if (dims.empty())
    return full();
  if (dims.size() == 1)
    return dim(dims.front());
  DimMap map;
  map.kind = Kind::Digits;
  map.dims = std::move(dims);
  return map;
}

bool DimMap::involves(int iterDim) const {
  return std::find(dims.begin(), dims.end(), iterDim) != dims.end();
}

bool SlotWrite::isPartialAlong(int dim) const {
  return reduction != Reduction::None && dim >= 0 &&
         std::find(copiedAlong.begin(), copiedAlong.end(), dim) ==
             copiedAlong.end() &&
         std::none_of(access.dims.begin(), access.dims.end(),
                      [&](const DimMap &map) { return map.involves(dim); });
}

/// Intervals of a mixed-radix number whose digits lie in the tile's intervals.
/// Digits below the last one that is cut are whole, so a cut digit and all
/// below it form one run; the digits above are enumerated.
static std::vector<Interval> digitIntervals(const std::vector<int> &digits,
                                            const std::vector<IterDim> &space,
                                            const Tile &tile) {
  std::vector<Interval> runs = {{0, 1}};
  for (int digit : digits) {
    int64_t radix = space[digit].extent;
    Interval range = tile[digit];
    std::vector<Interval> next;
    for (Interval run : runs) {
      if (range.lo == 0 && range.hi == radix) {
        next.push_back({run.lo * radix, run.hi * radix});
        continue;
      }
      for (int64_t high = run.lo; high < run.hi; ++high)
        next.push_back({high * radix + range.lo, high * radix + range.hi});
    }
    runs = std::move(next);
  }
  // Neighbouring runs (one element each side of a digit's end) become one.
  std::vector<Interval> merged;
  for (Interval run : runs) {
    if (run.empty())
      continue;
    if (!merged.empty() && merged.back().hi == run.lo)
      merged.back().hi = run.hi;
    else
      merged.push_back(run);
  }
  return merged;
}

/// The same if there is one interval at once: no digit is cut below one of
/// several values.
static std::optional<Interval> digitInterval(const std::vector<int> &digits,
                                             const std::vector<IterDim> &space,
                                             const Tile &tile) {
  Interval run{0, 1};
  for (int digit : digits) {
    const int64_t radix = space[digit].extent;
    const Interval range = tile[digit];
    if (range.lo == 0 && range.hi == radix)
      run = {run.lo * radix, run.hi * radix};
    else if (run.size() == 1 && !range.empty())
      run = {run.lo * radix + range.lo, run.lo * radix + range.hi};
    else
      return std::nullopt;
  }
  return run;
}

/// The interval of a dimension that is not made of digits; may be empty.
static Interval intervalOf(const DimMap &map, const Tile &tile,
                           int64_t extent) {
  Interval range{0, extent};
  if (map.kind == DimMap::Kind::Full)
    return range;
  Interval t = tile[map.dims[0]];
  if (t.empty())
    return {};
  if (map.kind == DimMap::Kind::Window)
    return range.intersect({t.lo * map.stride - map.pad,
                            (t.hi - 1) * map.stride - map.pad + map.reach});
  assert(map.kind == DimMap::Kind::Inverse && "digits");
  return range.intersect({ceilDiv(t.lo + map.pad - map.reach + 1, map.stride),
                          floorDiv(t.hi - 1 + map.pad, map.stride) + 1});
}

Region ffc::plan::regionOf(const Access &access,
                           const std::vector<IterDim> &space, const Tile &tile,
                           const Shape &shape) {
  const int rank = static_cast<int>(shape.size());
  for (int d : access.onlyAtStart)
    if (tile[d].lo != 0) {
      // A rank-0 tensor cannot be empty by its intervals; such operands must
      // not be restricted.
      assert(!shape.empty() && "scalar operand restricted to the first tile");
      return Region(Box(rank));
    }
  Box box(rank);
  bool apart = false;
  for (int d = 0; d < rank; ++d)
    if (access.dims[d].kind != DimMap::Kind::Digits)
      box[d] = intervalOf(access.dims[d], tile, shape[d]);
    else if (auto whole = digitInterval(access.dims[d].dims, space, tile))
      box[d] = *whole;
    else
      apart = true;
  if (!apart)
    return Region(box);
  std::vector<std::vector<Interval>> dims(shape.size());
  for (int d = 0; d < rank; ++d)
    if (access.dims[d].kind == DimMap::Kind::Digits)
      dims[d] = digitIntervals(access.dims[d].dims, space, tile);
    else if (!box[d].empty())
      dims[d] = {box[d]};
  return Region(std::move(dims));
}

bool ffc::plan::isFloat(ElementType type) {
  switch (type) {
  case ElementType::F32:
  case ElementType::F64:
  case ElementType::BF16:
  case ElementType::F16:
    return true;
  case ElementType::I32:
  case ElementType::I64:
  case ElementType::U8:
  case ElementType::Bool:
    return false;
  }
  return false;
}

int64_t ffc::plan::byteSize(ElementType type) {
  switch (type) {
  case ElementType::F64:
  case ElementType::I64:
    return 8;
  case ElementType::F32:
  case ElementType::I32:
    return 4;
  case ElementType::BF16:
  case ElementType::F16:
    return 2;
  case ElementType::U8:
  case ElementType::Bool:
    return 1;
  }
  return 0;
}

int64_t ffc::plan::bufferBytes(const Region &region, MemoryOrder order,
                               ElementType type) {
  int64_t elements = region.volume();
  if (order == MemoryOrder::Pitched && elements > 0) {
    const int64_t columns = region.shape().back();
    elements = elements / columns * pitchOf(columns);
  }
  return elements * byteSize(type);
}

const char *ffc::plan::str(ElementType type) {
  switch (type) {
  case ElementType::F32:
    return "f32";
  case ElementType::F64:
    return "f64";
  case ElementType::I32:
    return "i32";
  case ElementType::I64:
    return "i64";
  case ElementType::U8:
    return "u8";
  case ElementType::Bool:
    return "bool";
  case ElementType::BF16:
    return "bf16";
  case ElementType::F16:
    return "f16";
  }
  return "";
}

int OpRules::findDim(const std::string &name) const {
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d].name == name)
      return static_cast<int>(d);
  return -1;
}

bool OpRules::splittable(int d) const {
  return std::any_of(
      schedules.begin(), schedules.end(), [&](const Schedule &schedule) {
        return std::find(schedule.unsplit.begin(), schedule.unsplit.end(), d) ==
               schedule.unsplit.end();
      });
}

double ffc::plan::flopsOf(const Phase &phase, const Tile &tile) {
  return phase.flopsPerPoint * static_cast<double>(tile.volume());
}

int64_t ffc::plan::touchedBytes(double touchedPerPoint, const Tile &tile,
                                ElementType type, int64_t bytes) {
  if (touchedPerPoint == 0)
    return bytes;
  double touched = touchedPerPoint * static_cast<double>(tile.volume()) *
                   static_cast<double>(byteSize(type));
  return touched < static_cast<double>(bytes) ? std::llround(touched) : bytes;
}
