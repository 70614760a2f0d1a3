//===- TaskId.h - the identity of a task ------------------------*- C++ -*-===//
//
// The same in simulator, `rank` and the program's log, where it is four numbers
// and is printed as "conv2#0@3.1".
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_TASKID_H
#define FFC_PLAN_TASKID_H

#include "ffc/Plan/Graph.h"

#include <string>
#include <variant>

namespace ffc::plan {

struct TaskId {
  /// The kernel of a grid point, or the second one, of what is computed again.
  struct Compute {
    int point = 0;
    bool isAgain = false;
  };
  /// Adds the point's partial result to that of an earlier point on the device.
  struct AddPartial {
    int point = 0;
    bool isAgain = false;
  };
  /// A step of the reshard of a value or, where that is -1, of the operator's
  /// internal tensor in `slot`.
  struct Reshard {
    ValueId value = -1;
    int slot = 0;
    int step = 1; ///< 1, 2, ...
  };
  /// Copies a result to the state that it is stored in.
  struct Store {
    StateId state = -1;
  };
  /// Adds a value to those of earlier micro-batches.
  struct AddMicroBatch {
    ValueId value = -1;
  };

  /// The operator computed, or the first consumer served: reshards belong to
  /// the operator and operand that first needs them.
  OpId op = -1;
  int phase = 0;
  /// Nothing for what is no task, as probes.
  std::variant<std::monostate, Compute, AddPartial, Reshard, Store,
               AddMicroBatch>
      what;

  /// The grid point of a kernel; it must be one.
  int point() const { return std::get<Compute>(what).point; }
};

/// A step of a reshard: from the first one the others count.
struct ReshardTask {
  OpId op = -1;
  int phase = 0;
  TaskId::Reshard reshard;

  ReshardTask later(int steps) const {
    return {op, phase, {reshard.value, reshard.slot, reshard.step + steps}};
  }
  operator TaskId() const { return {op, phase, reshard}; }
};

/// A task outside of the planner. No two tasks have the same numbers.
struct TaskNumbers {
  int op = -1, phase = 0;
  /// Grid point; of a reshard and of the addition of micro-batches the value,
  /// or minus the slot of an internal tensor; of a store the state.
  int point = 0;
  /// 0: kernel. 1, 2, ...: step of a reshard. -1: addition of a partial result.
  /// -2: store. -3: addition of micro-batches. -4, -5: as 0 and -1, of what is
  /// computed again.
  int instance = 0;
};
TaskNumbers numbersOf(const TaskId &task);
/// Its inverse.
TaskId taskOf(const TaskNumbers &numbers);

bool operator==(const TaskId &a, const TaskId &b);

/// "conv2#0@3.1": operator, phase, point, instance.
std::string str(const TaskId &task, const Graph &graph);

} // namespace ffc::plan

#endif // FFC_PLAN_TASKID_H
