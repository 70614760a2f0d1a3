//===- Graph.h - the operator graph as the planner sees it ------*- C++ -*-===//
//
// A training (or inference) step: operators with partition rules, connected by
// values with static global shapes, plus loop-carried state. Built once from
// the `ff` dialect (lib/Passes) and never changed by the search.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_GRAPH_H
#define FFC_PLAN_GRAPH_H

#include "ffc/Plan/Rules.h"

#include <string>
#include <vector>

namespace ffc::plan {

using OpId = int32_t;
using ValueId = int32_t;
using StateId = int32_t;
using DeviceId = int32_t;

enum class ValueKind {
  Activation, ///< produced by an operator each step
  Input,      ///< read from the data set; every device can load any box of it
  State,      ///< contents of a state at the start of the step
};

struct Use {
  OpId op = -1;
  int operand = 0;
};

struct Value {
  std::string name;
  TensorType type;
  ValueKind kind = ValueKind::Activation;
  OpId producer = -1; ///< Activation only
  int result = 0;     ///< index among the producer's results
  StateId state = -1; ///< State only
  std::vector<Use> uses;
};

/// A part of a state that a device has.
struct StatePart {
  DeviceId device = -1;
  Region region;
  MemoryOrder order = MemoryOrder::RowMajor;
};

/// Loop-carried state: a parameter, an optimizer slot, a frozen constant.
struct State {
  std::string name;
  ValueId read = -1;    ///< its value at the start of the step
  ValueId written = -1; ///< the value stored at the end; -1 if constant
  /// Where it is, if another step writes it (SharedState.h); empty: where
  /// readers or the update of this one have it.
  std::vector<StatePart> kept = {};
};

enum class OpRole { Forward, Loss, Gradient, Update };

struct Op {
  std::string name; ///< unique: the ONNX node name, gradients with a suffix
  std::string
      type; ///< family name for strategies: "conv2d", "linear", "pool2d"
  OpRole role = OpRole::Forward;
  OpRules rules;
  std::vector<ValueId> operands; ///< -1: absent optional operand
  std::vector<ValueId> results;  ///< -1: result nobody uses
  /// The forward operator whose configuration this one takes unless given one
  /// (gradients: their forward; updates: the parameter's first reader); -1:
  /// none
  OpId owner = -1;
  /// If >= 0: the configuration carries over through one tensor, which stands
  /// in slot `ownerSlot` of the owner and (itself or its gradient) in slot
  /// `ownSlot` of this operator. -1: dimensions are matched by name.
  int ownerSlot = -1;
  int ownSlot = -1;
  /// Names under which a strategy may address the operator besides `name`:
  /// the names of the ONNX node's outputs.
  std::vector<std::string> aliases;
  /// What its kernels are told besides shapes, as far as they may take longer
  /// or shorter by it, as text: "group = 1, pads = ...".
  std::string attributes;
  /// Its kernels multiply and add up: narrow operands as what they are, not as
  /// f32.
  bool multiplies = false;
  /// They multiply f32 as TF32 where a device can.
  bool roundsOperands = false;
};

/// A value that leaves the step: dumped, or the loss.
struct Output {
  std::string name; ///< "out/y", "grad/conv1.weight", "loss"
  ValueId value = -1;
};

struct Graph {
  std::vector<Value> values;
  std::vector<Op> ops; ///< in graph order, which is topological
  std::vector<State> states;
  std::vector<Output> outputs;
  ValueId loss = -1;
  /// How often a step runs the operators before the updates, each time on
  /// another batch (docs/decisions/0024). If more than once, no other operator
  /// reads what an update makes.
  int microBatches = 1;

  const Value &value(ValueId id) const { return values[id]; }
  const Op &op(OpId id) const { return ops[id]; }
  /// Type of slot `slot` of `op` (operand, result or internal tensor). The slot
  /// must not be an absent operand or result.
  const TensorType &slotType(OpId op, int slot) const;
  /// Value in slot `slot`, or -1 for absent ones and internal tensors.
  ValueId slotValue(OpId op, int slot) const;
  /// The first slot with the same value; of an internal tensor its own.
  int firstSlot(OpId op, int slot) const;
  /// True for inputs and for states that nothing writes: every device loads
  /// whichever box of them it needs.
  bool isLoaded(ValueId id) const {
    const Value &value = values[id];
    return value.kind == ValueKind::Input ||
           (value.kind == ValueKind::State && states[value.state].written < 0 &&
            states[value.state].kept.empty());
  }
  /// True if every one of several micro-batches runs the operator.
  bool isRepeated(OpId id) const {
    return microBatches > 1 && ops[id].role != OpRole::Update;
  }
  /// True if what reads the value after the micro-batches reads its mean over
  /// them.
  bool isAccumulated(ValueId id) const;
  /// True if every micro-batch makes another value, and only micro-batches read
  /// it.
  bool isOfMicroBatch(ValueId id) const {
    return values[id].producer >= 0 && isRepeated(values[id].producer) &&
           !isAccumulated(id);
  }
};

} // namespace ffc::plan

#endif // FFC_PLAN_GRAPH_H
