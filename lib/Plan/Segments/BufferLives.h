//===- BufferLives.h - which buffers a step has, and how long ---*- C++ -*-===//
//
// Internal to Plan. What the planner appends as actions on buffers is here
// their numbers and the moments between which they are in use, along a step's
// order (StepWalk.h).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_BUFFERLIVES_H
#define FFC_LIB_PLAN_BUFFERLIVES_H

#include "StepWalk.h"

#include <unordered_map>

namespace ffc::plan {

class BufferLives : private StepWalk::Sink {
public:
  /// Operators in graph order.
  BufferLives(SegmentTable &table, const std::vector<ConfigId> &configs);
  /// In another order.
  BufferLives(SegmentTable &table, const StepOrder &order,
              const std::vector<ConfigId> &configs);

  /// False as StepWalk::run(): all else is empty.
  bool isRegular() const { return regular; }

  struct Buffer {
    SegmentTable::Part part;
    ValueId value = -1;      ///< of which it holds a part
    int first = 0, last = 0; ///< moments; none if last < first
  };
  /// In the arena. What may lie where an operand was begins after it.
  const std::vector<Buffer> &arena() const { return buffers; }
  /// Those of the state.
  const std::vector<Buffer> &states() const { return kept; }

  /// More bytes of a device at one moment, for messages.
  struct Staging {
    int at;
    DeviceId device;
    int64_t bytes;
  };
  const std::vector<Staging> &staging() const { return messages; }
  int numMoments() const { return now + 1; }

private:
  /// In the state.
  static constexpr int kKept = -1;
  /// Communication that somebody has not waited for.
  struct Begun {
    int id = -1;
    std::vector<int> read, written; ///< buffers
  };
  /// Where the parts of a value, or of what a turn makes of it, are.
  struct Placed {
    LayoutId layout = -1;
    std::vector<int> buffers; ///< by number of the layout
    std::vector<Begun> begun;
    /// Of a value that is loaded, by SegmentTable::codes().
    std::unordered_map<int64_t, int> loaded;
  };
  /// A part that the operator reads.
  struct OperandPart {
    int slot;
    SegmentTable::Part part;
    int buffer;
  };
  /// A result that may lie where an operand was.
  struct Overwrite {
    int result, operand;
  };

  void home(ValueId state, LayoutId layout) override;
  void beginTurn(const Turn &turn) override;
  void load(const OpSegment::Step &step, ValuePart from) override;
  void read(const OpSegment::Step &step, ValuePart from,
            LayoutId layout) override;
  void compute() override;
  void write(size_t result, ValuePart to, LayoutId layout, bool adds) override;
  void endTurn() override;
  void move(ValuePart value, LayoutId after, const BufferUse &use) override;
  void begin(ValuePart value, LayoutId after, const BufferUse &use,
             const std::vector<int32_t> &read, int id) override;
  void end(ValuePart value, int id, StepWalk::Waiting who,
           const std::vector<DeviceId> &receivers) override;
  void addSum(ValueId value, LayoutId layout,
              const std::vector<int32_t> &numbers, const Turn &turn) override;
  void forget(ValueId state, LayoutId home) override;
  void accumulate(ValueId value, LayoutId layout) override;
  void beMean(ValueId value) override;

  Placed &at(ValuePart value);
  void goOn(Placed &where, LayoutId layout);
  void countPoints(OpId op, int turns);
  int bufferFor(OpId op, ValueId value, const SegmentTable::Part &part,
                int number);
  int operandLike(int slot, const SegmentTable::Part &part, int number) const;
  void touch(int buffer) {
    if (buffer != kKept)
      buffers[buffer].last = now;
  }
  int add(ValueId value, const SegmentTable::Part &part);
  void overwrite();

  SegmentTable &table;
  const Graph &graph;
  const std::vector<ConfigId> &configs;
  bool regular = true;
  int now = 0;
  OpId op = -1;                              ///< whose turn it is
  std::vector<std::vector<Placed>> placed;   ///< by value, and part
  std::unordered_map<ValueId, Placed> means; ///< after the micro-batches
  /// Of values of which every turn makes sums of its own, those so far.
  std::unordered_map<ValueId, Placed> sums;
  std::vector<std::vector<OperandPart>>
      operands; ///< of the operator, by device
  std::vector<DeviceId> withOperands;
  std::vector<int> toRead; ///< by its next kernel
  std::vector<int> points; ///< of the operator in a turn, by device
  std::vector<DeviceId> withPoints;
  OpId counted = -1; ///< whose these are, in so many turns
  int countedTurns = 0;
  std::vector<bool> wroteTo; ///< by device: a part of the result
  std::vector<Buffer> buffers, kept;
  std::vector<Overwrite> overwrites;
  std::vector<Staging> messages;
};

/// The most that is in use at once, by device.
std::vector<int64_t> mostBytes(const BufferLives &lives, int numDevices);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_BUFFERLIVES_H
