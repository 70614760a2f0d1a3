//===- ConstantValue.cpp - values that no step changes --------------------===//

#include "ffc/IR/ConstantValue.h"

#include "ffc/IR/ElementKernels.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

bool ff::isPattern(InitAttr init) {
  switch (init.getKind()) {
  case InitKind::File:
  case InitKind::Uniform:
  case InitKind::Normal:
    return false;
  case InitKind::Constant:
  case InitKind::Positions:
  case InitKind::Upper:
  case InitKind::Lower:
    return true;
  }
  llvm_unreachable("unknown kind");
}

TensorValue ff::patternOf(StateOp state) {
  const plan::TensorType type = tensorTypeOf(state.getResult().getType());
  TensorValue value{type.shape,
                    std::vector<double>(plan::numElements(type.shape))};
  const double parameter = state.getInit().getValue().getValueAsDouble();
  auto fill = [&](auto element) {
    for (size_t i = 0; i < value.data.size(); ++i)
      value.data[i] = element(i);
  };
  auto isUpper = [&](size_t i) {
    const auto columns = static_cast<size_t>(type.shape.back()),
               rows = static_cast<size_t>(type.shape[type.shape.size() - 2]);
    return i % columns > i / columns % rows;
  };
  switch (state.getInit().getKind()) {
  case InitKind::Constant:
    fill([&](size_t) {
      return type.type == plan::ElementType::F32 ? static_cast<float>(parameter)
                                                 : parameter;
    });
    break;
  case InitKind::Positions:
    fill([&](size_t i) { return parameter + static_cast<double>(i); });
    break;
  case InitKind::Upper:
    fill([&](size_t i) { return isUpper(i) ? parameter : 0; });
    break;
  case InitKind::Lower:
    fill([&](size_t i) { return isUpper(i) ? 0 : parameter; });
    break;
  default:
    llvm_unreachable("no pattern");
  }
  return value;
}

bool ff::hasConstantResults(Operation *op, int64_t most) {
  for (Value result : op->getResults()) {
    const plan::TensorType type = tensorTypeOf(result.getType());
    if (plan::numElements(type.shape) > most ||
        type.type == plan::ElementType::BF16 ||
        type.type == plan::ElementType::F16)
      return false;
  }
  if (auto state = dyn_cast<StateOp>(op))
    return state.getKind() == "constant" && isPattern(state.getInit());
  auto computing = dyn_cast<PartitionableInterface>(op);
  return computing &&
         llvm::all_of(computing.getRules().schedules.front().phases,
                      [](const plan::Phase &phase) {
                        return elementKernels().contains(phase.kernel);
                      });
}

/// What `value` is made of, operands first; nothing if it is not constant.
static SmallVector<Operation *> partsOf(Value value, int64_t most) {
  llvm::SmallSetVector<Operation *, 16> parts;
  SmallVector<Value> open = {value};
  while (!open.empty()) {
    Operation *op = open.pop_back_val().getDefiningOp();
    if (!op || !hasConstantResults(op, most))
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
      values[state.getResult()] = patternOf(state);
      continue;
    }
    auto computing = cast<PartitionableInterface>(op);
    SmallVector<const TensorValue *> operands;
    for (Value operand : computing.getOperandSlots())
      operands.push_back(operand ? &values.find(operand)->second : nullptr);
    auto results = evaluateOperator(
        computing, operands, ReferenceContext(),
        [](StringRef name) { return elementKernels().lookup(name); });
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
