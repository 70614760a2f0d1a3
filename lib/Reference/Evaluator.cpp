//===- Evaluator.cpp - the value of an ff module --------------------------===//

#include "ffc/Reference/Evaluator.h"

#include "ffc/IR/ElementKernels.h"
#include "ffc/IR/MainFunction.h"
#include "ffc/IR/NarrowFloat.h"

#include "llvm/ADT/DenseMap.h"

#include <cmath>
#include <deque>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

FailureOr<std::vector<TensorValue>>
ff::evaluateOperator(PartitionableInterface op,
                     ArrayRef<const TensorValue *> operands,
                     const ReferenceContext &context) {
  return evaluateOperator(op, operands, context, lookupReference);
}

void Noise::move(TensorValue &value) {
  std::uniform_real_distribution<double> units(-0x1p-22, 0x1p-22);
  const auto isExact = [](double number) {
    return std::abs(number) <= 0x1p24 && number == std::trunc(number);
  };
  for (double &number : value.data)
    if (std::isfinite(number) && !isExact(number))
      number += units(random) * std::abs(number);
}

namespace {
/// One evaluation of a function.
class Evaluation {
public:
  Evaluation(const TensorValues &inputs, const TensorValues &states,
             const ReferenceContext &context, Noise *noise)
      : inputs(inputs), states(states), context(context), noise(noise) {}

  LogicalResult run(func::FuncOp main);
  EvaluationResult take() { return std::move(result); }

private:
  LogicalResult run(Operation *op);
  LogicalResult compute(PartitionableInterface op);
  /// Binds `value` to the entry `name` of `given`.
  LogicalResult bind(Value value, StringRef what, StringRef name,
                     const TensorValues &given);

  const TensorValues &inputs, &states;
  const ReferenceContext &context;
  Noise *noise;
  llvm::DenseMap<Value, TensorValue> values;
  EvaluationResult result;
};
} // namespace

LogicalResult Evaluation::bind(Value value, StringRef what, StringRef name,
                               const TensorValues &given) {
  auto it = given.find(name.str());
  if (it == given.end())
    return emitError(value.getLoc())
           << what << " '" << name << "': expected a value, found none";
  plan::Shape shape = tensorTypeOf(value.getType()).shape;
  if (it->second.shape != shape)
    return emitError(value.getLoc())
           << what << " '" << name << "': expected shape ["
           << ArrayRef<int64_t>(shape) << "], found ["
           << ArrayRef<int64_t>(it->second.shape) << "]";
  values[value] = it->second;
  return success();
}

static bool addsUp(PartitionableInterface op) {
  return llvm::any_of(op.getRules().dims, [](const plan::IterDim &dim) {
    return dim.kind == plan::DimKind::Reduction;
  });
}

/// Are the results elements of operands, and no numbers that are rounded? What
/// is equal must stay so: the gradient of a maximum goes where it is found.
static bool onlyPicks(PartitionableInterface op) {
  const plan::OpRules rules = op.getRules();
  return llvm::all_of(
      rules.schedules.front().phases, [](const plan::Phase &phase) {
        return phase.flopsPerPoint == 0 ||
               llvm::all_of(phase.writes, [](const plan::SlotWrite &write) {
                 return write.reduction == plan::Reduction::Max;
               });
      });
}

static bool isF32(Value value) {
  return tensorTypeOf(value.getType()).type == plan::ElementType::F32;
}

LogicalResult Evaluation::compute(PartitionableInterface op) {
  SmallVector<const TensorValue *> operands;
  std::deque<TensorValue> moved;
  const bool rounds = noise && !onlyPicks(op);
  for (Value operand : op.getOperandSlots()) {
    operands.push_back(operand ? &values.find(operand)->second : nullptr);
    // A sum of terms that cancel is as far off as they are.
    if (operand && rounds && addsUp(op) && isF32(operand)) {
      moved.push_back(*operands.back());
      noise->move(moved.back());
      operands.back() = &moved.back();
    }
  }
  auto results = evaluateOperator(op, operands, context);
  if (failed(results))
    return failure();
  for (auto [value, computed] : llvm::zip(op->getResults(), *results)) {
    plan::ElementType type = tensorTypeOf(value.getType()).type;
    if (rounds && type == plan::ElementType::F32)
      noise->move(computed);
    // Kernels compute in double precision whatever they write.
    if (type == plan::ElementType::BF16 || type == plan::ElementType::F16)
      for (double &number : computed.data)
        number = narrowed(type, number);
    values[value] = std::move(computed);
  }
  return success();
}

LogicalResult Evaluation::run(Operation *op) {
  if (auto state = dyn_cast<StateOp>(op))
    return bind(state.getResult(), "state", state.getName(), states);
  if (auto store = dyn_cast<StoreOp>(op))
    result.states[store.getName().str()] = values.lookup(store.getValue());
  else if (auto output = dyn_cast<OutputOp>(op))
    result.outputs[output.getName().str()] = values.lookup(output.getValue());
  else if (auto computing = dyn_cast<PartitionableInterface>(op))
    return compute(computing);
  else if (!op->hasTrait<OpTrait::IsTerminator>())
    return op->emitOpError("expected an operator that can be evaluated");
  return success();
}

LogicalResult Evaluation::run(func::FuncOp main) {
  for (BlockArgument argument : main.getArguments()) {
    auto name =
        main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
    if (!name)
      return main.emitError("expected argument ")
             << argument.getArgNumber() << " to have the attribute '"
             << kNameAttr << "'";
    if (failed(bind(argument, "input", name.getValue(), inputs)))
      return failure();
  }
  result.states = states;
  for (Operation &op : main.getBody().front())
    if (failed(run(&op)))
      return failure();
  return success();
}

FailureOr<EvaluationResult> ff::evaluate(ModuleOp module,
                                         const TensorValues &inputs,
                                         const TensorValues &states,
                                         const ReferenceContext &context,
                                         Noise *noise) {
  func::FuncOp main = mainFunction(module);
  if (!main)
    return failure();
  Evaluation evaluation(inputs, states, context, noise);
  if (failed(evaluation.run(main)))
    return failure();
  return evaluation.take();
}
