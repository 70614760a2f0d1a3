//===- Broadcast.cpp - operators whose operands broadcast -----------------===//

#include "Broadcast.h"

#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

/// Nothing if the values do not broadcast to one shape.
static std::optional<SmallVector<int64_t>> commonShape(ValueRange values) {
  SmallVector<int64_t> shape;
  for (Value value : values) {
    auto type = cast<RankedTensorType>(value.getType());
    auto joined = broadcastShapes(shape, type.getShape());
    if (!joined)
      return std::nullopt;
    shape = *joined;
  }
  return shape;
}

RankedTensorType ff::broadcastType(ArrayRef<Value> values) {
  auto first = cast<RankedTensorType>(values.front().getType());
  return RankedTensorType::get(*commonShape(values), first.getElementType());
}

LogicalResult ff::verifyBroadcast(Operation *op) {
  if (failed(verifyTensors(op)))
    return failure();
  auto shape = commonShape(op->getOperands());
  if (!shape) {
    InFlightDiagnostic error = op->emitOpError(
        "expected operands that broadcast to one shape, found ");
    size_t last = op->getNumOperands() - 1;
    for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
      error << (i == 0 ? "" : i == last ? " and " : ", ") << type;
    return error;
  }
  auto type = cast<RankedTensorType>(op->getOperand(0).getType());
  return verifyResultType(op,
                          RankedTensorType::get(*shape, type.getElementType()));
}

plan::OpRules ff::broadcastRules(Operation *op, StringRef kernel,
                                 double flopsPerPoint) {
  plan::Shape shape = shapeOf(op->getResult(0));
  int operands = static_cast<int>(op->getNumOperands());
  int results = static_cast<int>(op->getNumResults());
  plan::OpRules rules;
  plan::Phase phase;
  phase.kernel = kernel.str();
  phase.flopsPerPoint = flopsPerPoint;
  // Without an operand to follow (outer products), results are row-major.
  plan::MemoryOrder order = plan::MemoryOrder::RowMajor;
  for (int slot = 0; slot < operands; ++slot) {
    plan::Shape operand = shapeOf(op->getOperand(slot));
    phase.reads.push_back({slot, broadcastAccess(operand, shape)});
    if (operand != shape)
      continue;
    order = plan::MemoryOrder::Follow;
    for (int result = 0; result < results; ++result)
      rules.mayOverwrite.push_back({result, slot});
  }
  for (int result = 0; result < results; ++result)
    phase.writes.push_back(
        {operands + result,
         identityAccess(static_cast<int>(shape.size()), order),
         plan::Reduction::None});
  rules.dims = dimsByRank(shape);
  rules.schedules.push_back({{}, {std::move(phase)}});
  return rules;
}
