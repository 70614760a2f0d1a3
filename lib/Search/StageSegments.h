//===- StageSegments.h - what parts of a layer can cost ---------*- C++ -*-===//
//
// Internal to Search. A stage is a sequence of *segments*, parts of layers. On
// a *lane* (so many samples on a device, so many devices for a sample) a
// segment can be done in several ways, by what of it is computed again and by
// its algorithms: less memory for more time. The ways that are no worse than
// any other in both are its options.
//
// Segments with the same rows of the tables are the same, so options are made
// once for all layers that are alike.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_SEARCH_STAGESEGMENTS_H
#define FFC_LIB_SEARCH_STAGESEGMENTS_H

#include "ffc/Plan/StageTimer.h"

#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <tuple>
#include <vector>

namespace ffc::search {

/// A way to do a segment; by operator of the segment a bit of `again` and of
/// `algorithms`. Microseconds and MiB.
struct SegmentOption {
  double time = 0;
  double kept = 0; ///< activations of a micro-batch
  double peak = 0; ///< the most that is computed again at once
  double forwardReserved = 0, backwardReserved = 0;
  uint32_t again = 0, algorithms = 0;
};

/// What options may need at most.
struct SegmentCaps {
  static constexpr double kNone = std::numeric_limits<double>::infinity();
  double peak = kNone, forwardReserved = kNone, backwardReserved = kNone;
};

/// Options by ascending time and descending memory; empty if there is no way
/// within the caps.
struct Segment {
  std::vector<SegmentOption> options;
  /// Those that are the cheapest at some price, by ascending price.
  std::vector<const SegmentOption *> hull;
  double weights = 0;

  /// The option with the least time + price * kept.
  const SegmentOption &cheapest(double price) const;
};

struct Lane {
  int samples = 1, tensor = 1;
  bool operator<(const Lane &o) const {
    return std::tie(samples, tensor) < std::tie(o.samples, o.tensor);
  }
};

/// Segments of a model for one size of micro-batches.
class StageSegments {
public:
  /// So many bits have the sets of an option.
  static constexpr int kMostOperators = 32;

  /// The arguments must outlive it.
  StageSegments(const plan::StageProfile &profile,
                const plan::StageModel &model);

  /// Where parts of layers begin, ascending, and the end of the model.
  const std::vector<int> &parts() const { return begins; }
  /// Of an operator.
  int partOf(int op) const { return partOfOp[op]; }

  /// Is there a table?
  bool has(const Lane &lane) const {
    return profile.table(lane.samples, lane.tensor, 0) != nullptr;
  }
  const plan::StageRow &row(const Lane &lane, int op, int algorithm = 0) const {
    return (*profile.table(lane.samples, lane.tensor,
                           algorithm))[model.ops[op].row];
  }

  /// The segment of operators [begin, end) of a part; `isLast` of a stage,
  /// whose last operator's reserved memory does not count.
  const Segment &segment(const Lane &lane, int begin, int end, bool isLast,
                         const SegmentCaps &caps) const;

  /// Caps on the peak that are worth a try, descending, the first of them none.
  const std::vector<double> &peaks(const Lane &lane) const;

private:
  void make(const Lane &lane, int begin, int end, bool isLast,
            const SegmentCaps &caps, Segment &result) const;

  const plan::StageProfile &profile;
  const plan::StageModel &model;
  std::vector<int> begins, partOfOp;
  using Key = std::tuple<Lane, int, int, bool, bool, double, double, double>;
  mutable std::map<Key, std::unique_ptr<Segment>> segments;
  mutable std::map<Lane, std::vector<double>> allPeaks;
};

} // namespace ffc::search

#endif // FFC_LIB_SEARCH_STAGESEGMENTS_H
