//===- ReshardCandidate.h - one way to fill targets -------------*- C++ -*-===//
//
// Internal to planReshard.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_RESHARDCANDIDATE_H
#define FFC_LIB_PLAN_RESHARDCANDIDATE_H

#include "BlockIndex.h"
#include "ffc/Plan/Reshard.h"

#include <algorithm>
#include <tuple>

namespace ffc::plan {

/// Takes the boxes of `holes` out of all of `rest`, and calls visit(common) for
/// every part that was there.
template <class Visitor>
void takeOut(std::vector<Box> &rest, const Region &holes, Visitor visit) {
  holes.forEachBox([&](const Box &hole) {
    for (size_t i = 0; i < rest.size();) {
      if (!rest[i].meets(hole)) {
        ++i;
        continue;
      }
      const Box common = rest[i].intersect(hole);
      visit(common);
      // What is left takes the place of the box; mostly nothing or one.
      const size_t end = rest.size();
      appendOutside(rest, Box(rest[i]), common);
      const size_t parts = rest.size() - end;
      auto at = rest.begin() + static_cast<std::ptrdiff_t>(i);
      std::rotate(at, rest.begin() + static_cast<std::ptrdiff_t>(end),
                  rest.end());
      rest.erase(at + static_cast<std::ptrdiff_t>(parts));
      i += parts;
    }
  });
}

/// The arguments of planReshard, which must outlive it, found by box and by
/// device.
struct ReshardProblem {
  ReshardProblem(const Holdings &holdings,
                 const std::vector<PartialGroup> &groups,
                 const std::vector<Need> &targets, const TensorType &type,
                 const CostModel &cost);

  const Holdings &holdings;
  const std::vector<PartialGroup> &groups;
  const std::vector<Need> &targets;
  const TensorType &type;
  const CostModel &cost;
  /// Targets with the same region, each list in order of device, with at most
  /// one per device; the lists in the order of their regions.
  std::vector<std::vector<int>> targetsByRegion() const;

  BlockIndex blocks;      ///< holdings
  BlockIndex groupBlocks; ///< groups
  DeviceIndex targetsOn;
};

/// Plans one candidate: collectives of one kind, or none, then messages.
class ReshardCandidate {
public:
  explicit ReshardCandidate(const ReshardProblem &problem);

  /// Every needed partial group becomes whole on its members.
  void allReduce();
  /// Groups whose members need equal, disjoint blocks of the group's box.
  bool reduceScatter();
  /// Sets of devices that need the same box, of which each holds one block.
  bool allGather(const std::vector<std::vector<int>> &byRegion);
  /// Sets of devices that need the same box, which one device holds.
  bool broadcast(const std::vector<std::vector<int>> &byRegion);
  /// Everything still open, box by box; what a device has of a target it sends
  /// in one message where that is all of what both have in common. Partial
  /// groups are added up at the target in member order, so that all copies have
  /// equal bits. Given up, and false, as soon as it is known to cost `limit` at
  /// least.
  bool pointToPoint(Picoseconds limit = INT64_MAX);

  ReshardPlan finish();

private:
  int64_t bytesOf(const Region &region, MemoryOrder order) const;
  std::vector<char> neededGroups() const;
  /// With all members of the partial group.
  CollectiveStep reductionOf(CollectiveKind kind, size_t group) const;
  int blockOn(const Need &target, const Region &region) const;
  std::vector<Box> targetBoxes(const std::vector<int> &indices) const;
  bool sameOrder(MemoryOrder order, const std::vector<int> &indices) const;
  const Holding &holding(size_t h) const {
    return h < problem.holdings.size() ? problem.holdings[h]
                                       : reduced[h - problem.holdings.size()];
  }

  /// Of a whole tensor that is this.
  void add(CollectiveStep step, const Region &whole, MemoryOrder order);

  struct Source {
    Picoseconds time;
    int64_t turn;
    int holding;
    bool operator<(const Source &o) const {
      return time != o.time ? time < o.time : turn < o.turn;
    }
  };
  /// A box of a target and where it comes from.
  struct Part {
    int holding, partial, member;
    Box box;
    Reduction combine;
    bool isWithin(const Part &o) const {
      return holding == o.holding && partial == o.partial && member == o.member;
    }
    bool operator<(const Part &o) const {
      return std::tie(holding, partial, member) <
             std::tie(o.holding, o.partial, o.member);
    }
  };
  /// All that the source of a part has.
  Region sourceRegion(const Part &part) const {
    return part.holding >= 0 ? holding(part.holding).region
                             : Region(problem.groups[part.partial].box);
  }
  /// These append to `parts`.
  void cover(int target, const Box &box);
  void coverFromHolding(std::vector<Box> &rest, int h);
  void coverFromPartial(const Box &box);
  /// Transfers for `parts`.
  void addTransfers(int target);
  void addTransfer(int target, const Part &part, Region region);

  bool addReceived(DeviceId src, DeviceId dst, int64_t bytes);

  const ReshardProblem &problem;
  const std::vector<Need> &targets;
  std::vector<char> open;       ///< by target
  std::vector<Holding> reduced; ///< what all-reduces add to the holdings
  BlockIndex reducedBlocks;
  std::vector<CostModel::Transfer> messages;
  std::vector<std::pair<DeviceId, Picoseconds>> copies;
  /// If the messages have a limit: the times of those a device receives.
  std::vector<Picoseconds> receiving;
  Picoseconds messageLimit = INT64_MAX;
  bool isOverLimit = false;
  // Of one target, kept since there are many.
  std::vector<Part> parts;
  std::vector<Source> own, others;
  std::vector<Box> rest;
  ReshardPlan plan;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_RESHARDCANDIDATE_H
