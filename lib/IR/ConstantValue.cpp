//===- ConstantValue.cpp - values that no step changes --------------------===//

#include "ffc/IR/ConstantValue.h"
#include "ffc/IR/InitialValues.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

/// Has the operator values that constantValue() can tell?
static bool isConstant(Operation *op, int64_t most) {
  for (Value result : op->getResults()) {
    const plan::TensorType type = tensorTypeOf(result.getType());
    if (plan::numElements(type.shape) > most ||
        type.type == plan::ElementType::BF16 ||
        type.type == plan::ElementType::F16)
      return false;
  }
  if (auto state = dyn_cast<StateOp>(op))
    return state.getKind() == "constant" &&
           state.getInit().getKind() != InitKind::File;
  // Random numbers differ from step to step.
  auto computing = dyn_cast<PartitionableInterface>(op);
  return computing && !computing.getKernelArgs().contains(kRandomKeyArg);
}

/// What `value` is made of, operands first; nothing if it is not constant.
static SmallVector<Operation *> partsOf(Value value, int64_t most) {
  llvm::SmallSetVector<Operation *, 16> parts;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !isConstant(op, most))
      return {};
    if (parts.insert(op))
      open.append(op->operand_begin(), op->operand_end());
  }
  SmallVector<Operation *> order = parts.takeVector();
  llvm::sort(order,
             [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  return order;
}

std::optional<TensorValue> ff::constantValue(Value value, int64_t most) {
  llvm::DenseMap<Value, TensorValue> values;
  for (Operation *op : partsOf(value, most)) {
    if (auto state = dyn_cast<StateOp>(op)) {
      values[state.getResult()] = initialState(state, /*seed=*/0);
      continue;
    }
    auto computing = cast<PartitionableInterface>(op);
    SmallVector<const TensorValue *> operands;
    for (Value operand : computing.getOperandSlots())
      operands.push_back(operand ? &values.find(operand)->second : nullptr);
    auto results = evaluateOperator(computing, operands, ReferenceContext());
    if (failed(results))
      return std::nullopt;
    for (auto [result, found] : llvm::zip(op->getResults(), *results))
      values[result] = std::move(found);
  }
  auto found = values.find(value);
  if (found == values.end())
    return std::nullopt;
  return std::move(found->second);
}
