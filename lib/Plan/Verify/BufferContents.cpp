//===- BufferContents.cpp - what the bytes of a buffer stand for ----------===//

#include "BufferContents.h"

#include <algorithm>
#include <optional>

using namespace ffc::plan;

int64_t Parts::count() const {
  int64_t count = 0;
  for (const Interval &run : runs)
    count += run.size();
  return count;
}

bool Parts::add(const Parts &others) {
  std::vector<Interval> merged(runs.size() + others.runs.size());
  std::merge(runs.begin(), runs.end(), others.runs.begin(), others.runs.end(),
             merged.begin(),
             [](const Interval &a, const Interval &b) { return a.lo < b.lo; });
  std::vector<Interval> joined;
  for (const Interval &run : merged) {
    if (!joined.empty() && run.lo < joined.back().hi)
      return false;
    if (!joined.empty() && run.lo == joined.back().hi)
      joined.back().hi = run.hi;
    else
      joined.push_back(run);
  }
  runs = std::move(joined);
  return true;
}

/// The box of both, if the second follows the first in one dimension.
static std::optional<Box> joined(const Box &first, const Box &second) {
  if (first.rank() != second.rank())
    return std::nullopt;
  std::optional<int> along;
  for (int d = 0; d < first.rank(); ++d)
    if (!(first[d] == second[d])) {
      if (along || first[d].hi != second[d].lo)
        return std::nullopt;
      along = d;
    }
  if (!along)
    return std::nullopt;
  Box box = first;
  box[*along].hi = second[*along].hi;
  return box;
}

void Contents::write(const Box &box, const Origin &origin) {
  const bool isApart =
      std::none_of(pieces_.begin(), pieces_.end(), [&](const Piece &piece) {
        return !piece.box.intersect(box).empty();
      });
  if (!isApart) {
    std::vector<Piece> next;
    for (const Piece &piece : pieces_)
      for (const Box &rest : subtract(piece.box, box))
        next.push_back({rest, piece.origin});
    pieces_ = std::move(next);
  }
  // Blocks of an all-gather come in their order.
  if (!pieces_.empty() && pieces_.back().origin == origin)
    if (std::optional<Box> both = joined(pieces_.back().box, box)) {
      pieces_.back().box = *both;
      return;
    }
  pieces_.push_back({box, origin});
}

bool Contents::combine(const Box &box, const Origin &origin) {
  for (Piece &piece : within(box)) {
    if (piece.origin.value != origin.value)
      return false;
    if (!piece.origin.parts.add(origin.parts))
      return false;
    write(piece.box, piece.origin);
  }
  return true;
}

bool Contents::covers(const Box &box) const {
  std::vector<Box> rest = {box};
  for (const Piece &piece : pieces_) {
    std::vector<Box> next;
    for (const Box &part : rest)
      for (const Box &r : subtract(part, piece.box))
        next.push_back(r);
    rest = std::move(next);
  }
  return rest.empty();
}

std::vector<Contents::Piece> Contents::within(const Box &box) const {
  std::vector<Piece> result;
  for (const Piece &piece : pieces_) {
    Box common = piece.box.intersect(box);
    if (!common.empty())
      result.push_back({common, piece.origin});
  }
  return result;
}
