//===- CopySeries.cpp - copies that follow each other by a rule -----------===//

#include "CopySeries.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::codegen;

/// Copies that a loop is made of at most.
static constexpr size_t kLargestBody = 8;
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

/// The copies that a list begins with. No more are looked at than are asked
/// for.
class Copies {
public:
  Copies(ArrayRef<Operation *> actions, size_t ranks)
      : actions(actions), ranks(ranks) {}

  rank::CopyOp at(size_t i) const { return cast<rank::CopyOp>(actions[i]); }

  /// The longest nest with a body of the first `size` copies.
  CopySeries nest(size_t size) {
    CopySeries series;
    series.length = size;
    for (;;) {
      CopySeries::Loop loop = repeats(series.length, size);
      if (loop.count == 1)
        break;
      series.length *= static_cast<size_t>(loop.count);
      series.loops.insert(series.loops.begin(), std::move(loop));
    }
    if (series.loops.empty())
      series.length = size = 1;
    for (size_t i = 0; i < size; ++i)
      series.body.push_back(at(i));
    return series;
  }

private:
  /// How often the first `length` copies come again with constant distances,
  /// themselves included.
  CopySeries::Loop repeats(size_t length, size_t body) {
    CopySeries::Loop loop{1, std::vector<std::vector<int64_t>>(body)};
    for (;; ++loop.count) {
      const size_t begin = static_cast<size_t>(loop.count) * length;
      for (size_t i = begin; i < begin + length; ++i) {
        if (!has(i) || !isAlike(i - length, i))
          return loop;
        auto step = places[i - length].distance(places[i]);
        std::vector<int64_t> &strides = loop.strides[i % body];
        if (!step || (!strides.empty() && *step != strides))
          return loop;
        strides = std::move(*step);
      }
    }
  }

  bool has(size_t i) {
    while (places.size() <= i) {
      if (places.size() == actions.size() ||
          !isa<rank::CopyOp>(actions[places.size()]))
        return false;
      places.emplace_back(at(places.size()), ranks);
    }
    return true;
  }

  bool isAlike(size_t i, size_t j) const {
    rank::CopyOp a = at(i), b = at(j);
    return a.getDst() == b.getDst() && a.getSrc() == b.getSrc() &&
           a.getSize() == b.getSize() && a.getCombine() == b.getCombine() &&
           a.getTask() == b.getTask();
  }

  ArrayRef<Operation *> actions;
  size_t ranks;
  std::vector<Places> places;
};
} // namespace

CopySeries CopySeries::startOf(ArrayRef<Operation *> actions, size_t ranks) {
  Copies copies(actions, ranks);
  CopySeries best{{copies.at(0)}, {}, 1};
  size_t saved = 0; // lines
  for (size_t body = 1; body <= kLargestBody; ++body) {
    CopySeries series = copies.nest(body);
    const size_t lines = series.body.size() + series.loops.size();
    // Any two turns of several copies go on by some rule.
    if (series.length < kShortest || series.length <= lines + saved ||
        (body > 1 && series.loops.back().count < 3))
      continue;
    saved = series.length - lines;
    best = std::move(series);
  }
  return best;
}
