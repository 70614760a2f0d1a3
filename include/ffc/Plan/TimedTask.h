//===- TimedTask.h - how long the tasks of a plan take ----------*- C++ -*-===//
//
// The tasks of a stretch of the static order with their durations, without the
// buffers they work on. Made from the planned actions, or in their place by the
// same code, so that what is timed is what runs. A sweep over them gives the
// times of a step; the search keeps them for every operator and reshard that it
// has met.
//
// Times follow from three rules (max-plus, design 8):
//   - a local task starts when its device is free;
//   - a collective starts when all its members are, and ends for all at once;
//   - in an exchange a device is done when it and those it exchanges messages
//     with have come to it and its own messages have passed.
// None of them can make a step shorter when a duration grows.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_TIMEDTASK_H
#define FFC_PLAN_TIMEDTASK_H

#include "ffc/Plan/Cost.h"
#include "ffc/Plan/Program.h"

#include <vector>

namespace ffc::plan {

class TimedTasks {
public:
  TimedTasks() = default;
  /// The tasks of `program`, in its order.
  TimedTasks(const Graph &graph, const Strategy &strategy,
             const Program &program, const CostModel &cost);

  /// Runs all tasks on devices that are free from `free` on.
  void advance(Picoseconds *free) const;

  /// The same, with what happened: calls visit(ref, start, end) for every
  /// action of the program that the tasks were made from.
  template <class Visitor>
  void advance(const Program &program, Picoseconds *free, Visitor visit) const {
    std::vector<Picoseconds> before;
    for (const Task &task : tasks) {
      before.clear();
      for (uint32_t a = task.firstAction; a < task.endAction; ++a)
        before.push_back(free[program.order[a].device]);
      run(task, free);
      for (uint32_t a = task.firstAction; a < task.endAction; ++a)
        visit(program.order[a], before[a - task.firstAction],
              free[program.order[a].device]);
    }
  }

  bool empty() const { return tasks.empty(); }

private:
  friend class TimeSink;
  enum class Kind : uint8_t { Local, Collective, Exchange };
  /// A device's share: its own time, or that of its messages. A local task may
  /// have several, of distinct devices.
  struct Part {
    DeviceId device;
    Picoseconds duration;
  };
  struct Meeting {
    uint32_t first, second; ///< parts of the exchange
  };
  struct Task {
    Kind kind;
    uint32_t firstPart, endPart;
    uint32_t firstMeeting, endMeeting;
    /// In Program::order; for tasks made from a program.
    uint32_t firstAction = 0, endAction = 0;
  };

  Task &addTask(Kind kind);
  void addCollective(const std::vector<DeviceId> &members,
                     Picoseconds duration);
  void addExchange(const std::vector<CostModel::Transfer> &messages,
                   const CostModel &cost);

  void run(const Task &task, Picoseconds *free) const;
  void runExchange(const Task &task, Picoseconds *free) const;

  std::vector<Task> tasks;
  std::vector<Part> parts;
  std::vector<Meeting> meetings;
};

} // namespace ffc::plan

#endif // FFC_PLAN_TIMEDTASK_H
