//===- RewriteColumns.cpp - dimensions side by side, in groups ------------===//

#include "RewriteColumns.h"

#include <algorithm>
#include <numeric>

using namespace mlir;
using namespace ffc;
using namespace ffc::rewriting;

static constexpr int64_t kMostGroups = 64;

int64_t rewriting::groupsOf(ArrayRef<int64_t> extents) {
  int64_t common = 0;
  for (int64_t extent : extents)
    common = std::gcd(common, extent);
  int64_t groups = std::min(common, kMostGroups);
  while (common % groups != 0)
    --groups;
  return groups;
}

/// `shape` with dimension `d` as groups of equally many.
static SmallVector<int64_t> grouped(ArrayRef<int64_t> shape, size_t d,
                                    int64_t groups) {
  SmallVector<int64_t> result(shape);
  result[d] /= groups;
  result.insert(result.begin() + static_cast<std::ptrdiff_t>(d), groups);
  return result;
}

Value rewriting::deal(Maker &maker, const Twine &name, ArrayRef<Value> values,
                      size_t d, int64_t groups) {
  SmallVector<Value> parts;
  SmallVector<int64_t> shape(shapeOf(values.front()));
  shape[d] = 0;
  for (auto [number, value] : llvm::enumerate(values)) {
    shape[d] += shapeOf(value)[d];
    parts.push_back(maker.reshape(name + ".groups" + Twine(number), value,
                                  grouped(shapeOf(value), d, groups)));
  }
  return maker.reshape(
      name, maker.concat(name + ".parts", parts, static_cast<int64_t>(d) + 1),
      shape);
}

SmallVector<Value> rewriting::undeal(Maker &maker, const Twine &name,
                                     Value value, ArrayRef<int64_t> extents,
                                     int64_t groups) {
  SmallVector<int64_t> shape(shapeOf(value));
  const size_t last = shape.size() - 1;
  Value dealt =
      maker.reshape(name + ".groups", value, grouped(shape, last, groups));
  SmallVector<int64_t> starts(shape.size() + 1, 0);
  SmallVector<Value> result;
  for (auto [number, extent] : llvm::enumerate(extents)) {
    shape.back() = extent;
    const SmallVector<int64_t> own = grouped(shape, last, groups);
    const std::string part = (name + ".part" + Twine(number)).str();
    result.push_back(maker.reshape(
        part, maker.slice(part + ".groups", dealt, starts, own), shape));
    starts.back() += own.back();
  }
  return result;
}
