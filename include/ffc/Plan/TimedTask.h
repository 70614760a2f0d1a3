//===- TimedTask.h - how long the tasks of a plan take ----------*- C++ -*-===//
//
// The tasks of a stretch of the static order with their durations, without the
// buffers they work on. Made from the planned actions, or in their place by the
// same code, so that what is timed is what runs. A sweep over them gives the
// times of a step; the search keeps them for every operator and reshard that it
// has met.
//
// A device has three queues: one for its kernels and copies, one for what it
// sends, one for what it receives; a collective takes both of the latter. Times
// follow from four rules (max-plus, design 8):
//   - a local task starts when its queue is free;
//   - a collective starts when all queues of all its members are free, and
//     ends for all at once;
//   - in an exchange a device is done when it and those it exchanges messages
//     with have come to it and its own messages have passed;
//   - a wait ends when what it waits for has.
// Communication occupies its own queues only, and local work goes on until it
// waits; where the devices cannot do that all queues are one, and an exchange
// that is waited for later passes its messages in the wait. None of the rules
// can make a step shorter when a duration grows.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_TIMEDTASK_H
#define FFC_PLAN_TIMEDTASK_H

#include "ffc/Plan/Cost.h"
#include "ffc/Plan/Program.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ffc::plan {

/// When the queues are free, by device. All are the same array where
/// communication does not run beside computation. Where communication is waited
/// for before the next one, it does not matter whether what is received has an
/// array of its own.
struct QueueTimes {
  QueueTimes(Picoseconds *local, Picoseconds *network)
      : QueueTimes(local, network, network) {}
  QueueTimes(Picoseconds *local, Picoseconds *network, Picoseconds *receive)
      : local(local), network(network), receive(receive) {}
  Picoseconds *local;
  Picoseconds *network; ///< of what is sent
  Picoseconds *receive;
};

/// How long all micro-batches of a step but one take, if one takes `microBatch`
/// (Graph::microBatches): what comes after them starts so much later than after
/// one.
inline Picoseconds otherMicroBatches(const Graph &graph,
                                     Picoseconds microBatch) {
  return (graph.microBatches - 1) *
         std::min(microBatch, kMaxCost / graph.microBatches);
}

class TimedTasks {
public:
  TimedTasks() = default;
  /// The tasks of `program`, in its order.
  TimedTasks(const Graph &graph, const Strategy &strategy,
             const Program &program, const CostModel &cost);

  /// Runs all tasks, which have no waits: communication is waited for at once.
  void advance(QueueTimes times) const;
  /// Starts all tasks, which are collectives, and notes when they end on their
  /// members, by device.
  void start(QueueTimes times, Picoseconds *ends) const;
  /// Waits for what was started; `ends` are late by `shift`. Returns by how
  /// much it had ended before; negative where somebody really waited.
  Picoseconds wait(Picoseconds *local, const Picoseconds *ends,
                   Picoseconds shift) const;
  /// Runs copies and starts what else there is. `marks` gets by part when it
  /// ends or, if messages are late (Task::isLate), when its device had come.
  void begin(QueueTimes times, bool isLate, Picoseconds *marks) const;
  /// Devices for which waits(device) wait for what began().
  template <class Predicate>
  void finish(Picoseconds *local, bool isLate, const Picoseconds *marks,
              Predicate waits) const {
    for (const Task &task : tasks)
      if (task.kind != Kind::Local)
        for (uint32_t p = task.firstPart; p < task.endPart; ++p)
          if (Picoseconds &now = local[parts[p].device]; waits(parts[p].device))
            now = std::max(now, isLate && task.kind == Kind::Exchange
                                    ? endOfLate(task, p, now, marks)
                                    : marks[p]);
  }
  /// Calls visit(part) for the parts of all tasks.
  template <class Visitor> void eachPart(Visitor visit) const {
    for (const Part &part : parts)
      visit(part);
  }
  /// Calls visit(device) for those that take part; maybe several times.
  template <class Visitor> void eachDevice(Visitor visit) const {
    for (const Part &part : parts)
      visit(part.device);
  }

  /// Runs all tasks, waits where they stand, and calls visit(part, start, end)
  /// for every part. Of tasks made from a program, part i is action i of
  /// Program::order.
  template <class Visitor> void sweep(QueueTimes times, Visitor visit) const {
    std::vector<Picoseconds> starts(parts.size()), ends(parts.size());
    for (const Task &task : tasks) {
      const bool communicates =
          task.kind == Kind::Collective || task.kind == Kind::Exchange;
      for (uint32_t p = task.firstPart; p < task.endPart; ++p)
        starts[p] = communicates ? readyAt(times, parts[p])
                                 : times.local[parts[p].device];
      if (task.kind == Kind::Wait)
        times.local[parts[task.firstPart].device] =
            std::max(starts[task.firstPart],
                     isLate(task.waited, times)
                         ? endOfLate(tasks[lateTask[task.waited]], task.waited,
                                     starts[task.firstPart], starts.data())
                         : ends[task.waited]);
      else if (!(task.isLate && times.local == times.network))
        run(task, times);
      for (uint32_t p = task.firstPart; p < task.endPart; ++p) {
        ends[p] = (!communicates     ? times.local
                   : parts[p].isSent ? times.network
                                     : times.receive)[parts[p].device];
        visit(p, starts[p], ends[p]);
      }
    }
  }

  enum class Kind : uint8_t { Local, Collective, Exchange, Wait };
  static constexpr uint32_t kNone = UINT32_MAX;
  /// A device's share of a task.
  struct Part {
    Part(DeviceId device, Picoseconds duration)
        : device(device), duration(duration) {}
    DeviceId device;
    /// Of an exchange: where among the task's rendezvous those are that have to
    /// come to it; kNone: nobody.
    uint32_t rendezvous = kNone;
    Picoseconds duration; ///< its own, without waiting for others
    /// Of communication, whether the device sends and receives.
    bool isSent = true, isReceived = true;
  };
  /// Parts of an exchange, a range of members. Where all send to all, everyone
  /// waits for the same ones, so that there are far fewer rendezvous than pairs
  /// of parts that exchange messages.
  struct Rendezvous {
    uint32_t first, end;
  };
  /// A local task may have several parts, of distinct devices.
  struct Task {
    Kind kind;
    uint32_t firstPart, endPart;
    uint32_t firstRendezvous, endRendezvous;
    uint32_t waited = 0; ///< Wait: the part that is waited for
    /// Exchange: something else is done before it is waited for.
    bool isLate = false;
  };
  const std::vector<Task> &all() const { return tasks; }
  size_t numParts() const { return parts.size(); }
  const Part &part(size_t number) const { return parts[number]; }
  /// Calls visit(other) for the parts with which a part of `task`, an exchange,
  /// exchanges messages.
  template <class Visitor>
  void eachMet(const Task &task, uint32_t number, Visitor visit) const {
    if (parts[number].rendezvous == kNone)
      return;
    const Rendezvous &group =
        rendezvous[task.firstRendezvous + parts[number].rendezvous];
    for (uint32_t m = group.first; m < group.end; ++m)
      if (members[m] != number)
        visit(members[m]);
  }

  // Each of these appends a task, whose parts are numbered after those before.
  void addLocal(DeviceId device, Picoseconds duration);
  void addCollective(const std::vector<DeviceId> &members,
                     Picoseconds duration);
  /// `busy` by ascending device; `meetings` are pairs of these that exchange
  /// messages.
  void addExchange(const std::vector<std::pair<DeviceId, Picoseconds>> &busy,
                   const std::vector<std::pair<DeviceId, DeviceId>> &meetings);
  /// For part number `waited`, of the same device.
  void addWait(DeviceId device, size_t waited);

  bool empty() const { return tasks.empty(); }

private:
  friend class TimeSink;

  /// Is it the part of an exchange that passes its messages in the wait?
  bool isLate(uint32_t part, QueueTimes times) const {
    return times.local == times.network && !lateTask.empty() &&
           lateTask[part] != kNone;
  }
  /// When its messages have passed: once all have come to it, and from the wait
  /// on.
  Picoseconds endOfLate(const Task &exchange, uint32_t part, Picoseconds wait,
                        const Picoseconds *starts) const {
    eachMet(exchange, part,
            [&](uint32_t met) { wait = std::max(wait, starts[met]); });
    return wait + parts[part].duration;
  }
  void markLate();

  Task &addTask(Kind kind);
  void addExchange(const std::vector<CostModel::Transfer> &messages,
                   const CostModel &cost);
  class Meetings;

  static Picoseconds readyAt(QueueTimes times, const Part &part) {
    Picoseconds ready = times.local[part.device];
    if (part.isSent)
      ready = std::max(ready, times.network[part.device]);
    if (part.isReceived)
      ready = std::max(ready, times.receive[part.device]);
    return ready;
  }
  static void setEnd(QueueTimes times, const Part &part, Picoseconds end) {
    if (part.isSent)
      times.network[part.device] = end;
    if (part.isReceived)
      times.receive[part.device] = end;
  }
  /// Of communication, without waiting for it.
  void run(const Task &task, QueueTimes times) const;
  void runExchange(const Task &task, QueueTimes times) const;

  std::vector<Task> tasks;
  std::vector<Part> parts;
  std::vector<Rendezvous> rendezvous;
  std::vector<uint32_t> members; ///< parts
  /// By part, the exchange it is one of if that is late, else kNone; empty if
  /// none is.
  std::vector<uint32_t> lateTask;
};

} // namespace ffc::plan

#endif // FFC_PLAN_TIMEDTASK_H
