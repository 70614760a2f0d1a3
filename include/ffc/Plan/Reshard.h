//===- Reshard.h - from one layout of a value to another --------*- C++ -*-===//
//
// A reshard is planned for one value: which devices hold which parts of it
// (whole, or partial sums), which parts are needed where, and the steps in
// between. Candidates (collectives where the pattern is one, grouped
// point-to-point for everything else) are compared by the cost model as a
// whole. The work grows with the number of parts and of messages, not with the
// number of pairs.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_RESHARD_H
#define FFC_PLAN_RESHARD_H

#include "ffc/Plan/Cost.h"

#include <string>
#include <vector>

namespace ffc::plan {

/// A part needed on a device.
struct Need {
  DeviceId device = -1;
  Region region;
  MemoryOrder order = MemoryOrder::RowMajor;
  bool operator==(const Need &o) const {
    return device == o.device && region == o.region && order == o.order;
  }
};

/// A device's copy of a part of the value, complete.
struct Holding {
  DeviceId device = -1;
  Region region;
  MemoryOrder order = MemoryOrder::RowMajor;
  BufferId buffer = -1; ///< on `device`
};

/// A list by device: the items of each in the order in which they came.
class DeviceIndex {
public:
  /// Adds item number size().
  void add(DeviceId device);
  size_t size() const { return nexts.size(); }
  /// -1 if there is none.
  int first(DeviceId device) const {
    return static_cast<size_t>(device) < ends.size() ? ends[device].first : -1;
  }
  int next(int item) const { return nexts[item]; }
  /// No device from here on has any.
  DeviceId endOfDevices() const { return static_cast<DeviceId>(ends.size()); }
  /// How many have any.
  int numDevices() const { return used; }

private:
  struct Ends {
    int first = -1, last = -1;
  };
  std::vector<Ends> ends; ///< by device
  std::vector<int> nexts;
  int used = 0;
};

/// The holdings of one value.
class Holdings {
public:
  void reserve(size_t count) { list.reserve(count); }
  void add(Holding holding) {
    index.add(holding.device);
    list.push_back(std::move(holding));
  }
  /// Leaves out those for which it is so.
  template <class Predicate> void removeIf(Predicate isRemoved) {
    Holdings rest;
    for (Holding &holding : list)
      if (!isRemoved(static_cast<const Holding &>(holding)))
        rest.add(std::move(holding));
    *this = std::move(rest);
  }
  size_t size() const { return list.size(); }
  bool empty() const { return list.empty(); }
  const Holding &operator[](size_t i) const { return list[i]; }
  std::vector<Holding>::const_iterator begin() const { return list.begin(); }
  std::vector<Holding>::const_iterator end() const { return list.end(); }
  const DeviceIndex &byDevice() const { return index; }
  /// The number of the one that is exactly `need`, or -1.
  int find(const Need &need) const;

private:
  std::vector<Holding> list;
  DeviceIndex index;
};

/// Buffers of one box on distinct devices (ascending) that together reduce to
/// its value. The groups of one reshard have disjoint boxes.
struct PartialGroup {
  Box box;
  Reduction reduction = Reduction::Sum;
  MemoryOrder order = MemoryOrder::RowMajor;
  struct Member {
    DeviceId device = -1;
    BufferId buffer = -1;
  };
  std::vector<Member> members; ///< at least two
};

/// A collective of a reshard. Indices refer to the lists given to planReshard;
/// all-reduces append one whole holding per member to the holdings.
struct CollectiveStep {
  CollectiveKind kind = CollectiveKind::AllReduce;
  CollectiveAlgorithm algorithm = CollectiveAlgorithm::Library;
  /// Of CollectiveAlgorithm::Schedule.
  std::shared_ptr<const CollectiveSchedule> schedule;
  std::vector<DeviceId> members; ///< ascending
  int64_t bytes = 0;             ///< of the whole tensor that it is about
  /// AllReduce, ReduceScatter: the partial group.
  int partial = -1;
  /// AllGather: the holding of each member. Broadcast: the root's only.
  std::vector<int> holdings;
  /// AllGather, ReduceScatter, Broadcast: the target of each member; -1 for the
  /// root of a broadcast. The blocks of the first two lie one after the other
  /// in the whole buffer, in member order.
  std::vector<int> targets;
  int root = 0; ///< Broadcast: index into members
};

/// A region moved from a holding, or from one member of a partial group, to a
/// target; the latter adds up, the first one to arrive initialises. Between
/// devices it is one message.
struct TransferStep {
  int holding = -1;             ///< index into holdings, or
  int partial = -1, member = 0; ///< a partial group's member
  int target = -1;
  Region region;
  Reduction combine = Reduction::None; ///< None for the first contribution
  /// Between devices: whether it is copied out of the source, which is
  /// larger or ordered otherwise, and into (or combined with) the target.
  bool packed = false, unpacked = false;
};

struct ReshardPlan {
  std::vector<CollectiveStep> collectives; ///< first
  std::vector<TransferStep> transfers;     ///< then, as one exchange
  /// How long devices are busy with its messages, as CostModel::exchange().
  std::vector<std::pair<DeviceId, Picoseconds>> exchange;
  Picoseconds cost = 0;
};

/// Plans how `targets` are filled from `holdings` and, where these do not cover
/// a target, from `groups`. Targets that equal a holding must have been
/// removed; every target must be covered. Every element is reduced in one order
/// only, so that all copies have equal bits.
ReshardPlan planReshard(const Holdings &holdings,
                        const std::vector<PartialGroup> &groups,
                        const std::vector<Need> &targets,
                        const TensorType &type, const CostModel &cost);

/// As planReshard(), for what is sent before it is wanted: without collectives,
/// which all take part in at once, unless messages take more than twice as
/// long. Of partial sums, the same as planReshard().
ReshardPlan planMessages(const Holdings &holdings,
                         const std::vector<PartialGroup> &groups,
                         const std::vector<Need> &targets,
                         const TensorType &type, const CostModel &cost);

} // namespace ffc::plan

#endif // FFC_PLAN_RESHARD_H
