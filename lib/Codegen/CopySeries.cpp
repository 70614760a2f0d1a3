//===- CopySeries.cpp - copies that follow each other by a rule -----------===//

#include "CopySeries.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

/// Fewer copies are as easy to read one by one.
static constexpr size_t kShortest = 4;

namespace {
/// Where a copy goes and comes from, on all ranks: a row for each, or one for
/// all.
struct Places {
  std::vector<int64_t> values;
  size_t width;

  Places(rank::CopyOp op, size_t ranks) {
    rank::PerAttr dst = op.getDstAt(), src = op.getSrcAt();
    width = dst.at(0).size() + src.at(0).size();
    const size_t rows = dst.isUniform() && src.isUniform() ? 1 : ranks;
    for (size_t row = 0; row < rows; ++row) {
      llvm::append_range(values, dst.at(row));
      llvm::append_range(values, src.at(row));
    }
  }

  /// How far `other` is from here, if equally far on all ranks.
  std::optional<std::vector<int64_t>> distance(const Places &other) const {
    if (other.values.size() != values.size())
      return std::nullopt;
    std::vector<int64_t> result(width);
    for (size_t i = 0; i < values.size(); ++i) {
      int64_t step = other.values[i] - values[i];
      if (i < width)
        result[i] = step;
      else if (result[i % width] != step)
        return std::nullopt;
    }
    return result;
  }
};

/// The copies at the beginning of a list that differ in their places only. No
/// more are looked at than are asked for.
class Candidates {
public:
  Candidates(ArrayRef<Operation *> actions, size_t ranks)
      : actions(actions), ranks(ranks) {}

  /// How often the first `length` copies come again with a constant distance,
  /// themselves included.
  CopySeries::Loop repeats(size_t length) {
    CopySeries::Loop loop{1, {}};
    for (;; ++loop.count) {
      const size_t begin = static_cast<size_t>(loop.count) * length;
      for (size_t i = begin; i < begin + length; ++i) {
        if (!has(i))
          return loop;
        auto step = places[i - length].distance(places[i]);
        if (!step || (!loop.strides.empty() && *step != loop.strides))
          return loop;
        loop.strides = std::move(*step);
      }
    }
  }

private:
  bool has(size_t index) {
    auto first = cast<rank::CopyOp>(actions.front());
    while (places.size() <= index) {
      if (places.size() == actions.size())
        return false;
      auto copy = dyn_cast<rank::CopyOp>(actions[places.size()]);
      if (!copy || copy.getDst() != first.getDst() ||
          copy.getSrc() != first.getSrc() ||
          copy.getSize() != first.getSize() ||
          copy.getCombine() != first.getCombine())
        return false;
      places.emplace_back(copy, ranks);
    }
    return true;
  }

  ArrayRef<Operation *> actions;
  size_t ranks;
  std::vector<Places> places;
};
} // namespace

CopySeries CopySeries::startOf(ArrayRef<Operation *> actions, size_t ranks) {
  CopySeries series{cast<rank::CopyOp>(actions.front()), {}, 1};
  Candidates candidates(actions, ranks);
  for (;;) {
    Loop loop = candidates.repeats(series.length);
    if (loop.count == 1)
      break;
    series.length *= static_cast<size_t>(loop.count);
    series.loops.insert(series.loops.begin(), std::move(loop));
  }
  if (series.length < kShortest)
    return {series.first, {}, 1};
  return series;
}
