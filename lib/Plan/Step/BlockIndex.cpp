//===- BlockIndex.cpp - which boxes of a value meet a box -----------------===//

#include "BlockIndex.h"

#include <algorithm>

using namespace ffc::plan;

/// Up to this many boxes are compared one by one, and more for the first few
/// questions: an index costs more.
static constexpr size_t kFew = 32;
static constexpr int kFewQuestions = 16;

void BlockIndex::add(const Box &box, int item) {
  if (!box.empty())
    entries.push_back({box, item});
}

void BlockIndex::build() const {
  const int rank = entries[0].box.rank();
  axes.resize(rank);
  for (int d = 0; d < rank; ++d) {
    std::vector<Interval> &intervals = axes[d].intervals;
    // Neighbouring parts mostly agree in all dimensions but one.
    for (const Entry &entry : entries)
      if (intervals.empty() || intervals.back() != entry.box[d])
        intervals.push_back(entry.box[d]);
    std::sort(intervals.begin(), intervals.end());
    intervals.erase(std::unique(intervals.begin(), intervals.end()),
                    intervals.end());
    int64_t highest = intervals[0].hi;
    for (Interval interval : intervals)
      axes[d].highest.push_back(highest = std::max(highest, interval.hi));
  }
  for (size_t e = 0; e < entries.size(); ++e) {
    uint64_t cell = 0;
    for (int d = 0; d < rank; ++d) {
      const auto &intervals = axes[d].intervals;
      auto at = std::lower_bound(intervals.begin(), intervals.end(),
                                 entries[e].box[d]);
      // Wraps around if there are very many, which then only costs time.
      cell = cell * intervals.size() +
             static_cast<uint64_t>(at - intervals.begin());
    }
    cells.push_back({cell, static_cast<int>(e)});
  }
  std::sort(cells.begin(), cells.end());
}

void BlockIndex::scan(const Box &box) const {
  for (const Entry &entry : entries)
    if (entry.box.meets(box))
      found.push_back(entry.item);
}

/// The intervals of `axis` that may meet `interval`: all that do are among
/// them.
BlockIndex::Range BlockIndex::rangeOf(const Axis &axis, Interval interval) {
  // From the first that may reach beyond the lower end, as far as they start
  // below the upper end.
  auto first =
      std::upper_bound(axis.highest.begin(), axis.highest.end(), interval.lo);
  auto last = std::lower_bound(axis.intervals.begin(), axis.intervals.end(),
                               Interval{interval.hi, interval.hi});
  size_t begin = first - axis.highest.begin();
  size_t end = last - axis.intervals.begin();
  return {begin, std::max(begin, end)};
}

void BlockIndex::look(const Box &box, int dim, uint64_t cell) const {
  if (dim == box.rank()) {
    auto at =
        std::lower_bound(cells.begin(), cells.end(), std::make_pair(cell, 0));
    for (; at != cells.end() && at->first == cell; ++at)
      if (const Entry &entry = entries[at->second]; entry.box.meets(box))
        found.push_back(entry.item);
    return;
  }
  const Axis &axis = axes[dim];
  auto [begin, end] = rangeOf(axis, box[dim]);
  for (size_t i = begin; i < end; ++i)
    if (axis.intervals[i].hi > box[dim].lo)
      look(box, dim + 1, cell * axis.intervals.size() + i);
}

const std::vector<int> &BlockIndex::meeting(const Box &box) const {
  found.clear();
  if (box.empty() || entries.empty())
    return found;
  if (entries.size() > kFew && ++questions == kFewQuestions)
    build();
  // Where a box meets more cells than there are boxes, most are empty.
  size_t met = cells.empty() ? entries.size() + 1 : 1;
  for (int d = 0; d < box.rank() && met <= entries.size(); ++d) {
    auto [begin, end] = rangeOf(axes[d], box[d]);
    met *= end - begin;
  }
  if (met > entries.size())
    scan(box);
  else
    look(box, 0, 0);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}
