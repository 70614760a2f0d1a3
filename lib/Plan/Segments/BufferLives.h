//===- BufferLives.h - which buffers a step has, and how long ---*- C++ -*-===//
//
// Internal to Plan: the third reader of a step's order, besides the planner and
// the timer. What the planner appends as actions on buffers is here their
// numbers and the moments between which they are in use.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_BUFFERLIVES_H
#define FFC_LIB_PLAN_BUFFERLIVES_H

#include "Order/StepOrder.h"
#include "ffc/Plan/Segments.h"

#include <unordered_map>

namespace ffc::plan {

class BufferLives {
public:
  BufferLives(SegmentTable &table, const std::vector<ConfigId> &configs);

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
  /// Where the parts of a value are.
  struct Placed {
    LayoutId layout = -1;
    std::vector<int> buffers; ///< by number of the layout
    /// Of collectives that nobody has waited for.
    std::vector<int> unfinished;
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

  void placeStates();
  void visit(const StepEntry &entry);
  void run(OpId op);
  void countPoints(const Configuration &config);
  void read(OpId op, const OpSegment::Step &step);
  void write(OpId op, ValueId value, LayoutId layout);
  void load(OpId op, const OpSegment::Step &step, Placed &where);
  int bufferFor(OpId op, ValueId value, const SegmentTable::Part &part);
  int operandLike(const Op &op, int slot, const SegmentTable::Part &part) const;
  void start(ValueId value);
  void finish(Placed &where);
  void reshard(ValueId value, NeedId need);
  void move(ValueId value, LayoutId after, const BufferUse &use);
  void touch(int buffer) {
    if (buffer != kKept)
      buffers[buffer].last = now;
  }
  int add(ValueId value, const SegmentTable::Part &part);
  void overwrite();

  SegmentTable &table;
  const Graph &graph;
  const std::vector<ConfigId> &configs;
  int now = 0;
  std::vector<Placed> placed;                ///< by value
  std::unordered_map<ValueId, Placed> means; ///< after the micro-batches
  std::vector<std::vector<OperandPart>>
      operands; ///< of the operator, by device
  std::vector<DeviceId> withOperands;
  std::vector<int> toRead; ///< by its next kernel
  std::vector<int> points; ///< of the operator, by device
  std::vector<DeviceId> withPoints;
  std::vector<bool> wroteTo; ///< by device: a part of the result
  std::vector<Buffer> buffers, kept;
  std::vector<Overwrite> overwrites;
  std::vector<Staging> messages;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_BUFFERLIVES_H
