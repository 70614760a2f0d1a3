//===- ReshardWriter.h - the tasks of a planned reshard ---------*- C++ -*-===//
//
// Internal to the planner.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_RESHARDWRITER_H
#define FFC_LIB_PLAN_RESHARDWRITER_H

#include "TaskSink.h"
#include "ffc/Plan/Reshard.h"

namespace ffc::plan {

/// Is nothing left to do when the messages of the plan have come?
bool isMessages(const ReshardPlan &plan, const Holdings &holdings,
                const std::vector<Need> &targets);

/// Writes one reshard as collectives, copies and an exchange.
class ReshardWriter {
public:
  /// Steps count from `first`. All other arguments must outlive it.
  ReshardWriter(TaskSink &sink, ValueId value, const TensorType &type,
                const std::string &name, ReshardTask first,
                const std::vector<Need> &targets)
      : sink(sink), value(value), type(type), name(name), task(first),
        targets(targets), buffers(targets.size(), -1) {}

  /// Afterwards every target is among the holdings, and groups that were
  /// reduced in place are gone. With `later`, for plans that are collectives
  /// alone or messages alone (isMessages), nobody waits for them yet.
  void write(const ReshardPlan &plan, Holdings &holdings,
             std::vector<PartialGroup> &groups,
             TaskSink::Waits *later = nullptr);

private:
  TaskSink::Collective collective(const CollectiveStep &step,
                                  Holdings &holdings,
                                  const std::vector<PartialGroup> &groups);
  void transfers(const ReshardPlan &plan, const Holdings &holdings,
                 const std::vector<PartialGroup> &groups,
                 TaskSink::Waits *later);
  /// A copy of the region of a transfer.
  struct RegionCopy {
    DeviceId device;
    BufferId dst, src;
    const Region *region;
    Reduction combine;
  };
  void write(const std::vector<RegionCopy> &copies);
  BufferId targetBuffer(int target);
  BufferId staging(DeviceId device, const std::string &name,
                   const Region &region, MemoryOrder order);

  TaskSink &sink;
  ValueId value;
  const TensorType &type;
  const std::string &name;
  ReshardTask task; ///< of the next step
  const std::vector<Need> &targets;
  const std::string sendName = name + ".send", receiveName = name + ".receive";
  std::vector<BufferId> buffers; ///< by target; -1: not filled so far
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_RESHARDWRITER_H
