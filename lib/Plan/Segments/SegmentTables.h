//===- SegmentTables.h - the contents of a segment table --------*- C++ -*-===//
//
// Internal to Plan. Layouts and needs are lists of numbers, of which the parts'
// regions have their own, so that equal ones are found soon; segments are made
// from them by the planner's code with a sink that keeps times only.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_SEGMENTTABLES_H
#define FFC_LIB_PLAN_SEGMENTTABLES_H

#include "FollowerTable.h"
#include "ReadsApart.h"
#include "SegmentKeys.h"
#include "Step/EarlyStart.h"
#include "ffc/Plan/Segments.h"

#include <map>
#include <optional>
#include <tuple>
#include <unordered_map>

namespace ffc::plan {

struct SegmentTable::Tables {
  /// A part of a value on a device, as one number: the region by its own.
  using PartCode = int64_t;
  /// Where the parts of a value are. Buffers do not matter to it: they are
  /// those of one plan.
  struct Layout {
    struct Group {
      int32_t region; ///< a box
      Reduction reduction;
      MemoryOrder order;
      std::vector<DeviceId> members;
    };
    TensorType type;
    std::vector<PartCode> holdings;
    std::vector<Group> groups;
    /// Is something of the partial sums complete somewhere? Others are then
    /// made one by one (planReshard()).
    bool isPartlyComplete = false;
  };

  Tables(const Graph &graph, int numDevices, const CostModel &cost);

  OpSegment makeOp(OpId id, const Configuration &config);
  TurnSegment makeTurns(const Turn &turn, const Configuration &config);
  OwnSumSegment makeOwnSum(LayoutId layout, NeedId need);
  SendSegment makeSend(LayoutId layout, NeedId need);
  ReshardSegment makeReshard(LayoutId layout, NeedId need);
  StartSegment makeStart(LayoutId layout, NeedId need);
  ReshardSegment makeStore(LayoutId written, LayoutId home);
  TimedTasks makeAccumulation(LayoutId layout);
  PartCode code(DeviceId device, const Region &region, MemoryOrder order) {
    int32_t number = regions.intern(region);
    return (int64_t(number) << 2 | int64_t(order)) << 20 | device;
  }
  static DeviceId deviceOf(PartCode code) {
    return static_cast<DeviceId>(code & 0xFFFFF);
  }
  Need part(PartCode code) const {
    return {deviceOf(code), regions[int32_t(code >> 22)],
            static_cast<MemoryOrder>(code >> 20 & 3)};
  }
  /// What of the parts needed is not there.
  std::vector<PartCode> missing(LayoutId layout, NeedId need) const;
  /// `before`: the layout whose holdings the placement had at first.
  LayoutId internLayout(const TensorType &type, const Placement &placement,
                        const Layout *before = nullptr);
  int32_t internShape(const BatchShape &shape);
  NeedId internNeeds(const std::vector<Need> &needs);
  std::vector<Need> partsOf(const std::vector<PartCode> &codes) const;
  /// With buffers for everything, the first ones of the sink.
  Placement placementOf(const Layout &layout, TaskSink &sink) const;
  /// Copies a value of `type` into the state that lives in `home`.
  void storeIn(LayoutId home, const TensorType &type, Placement &where,
               TaskSink &sink) const;

  const Graph &graph;
  int numDevices;
  const CostModel &cost;
  MemoryOrders orders;
  OperatorOrder operators;
  WrittenInPlace inPlace;
  ReadsApart readsApart;
  StepOrder order;
  Interner<OpId> classIds;
  std::vector<int32_t> classes; ///< of operators
  ConfigurationTable configs;
  std::optional<FollowerTable> followers; ///< made when asked for
  RegionTable regions;
  Interner<Layout> layouts;
  Interner<std::vector<PartCode>> needs;
  PairMap<OpSegment> ops;
  /// By class, configuration, number and dimension of the parts, and the
  /// results that are sums of one turn.
  std::map<std::tuple<int32_t, ConfigId, int, int, uint32_t>, TurnSegment>
      turns;
  PairMap<ReshardSegment> reshards, stores;
  PairMap<StartSegment> starts;
  PairMap<SendSegment> sends;
  PairMap<OwnSumSegment> ownSums;
  PairMap<NeedId> sumsBeforeSending;
  struct Shape {
    std::vector<std::vector<DeviceId>> members; ///< by collective
    BatchTimes times;
  };
  Interner<Shape> shapes;
  struct Batch {
    int32_t shape;
    BatchBytes bytes;
    bool isFull;
    TimedTasks tasks; ///< made when asked for
  };
  BatchId internBatch(int32_t shape, const BatchBytes &bytes);
  std::map<std::pair<int32_t, BatchBytes>, BatchId> batchIds;
  std::deque<Batch> batches;
  PairMap<BatchId> joined;
  std::unordered_map<LayoutId, TimedTasks> accumulations;
  PairMap<LayoutId> homes;
  std::vector<NeedId> losses, outputs; ///< by layout, so far as asked for
  using Parts = std::vector<Part>;
  std::unordered_map<LayoutId, Parts> layoutParts;
  PairMap<Parts> needParts; ///< by need and bytes of an element
  PairMap<std::vector<int32_t>> found;
  PairMap<BufferUse> reshardUses, startUses, sendUses, storeUses;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_SEGMENTTABLES_H
