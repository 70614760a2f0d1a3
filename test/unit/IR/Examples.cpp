//===- Examples.cpp - example operators with values -----------------------===//

#include "Examples.h"

#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"

#include <cmath>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;
using namespace ffc::ff::testing;

std::string testing::describe(Operation *op) {
  auto func = op->getParentOfType<func::FuncOp>();
  return (op->getName().getStringRef() + " in @" + func.getName()).str();
}

Examples::Examples() {
  scalars.weightDecay = 0.1;
  scalars.clipValue = 0.4;
  mlirContext.loadDialect<func::FuncDialect, FFDialect>();
  module = parseSourceFile<ModuleOp>(FFC_OP_EXAMPLES, &mlirContext);
  if (!module)
    return;
  for (auto func : module->getOps<func::FuncOp>())
    if (failed(build(func)))
      return;
  good = succeeded(verify(*module));
}

TensorValue Examples::randomValue(Type type) {
  plan::TensorType tensor = tensorTypeOf(type);
  bool isReal = tensor.type == plan::ElementType::F32 ||
                tensor.type == plan::ElementType::F64;
  TensorValue value{tensor.shape, {}};
  for (int64_t i = 0; i < plan::numElements(tensor.shape); ++i)
    value.data.push_back(isReal ? random() / 0x1p31 - 1.0 : random() % 3);
  return value;
}

LogicalResult Examples::build(func::FuncOp func) {
  // Examples that are added elsewhere change no values here.
  const std::string own = func.getName().str();
  std::seed_seq seed(own.begin(), own.end());
  random.seed(seed);
  for (BlockArgument argument : func.getArguments()) {
    TensorValue &value = values[argument] = randomValue(argument.getType());
    auto name =
        func.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
    if (name && name.getValue() == "sparse")
      for (double &element : value.data)
        element = std::max(element, 0.0);
    if (name && name.getValue() == "infinite")
      value.data.assign(value.data.size(), HUGE_VAL);
  }
  for (auto op : llvm::to_vector(func.getOps<DifferentiableInterface>()))
    if (failed(buildGradient(func, op)))
      return failure();
  for (auto op : func.getOps<PartitionableInterface>()) {
    auto results = evaluateOperator(op, operandsOf(op), scalars);
    if (failed(results))
      return failure();
    for (auto [value, computed] : llvm::zip(op->getResults(), *results))
      values[value] = std::move(computed);
  }
  return success();
}

LogicalResult Examples::buildGradient(func::FuncOp func,
                                      DifferentiableInterface op) {
  ExampleGradient gradient;
  gradient.op = cast<PartitionableInterface>(op.getOperation());
  Type type = op->getResult(0).getType();
  unsigned number = func.getNumArguments();
  if (failed(func.insertArgument(number, type, {}, op->getLoc())))
    return failure();
  gradient.resultGrad = func.getArgument(number);
  values[gradient.resultGrad] = randomValue(type);

  SmallVector<Value> resultGrads(op->getNumResults());
  resultGrads[0] = gradient.resultGrad;
  for (Value operand : gradient.op.getOperandSlots()) {
    auto argument = dyn_cast_or_null<BlockArgument>(operand);
    bool isTarget =
        argument && func.getArgAttr(argument.getArgNumber(), kNameAttr);
    gradient.needed.push_back(operand && !isTarget &&
                              isa<FloatType>(getElementTypeOrSelf(operand)));
  }
  // Names are those of the ONNX nodes in a model.
  op->setLoc(NameLoc::get(StringAttr::get(&mlirContext, "node")));
  Operation *terminator = func.getBody().front().getTerminator();
  Operation *last = terminator->getPrevNode();
  OpBuilder builder(terminator);
  if (failed(op.buildGradient(builder, resultGrads, gradient.needed,
                              gradient.operandGrads)))
    return failure();
  for (Operation *made = last->getNextNode(); made != terminator;
       made = made->getNextNode()) {
    made->setAttr(kRoleAttr, builder.getStringAttr("gradient"));
    gradient.made.push_back(made);
  }
  grads.push_back(std::move(gradient));
  return success();
}

std::vector<PartitionableInterface> Examples::operators() {
  std::vector<PartitionableInterface> result;
  // Those in the body of another one are examples as part of it.
  for (auto func : module->getOps<func::FuncOp>())
    for (auto op : func.getOps<PartitionableInterface>())
      result.push_back(op);
  return result;
}

std::vector<const TensorValue *>
Examples::operandsOf(PartitionableInterface op) const {
  std::vector<const TensorValue *> operands;
  for (Value operand : op.getOperandSlots())
    operands.push_back(operand ? &valueOf(operand) : nullptr);
  return operands;
}
