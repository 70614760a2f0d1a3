//===- TimeSink.h - planned tasks as durations ------------------*- C++ -*-===//
//
// Internal to Plan: takes what the planner decides and keeps times only.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_TIMESINK_H
#define FFC_LIB_PLAN_TIMESINK_H

#include "TaskSink.h"
#include "ffc/Plan/TimedTask.h"

namespace ffc::plan {

/// What a duration needs to know of a buffer.
struct BufferSize {
  int64_t bytes;
  ElementType type;
};

/// What a kernel computes and touches.
struct KernelWork {
  double flops = 0;
  int64_t bytes = 0;
  ElementType type = ElementType::F32;
};

/// The work of a phase on a tile, which computes in the type of its last
/// result. Buffers by slot, -1 absent, of which sizeOf(id) tells.
template <class SizeOf>
KernelWork kernelWork(const Phase &phase, const Tile &tile,
                      const std::vector<BufferId> &ins,
                      const std::vector<BufferId> &outs, SizeOf sizeOf) {
  KernelWork work;
  auto touch = [&](BufferId id, double touchedPerPoint) {
    if (id < 0)
      return;
    BufferSize size = sizeOf(id);
    work.bytes += touchedBytes(touchedPerPoint, tile, size.type, size.bytes);
    work.type = size.type;
  };
  for (size_t r = 0; r < ins.size(); ++r)
    touch(ins[r], phase.reads[r].touchedPerPoint);
  work.type = ElementType::F32;
  for (size_t w = 0; w < outs.size(); ++w)
    touch(outs[w], phase.writes[w].touchedPerPoint);
  work.flops = flopsOf(phase, tile);
  return work;
}

/// Its duration.
template <class SizeOf>
Picoseconds kernelTime(const CostModel &cost, DeviceId device,
                       const Phase &phase, const Tile &tile,
                       const std::vector<BufferId> &ins,
                       const std::vector<BufferId> &outs, SizeOf sizeOf) {
  const KernelWork work = kernelWork(phase, tile, ins, outs, sizeOf);
  return cost.kernel(device, work.flops, work.bytes, work.type);
}

/// Size of a collective's whole tensor, from a member's buffers.
inline int64_t collectiveBytes(int64_t src, int64_t dst) {
  return src > dst ? src : dst;
}

class TimeSink : public TaskSink {
public:
  TimeSink(int numDevices, const CostModel &cost)
      : cost(cost), partOf(numDevices, -1) {}

  BufferId addBuffer(DeviceId device, ValueId value, const std::string &name,
                     const TensorType &type, const Region &region,
                     MemoryOrder order, Section section) override;
  void kernel(const Kernel &kernel) override;
  void copy(const Copy &copy, TaskId task, const std::string &name) override;
  void exchange(const std::vector<Sent> &messages, TaskId task,
                const std::string &name) override;
  void collectives(const std::vector<Collective> &all, TaskId task,
                   const std::string &name, Waits *later) override;

  bool empty() const { return tasks.empty(); }
  /// What came since the last call.
  TimedTasks take();

private:
  /// Adjacent local work is one task, in which each device has one part.
  void addLocal(DeviceId device, Picoseconds duration);
  void closeLocal();

  const CostModel &cost;
  std::vector<BufferSize> buffers; ///< of all devices
  TimedTasks tasks;
  std::vector<int> partOf; ///< by device, in the open local task; -1: none
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_TIMESINK_H
