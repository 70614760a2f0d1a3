//===- FFToPlan.cpp - the operator graph for the planner ------------------===//

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"
#include "ffc/Plan/SampleDims.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace {

class GraphBuilder {
public:
  explicit GraphBuilder(func::FuncOp main) : main(main) {}

  FailureOr<PlannedModule> run() {
    planned.module = main->getParentOfType<ModuleOp>();
    for (BlockArgument arg : main.getArguments())
      addValue(arg, inputName(arg), plan::ValueKind::Input);
    for (Operation &op : main.front().without_terminator())
      if (failed(add(&op)))
        return failure();
    plan::markSampleDims(graph());
    if (failed(setMicroBatches()))
      return failure();
    return std::move(planned);
  }

private:
  plan::Graph &graph() { return planned.graph; }

  std::string inputName(BlockArgument arg) {
    auto name =
        main.getArgAttrOfType<StringAttr>(arg.getArgNumber(), kNameAttr);
    return name ? name.str() : "input" + std::to_string(arg.getArgNumber());
  }

  plan::ValueId addValue(Value value, std::string name, plan::ValueKind kind) {
    plan::ValueId id = graph().values.size();
    plan::Value entry;
    entry.name = std::move(name);
    entry.type = tensorTypeOf(value.getType());
    entry.kind = kind;
    graph().values.push_back(std::move(entry));
    ids[value] = id;
    return id;
  }

  LogicalResult add(Operation *op) {
    if (auto state = dyn_cast<StateOp>(op)) {
      plan::ValueId id = addValue(state.getResult(), state.getName().str(),
                                  plan::ValueKind::State);
      graph().values[id].state = graph().states.size();
      states[state.getName()] = graph().states.size();
      graph().states.push_back({state.getName().str(), id, -1});
      return success();
    }
    if (auto store = dyn_cast<StoreOp>(op)) {
      auto it = states.find(store.getName());
      if (it == states.end())
        return store.emitOpError("expected a state '")
               << store.getName() << "', found none";
      graph().states[it->second].written = ids.lookup(store.getValue());
      return success();
    }
    if (auto output = dyn_cast<OutputOp>(op)) {
      plan::ValueId value = ids.lookup(output.getValue());
      if (output.getName() == "loss")
        graph().loss = value;
      graph().outputs.push_back({output.getName().str(), value});
      return success();
    }
    if (auto rules = dyn_cast<PartitionableInterface>(op))
      return addOp(op, rules);
    return op->emitError("'") << op->getName() << "' has no partition rules";
  }

  /// A result is called like its operator, or like the one in the operator's
  /// body that computes it; with a number if there are several.
  static std::string nameOfResult(const std::string &name, Value value) {
    auto result = cast<OpResult>(value);
    unsigned number = result.getResultNumber();
    Operation *op = result.getOwner();
    if (op->getNumRegions() > 0) {
      Operation *yield = op->getRegion(0).front().getTerminator();
      StringRef inside = nameOf(yield->getOperand(number).getDefiningOp());
      if (!inside.empty())
        return inside.str();
    }
    return number ? name + "." + std::to_string(number) : name;
  }

  /// "2", "0.5", "[1, 1]".
  static std::string textOf(Attribute value) {
    if (auto boolean = dyn_cast<BoolAttr>(value))
      return boolean.getValue() ? "1" : "0";
    if (auto integer = dyn_cast<IntegerAttr>(value))
      return std::to_string(integer.getValue().getSExtValue());
    if (auto number = dyn_cast<FloatAttr>(value))
      return llvm::formatv("{0}",
                           llvm::format("%.9g", number.getValueAsDouble()));
    if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
      return llvm::formatv(
          "[{0:$[, ]}]",
          llvm::make_range(list.asArrayRef().begin(), list.asArrayRef().end()));
    if (auto list = dyn_cast<DenseF64ArrayAttr>(value))
      return llvm::formatv(
          "[{0:$[, ]}]",
          llvm::make_range(list.asArrayRef().begin(), list.asArrayRef().end()));
    if (auto text = dyn_cast<StringAttr>(value))
      return text.str();
    std::string text;
    llvm::raw_string_ostream(text) << value;
    return text;
  }

  /// Is the value, where it is partial, a maximum?
  bool isMaximum(const plan::Value &value) const {
    if (value.producer < 0)
      return false;
    const plan::Op &op = planned.graph.ops[value.producer];
    const int slot = static_cast<int>(op.operands.size()) + value.result;
    for (const plan::Schedule &schedule : op.rules.schedules)
      for (const plan::Phase &phase : schedule.phases)
        for (const plan::SlotWrite &write : phase.writes)
          if (write.slot == slot && write.reduction == plan::Reduction::Max)
            return true;
    return false;
  }

  /// Only means over micro-batches go from them to the updates.
  LogicalResult setMicroBatches() {
    auto microBatches = main->getAttrOfType<IntegerAttr>(kMicroBatchesAttr);
    if (!microBatches)
      return success();
    const std::vector<plan::Op> &ops = graph().ops;
    graph().microBatches = static_cast<int>(microBatches.getInt());
    const auto end = static_cast<plan::OpId>(ops.size());
    const int64_t repeated =
        llvm::count_if(llvm::seq<plan::OpId>(0, end),
                       [&](plan::OpId id) { return graph().isRepeated(id); });
    if (repeated == 0 || repeated == end)
      return main.emitError("expected gradients and updates in a step of ")
             << microBatches.getInt() << " micro-batches";
    for (plan::OpId id = 0; id < end; ++id)
      for (plan::ValueId operand : ops[id].operands) {
        if (operand < 0)
          continue;
        const plan::Value &value = graph().values[operand];
        const bool isUpdated =
            value.producer >= 0 && !graph().isRepeated(value.producer);
        if (graph().isRepeated(id)) {
          if (isUpdated)
            return planned.ops[id]->emitError("'")
                   << ops[id].name << "' reads '" << value.name
                   << "', which is computed after the micro-batches, expected "
                      "only updates to do so";
          continue;
        }
        if (value.kind == plan::ValueKind::Input || isMaximum(value) ||
            (graph().isAccumulated(operand) &&
             value.type.type != plan::ElementType::F32 &&
             value.type.type != plan::ElementType::F64))
          return planned.ops[id]->emitError("'")
                 << ops[id].name << "' reads '" << value.name
                 << "', of which every micro-batch has another value, expected "
                    "one whose mean over the micro-batches can be taken";
      }
    return success();
  }

  static std::string attributesOf(PartitionableInterface op) {
    std::string text;
    for (NamedAttribute attribute : op.getKernelArgs())
      if (attribute.getName() != ff::kRandomKeyArg &&
          attribute.getName() != ff::kClampArg)
        text += (text.empty() ? "" : ", ") + attribute.getName().str() + " = " +
                textOf(attribute.getValue());
    return text;
  }

  /// Updates of whole parameters and statistics follow each other, so that GPUs
  /// start many at once; on CPUs a start is little beside them.
  static bool startsWithOthers(const plan::OpRules &rules) {
    if (rules.dims.empty() || rules.schedules.size() != 1 ||
        rules.schedules.front().phases.size() != 1)
      return false;
    const plan::Phase &phase = rules.schedules.front().phases.front();
    return llvm::all_of(phase.writes, [](const plan::SlotWrite &write) {
      return write.reduction == plan::Reduction::None &&
             write.touchedPerPoint == 0;
    });
  }

  LogicalResult addOp(Operation *op, PartitionableInterface rules) {
    plan::OpId id = graph().ops.size();
    plan::Op entry;
    entry.name = nameOf(op).str();
    if (entry.name.empty())
      entry.name = rules.getFamily().str() + "_" + std::to_string(id);
    if (!opIds.try_emplace(entry.name, id).second)
      return op->emitOpError("expected a name of its own, found '")
             << entry.name << "' again";
    entry.type = rules.getFamily().str();
    entry.rules = rules.getRules();
    entry.attributes = attributesOf(rules);
    entry.multiplies = !rules.getMultipliedOperands().empty();
    entry.roundsOperands =
        op->getParentOp()->hasAttr(kTf32Attr) && entry.multiplies;
    if (auto role = op->getAttrOfType<StringAttr>(kRoleAttr))
      entry.role = llvm::StringSwitch<plan::OpRole>(role.getValue())
                       .Case(kLossRole, plan::OpRole::Loss)
                       .Case(kUpdateRole, plan::OpRole::Update)
                       .Default(plan::OpRole::Gradient);
    if (entry.role == plan::OpRole::Update && startsWithOthers(entry.rules))
      entry.rules.schedules.front().phases.front().startsWithOthers = true;
    if (auto owner = op->getAttrOfType<StringAttr>(kOwnerAttr)) {
      auto it = opIds.find(owner.getValue());
      if (it == opIds.end() || it->second == id)
        return op->emitOpError("expected owner '")
               << owner.getValue() << "' before '" << entry.name << "'";
      entry.owner = it->second;
    }
    if (auto carry = op->getAttrOfType<DenseI64ArrayAttr>(kCarryAttr)) {
      entry.ownerSlot = carry[0];
      entry.ownSlot = carry[1];
    }
    if (auto aliases = op->getAttrOfType<ArrayAttr>(kAliasesAttr))
      for (auto alias : aliases.getAsRange<StringAttr>())
        entry.aliases.push_back(alias.str());

    for (Value operand : rules.getOperandSlots()) {
      plan::ValueId value = operand ? ids.lookup(operand) : -1;
      if (value >= 0)
        graph().values[value].uses.push_back(
            {id, static_cast<int>(entry.operands.size())});
      entry.operands.push_back(value);
    }
    for (Value result : rules.getResultSlots()) {
      int number = entry.results.size();
      if (!result ||
          (result.use_empty() &&
           llvm::is_contained(entry.rules.optionalResults, number))) {
        entry.results.push_back(-1);
        continue;
      }
      plan::ValueId value = addValue(result, nameOfResult(entry.name, result),
                                     plan::ValueKind::Activation);
      graph().values[value].producer = id;
      graph().values[value].result = number;
      entry.results.push_back(value);
    }
    graph().ops.push_back(std::move(entry));
    planned.ops.push_back(op);
    return success();
  }

  func::FuncOp main;
  PlannedModule planned;
  DenseMap<Value, plan::ValueId> ids;
  llvm::StringMap<plan::StateId> states;
  llvm::StringMap<plan::OpId> opIds;
};

} // namespace

FailureOr<PlannedModule> ffc::buildPlanGraph(ModuleOp module) {
  func::FuncOp main = mainFunction(module);
  if (!main)
    return failure();
  return GraphBuilder(main).run();
}
