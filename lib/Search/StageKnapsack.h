//===- StageKnapsack.h - one option for every segment -----------*- C++ -*-===//
//
// Internal to Search. A multiple-choice knapsack along a chain: every segment
// is done on one of the lanes in one of its options there; the least time that
// fits into the room. Solved by its relaxation, in which memory has a price,
// and by labels (time, memory) from the first segment on that are dropped where
// the relaxation shows that they cannot become the best (Kellerer, Pferschy,
// Pisinger, Knapsack Problems, 2004, chapter 11).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_SEARCH_STAGEKNAPSACK_H
#define FFC_LIB_SEARCH_STAGEKNAPSACK_H

#include "StageSegments.h"

namespace ffc::search {

struct Knapsack {
  size_t numLanes = 1;
  /// By segment and lane; one without options is not possible.
  std::vector<const Segment *> segments;
  /// By segment, lane and the lane of the segment before: the time to change.
  std::vector<double> changes;
  std::vector<double> firstTime, firstMemory; ///< by lane of the first segment
  /// How often activations and weights are in memory.
  double keptTimes = 1, weightTimes = 1;
  double room = 0;

  struct Solution {
    double time = std::numeric_limits<double>::infinity();
    double memory = 0;
    /// By segment; empty: there is none.
    std::vector<size_t> lanes;
    std::vector<const SegmentOption *> options;
  };

  /// One that fits; the fastest, if it can be faster than `bound`.
  Solution solve(double bound) const;
  /// Its time if memory cost nothing.
  double leastTime() const;

private:
  size_t numSegments() const { return segments.size() / numLanes; }
  const Segment &segment(size_t s, size_t lane) const {
    return *segments[s * numLanes + lane];
  }
  double change(size_t s, size_t lane, size_t from) const {
    return changes[(s * numLanes + lane) * numLanes + from];
  }
  double memoryOf(const Segment &segment, const SegmentOption &option) const {
    return keptTimes * option.kept + weightTimes * segment.weights;
  }

  /// The least time + price * memory of the segments from `s` on, by segment
  /// and lane.
  std::vector<double> restAt(double price) const;
  /// The choice that has it.
  Solution choiceAt(double price, const std::vector<double> &rest) const;
  void useRoom(Solution &solution) const;
  std::vector<double> frontAt(double price) const;
  void improve(double price, const std::vector<double> &rest,
               Solution &best) const;
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_STAGEKNAPSACK_H
