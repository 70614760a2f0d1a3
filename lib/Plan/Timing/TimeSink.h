//===- TimeSink.h - planned tasks as durations ------------------*- C++ -*-===//
//
// Internal to Plan: takes what the planner decides and keeps times only.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_TIMESINK_H
#define FFC_LIB_PLAN_TIMESINK_H

#include "Step/TaskSink.h"
#include "ffc/Plan/TimedTask.h"

namespace ffc::plan {

class TimeSink : public TaskSink {
public:
  TimeSink(const Graph &graph, int numDevices, const CostModel &cost)
      : graph(graph), cost(cost), partOf(numDevices, -1) {
    // Growing step by step would move them many times.
    buffers.reserve(4 * static_cast<size_t>(numDevices));
  }

  BufferId addBuffer(DeviceId device, ValueId value, const std::string &name,
                     const TensorType &type, const Region &region,
                     MemoryOrder order, Section section) override;
  void kernel(const Kernel &kernel) override;
  void copy(const Copy &copy, TaskId task, const std::string &name) override;
  void exchange(const std::vector<Sent> &messages, const Busy &busy,
                ReshardTask task, const std::string &name,
                Waits *later) override;
  void collectives(const std::vector<Collective> &all, ReshardTask task,
                   const std::string &name, Waits *later) override;

  bool empty() const { return tasks.empty(); }
  /// What came since the last call.
  TimedTasks take();

private:
  /// Adjacent local work is one task, in which each device has one part.
  void addLocal(DeviceId device, int devices, LocalWork work);
  void closeLocal();

  const Graph &graph;
  const CostModel &cost;
  std::vector<BufferFacts> buffers;           ///< of all devices
  std::vector<const BufferFacts *> ins, outs; ///< of a kernel
  TimedTasks tasks;
  std::vector<int> partOf; ///< by device, in the open local task; -1: none
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_TIMESINK_H
