//===- StepOrder.h - what a step does, in its order -------------*- C++ -*-===//
//
// Internal to Plan. The order in which a device does its part of a step,
// written once: the planner makes actions of it, the timer times, the memory
// lifetimes. Which actions an entry comes to is up to the strategy; that and
// where it stands is up to the graph alone.
//
// After every operator, with its reads and phases, the loss is completed, and
// what is needed after the micro-batches is added up; at the end of a
// micro-batch its outputs are completed; collectives start that go on beside
// what follows. At the end of the step outputs are completed and states stored.
// In a pipeline (PipelineSchedule.h) an operator has several turns, and is done
// after the last one. Messages to the turn that first reads a part start when
// it is made, and the reader waits. The sums of a gradient that every turn
// makes of its own begin to be sent to their update when they are made, and are
// added up after those that are made next have begun, or when something is read
// that began to be sent later.
//
// Where devices communicate beside their kernels, the collectives with which
// the first reshard of a value begins start early (docs/decisions/0015): of
// partial sums right after the operator that makes them, or after the last
// micro-batch if they are added up over these; of a state that is updated after
// the first operator of a micro-batch. The first reader waits. Those that
// nobody waits for before the updates at the end of the step start in batches
// (EarlyStart.h).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_STEPORDER_H
#define FFC_LIB_PLAN_STEPORDER_H

#include "OperatorOrder.h"
#include "WrittenInPlace.h"
#include "ffc/Plan/PipelineSchedule.h"

#include <functional>
#include <utility>
#include <vector>

namespace ffc::plan {

struct StepEntry {
  enum class Kind : uint8_t {
    Run,        ///< turn `index` of operator `row`: its reads, its phases
    Complete,   ///< `value`, the loss, gets where it is needed
    Accumulate, ///< `value` is added to those of earlier micro-batches
    Output,     ///< `value` is completed if it still is partial sums
    EndMicroBatch,
    Send,   ///< `value`, of which a turn made a part, is sent to turn `index`
    Forget, ///< of `value`, a state that is sent again, only its home is left
    Fetch,  ///< `value`, a state, begins to be sent for turn `index`
    Reduce, ///< the sums of `value` by a turn begin to get to their update
    Add,    ///< these are there, and added to those of earlier turns
    Start,  ///< collectives of StepOrder::starts()[index]
    Store,  ///< `value` gets into `state`

    // Only among the entries of a value:
    Read, ///< operator `row` reads it
    Mean, ///< from here on it is the mean over the micro-batches
  };
  Kind kind = Kind::Run;
  /// The operator at which, or after which, it is done; the number of operators
  /// for what is done at the end of the step.
  OpId row = -1;
  /// Complete, Accumulate, Output, Store: its number among those of the row; -1
  /// for a value that was written into the state, of which nothing is left to
  /// do. Start: of the place. Run, Send, Fetch, Reduce, Add: of the turn,
  /// among all. Read: the first slot with the value.
  int index = -1;
  ValueId value = -1;
  StateId state = -1;
};

/// An operator after which collectives may start, or the last one before the
/// updates, after which all start that were waiting for others.
struct StartPlace {
  OpId op = -1;
  /// Results of the operator, what was accumulated, and after the first
  /// operator states in the order in which they are read.
  std::vector<ValueId> values;
  bool isLast = false;
};

/// Who waits for an early start.
enum class StartKind : uint8_t {
  Alone,    ///< an operator before the updates
  Gradient, ///< an update
  State     ///< the first reader of a state
};

/// Does the reshard of a value that is laid out so, at an entry Start, begin
/// there? `isPartial`: some of it is partial sums.
inline bool startsEarly(const Value &value, bool isPartial) {
  return value.producer < 0 || isPartial;
}

/// As turnsOf() of PipelineSchedule.h, in the order of `operators`.
std::vector<Turn> turnsOf(const Graph &graph, const OperatorOrder &operators,
                          const Strategy &strategy,
                          const PipelineSchedule &schedule);

class StepOrder {
public:
  /// Without a pipeline. `operators`, here and below, must outlive the order.
  StepOrder(const Graph &graph, const OperatorOrder &operators,
            const WrittenInPlace &inPlace);

  struct EarlyStarts {
    /// Does communication start before it is waited for?
    bool areThere = false;
    /// By value: states that are sent again (Recomputation.h); empty: none.
    /// With early starts each begins to be right before the one before is first
    /// read, so that two are there at once.
    std::vector<bool> sentAgain;
    /// By value: who updates a parameter with it that is sent again.
    std::vector<OpId> updates;
  };
  StepOrder(const Graph &graph, const OperatorOrder &operators,
            const WrittenInPlace &inPlace, std::vector<Turn> turns,
            const EarlyStarts &early);

  /// That of a strategy with a schedule, and what it does again.
  static StepOrder of(const Graph &graph, const OperatorOrder &operators,
                      const WrittenInPlace &inPlace, const Strategy &strategy,
                      const PipelineSchedule &schedule);

  /// All that is done, in order.
  const std::vector<StepEntry> &entries() const { return all; }
  /// What is done to a value, in order.
  const std::vector<StepEntry> &of(ValueId value) const {
    return byValue[value];
  }
  /// How many entries of a row are numbered by `index`.
  int numIndices(OpId row) const { return indices[row]; }

  const OperatorOrder &operators() const { return inOrder; }
  const std::vector<Turn> &turns() const { return inTurn; }
  const std::vector<StartPlace> &starts() const { return places; }
  StartKind startKind(ValueId value) const { return kinds[value]; }
  /// To whom the sums of a value go that every turn makes of its own.
  OpId updateOf(ValueId value) const { return updates[value]; }

private:
  /// A Reduce without Add so far.
  struct Reduced {
    StepEntry entry;
    int thereAt = -1; ///< turn that waits for what began to be sent after it
  };

  void placeStarts(const Graph &graph, const std::vector<bool> &sentAgain);
  void placeFetches(const Graph &graph, const EarlyStarts &early);
  void addEntries(const Graph &graph, const WrittenInPlace &inPlace);
  void complete(const Graph &graph, OpId row, bool ofMicroBatch);
  void endMicroBatch(const Graph &graph);
  void add(StepEntry::Kind kind, OpId row, ValueId value, StateId state = -1);

  void addAfter(const Graph &graph, OpId op);

  void placeSends(const Graph &graph);
  void addSums(const Graph &graph, int turn);
  void finishSums(const std::function<bool(const Reduced &)> &isDue);
  void finishSumsOf(const std::vector<ValueId> &values);

  const OperatorOrder &inOrder;
  std::vector<Turn> inTurn;
  /// By turn, the first turns that read of what it makes, and which value.
  std::vector<std::vector<std::pair<ValueId, int>>> sends;
  /// A state that is sent again for a turn, another time than the first, or
  /// begins to be for it.
  struct Fetch {
    ValueId value = -1;
    int reader = -1;
    bool isAgain = false, isEarly = false;
  };
  std::vector<std::vector<Fetch>> fetches; ///< by the turn that comes after
  std::vector<OpId> updates;               ///< by value
  std::vector<Reduced> reduced;
  std::vector<StepEntry> all;
  std::vector<std::vector<StepEntry>> byValue;
  std::vector<int> indices; ///< by row
  std::vector<StartPlace> places;
  std::vector<StartKind> kinds;  ///< by value
  std::vector<bool> isCompleted; ///< by value
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_STEPORDER_H
