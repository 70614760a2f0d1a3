//===- RuleHelpers.cpp - what the operators' rules have in common ---------===//

#include "RuleHelpers.h"

#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

plan::Shape ff::shapeOf(Value value) {
  return tensorTypeOf(value.getType()).shape;
}

std::string ff::dimName(int d, int rank) {
  if (rank == 1)
    return "c";
  if (d < 2 || rank <= 4)
    return std::string(1, "nchw"[d]);
  return "d" + std::to_string(d);
}

std::vector<plan::IterDim> ff::dimsByRank(const plan::Shape &shape) {
  std::vector<plan::IterDim> dims(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    dims[d].name = dimName(static_cast<int>(d), static_cast<int>(shape.size()));
    dims[d].extent = shape[d];
    dims[d].kind =
        dims[d].name == "n" ? plan::DimKind::Sample : plan::DimKind::Attribute;
  }
  return dims;
}

plan::Access ff::identityAccess(int rank, plan::MemoryOrder order) {
  plan::Access access;
  for (int d = 0; d < rank; ++d)
    access.dims.push_back(plan::DimMap::dim(d));
  access.order = order;
  return access;
}

plan::Access ff::pitched(plan::Access access) {
  access.pitches = plan::Pitches::Any;
  return access;
}

plan::Access ff::broadcastAccess(const plan::Shape &operand,
                                 const plan::Shape &result) {
  plan::Access access;
  size_t missing = result.size() - operand.size();
  for (size_t d = 0; d < operand.size(); ++d)
    access.dims.push_back(operand[d] == result[d + missing]
                              ? plan::DimMap::dim(static_cast<int>(d + missing))
                              : plan::DimMap::full());
  access.order = operand == result ? plan::MemoryOrder::Follow
                                   : plan::MemoryOrder::RowMajor;
  return access;
}

plan::OpRules ff::onePhaseRules(std::vector<plan::IterDim> dims,
                                plan::Phase phase, std::vector<int> unsplit) {
  plan::OpRules rules;
  rules.dims = std::move(dims);
  rules.schedules.push_back({std::move(unsplit), {std::move(phase)}});
  return rules;
}

plan::OpRules ff::pointwiseRules(const plan::Shape &shape, int operands,
                                 StringRef kernel, double flopsPerPoint) {
  plan::Access access = identityAccess(static_cast<int>(shape.size()));
  plan::Phase phase;
  phase.kernel = kernel.str();
  for (int slot = 0; slot < operands; ++slot)
    phase.reads.push_back({slot, access});
  phase.writes.push_back({operands, access, plan::Reduction::None});
  phase.flopsPerPoint = flopsPerPoint;
  return onePhaseRules(dimsByRank(shape), std::move(phase));
}

plan::OpRules ff::elementwiseRules(const plan::Shape &shape, int operands,
                                   StringRef kernel, double flopsPerPoint) {
  plan::OpRules rules = pointwiseRules(shape, operands, kernel, flopsPerPoint);
  for (int slot = 0; slot < operands; ++slot)
    rules.mayOverwrite.push_back({0, slot});
  return rules;
}

Location ff::gradientLoc(Operation *op, const Twine &part) {
  std::string name = (nameOf(op) + ".backward").str();
  if (!part.isTriviallyEmpty())
    name += ("." + part).str();
  return NameLoc::get(StringAttr::get(op->getContext(), name));
}

void ff::carryThrough(Operation *made, int64_t ownerSlot, int64_t ownSlot) {
  made->setAttr(kCarryAttr, DenseI64ArrayAttr::get(made->getContext(),
                                                   {ownerSlot, ownSlot}));
}

Value ff::sumToShape(OpBuilder &builder, Operation *op, StringRef prefix,
                     Value grad, RankedTensorType target) {
  auto type = cast<RankedTensorType>(grad.getType());
  if (type == target)
    return grad;
  int64_t missing = type.getRank() - target.getRank();
  SmallVector<int64_t> axes;
  bool onlyMissing = true;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (d >= missing && target.getDimSize(d - missing) == type.getDimSize(d))
      continue;
    axes.push_back(d);
    onlyMissing &= d < missing;
  }
  // If the summed dimensions are just those that the target lacks, the sum has
  // the target's shape at once.
  bool keepdims = missing == 0 || !onlyMissing;
  auto sum = ReduceSumOp::create(builder, gradientLoc(op, prefix + "sum"),
                                 reducedType(type, axes, keepdims), grad, axes,
                                 keepdims);
  // The names of the sum's dimensions are those of positions, not of `op`.
  if (op->getResult(0).getType() == type)
    carryThrough(sum, cast<PartitionableInterface>(op).getOperandSlots().size(),
                 0);
  grad = sum;
  if (grad.getType() == target)
    return grad;
  return ReshapeOp::create(builder, gradientLoc(op, prefix + "reshape"), target,
                           grad);
}

bool ff::isGradient(Operation *op) { return hasRole(op, kGradientRole); }

LogicalResult ff::verifyTensors(Operation *op) {
  auto isGood = [](Type type) {
    auto tensor = cast<RankedTensorType>(type);
    return tensor.hasStaticShape() && tensor.getNumElements() > 0;
  };
  for (auto [i, type] : llvm::enumerate(op->getOperandTypes()))
    if (!isGood(type))
      return op->emitOpError("expected operand ")
             << i << " to have known extents over 0, found " << type;
  for (auto [i, type] : llvm::enumerate(op->getResultTypes()))
    if (!isGood(type))
      return op->emitOpError("expected result ")
             << i << " to have known extents over 0, found " << type;
  return success();
}

LogicalResult ff::verifyMultiplied(Operation *op, ValueRange operands,
                                   ValueRange others) {
  Type type = getElementTypeOrSelf(operands.front());
  for (Value operand : operands)
    if (Type found = getElementTypeOrSelf(operand); found != type)
      return op->emitOpError("expected operands of one element type, found ")
             << type << " and " << found;
  const bool isNarrow = type.getIntOrFloatBitWidth() == 16;
  Type sum = isNarrow ? Float32Type::get(op->getContext()) : type;
  for (Value other : others)
    if (Type found = getElementTypeOrSelf(other); found != sum)
      return op->emitOpError("expected ")
             << sum << " beside operands of " << type << ", found " << found;
  return success();
}

bool ff::isNarrow(Value value) {
  return isa<BFloat16Type, Float16Type>(getElementTypeOrSelf(value));
}

RankedTensorType ff::wideType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return isa<BFloat16Type, Float16Type>(tensor.getElementType())
             ? tensor.clone(Float32Type::get(type.getContext()))
             : tensor;
}

LogicalResult ff::verifyNarrowable(Operation *op, StringRef name, Value operand,
                                   RankedTensorType expected) {
  if (!operand || wideType(operand.getType()) == expected)
    return success();
  return op->emitOpError("expected ")
         << name << " of type " << expected << ", found " << operand.getType();
}

LogicalResult ff::verifyAxes(Operation *op, ArrayRef<int64_t> axes,
                             int64_t rank, StringRef name) {
  bool ascending = !axes.empty();
  for (size_t i = 0; i < axes.size(); ++i)
    ascending &=
        axes[i] >= 0 && axes[i] < rank && (i == 0 || axes[i - 1] < axes[i]);
  if (ascending)
    return success();
  return op->emitOpError("expected ")
         << name << " in ascending order within a tensor of rank " << rank
         << ", found [" << axes << "]";
}

LogicalResult ff::verifyResultType(Operation *op, RankedTensorType expected,
                                   unsigned index) {
  Type found = op->getResult(index).getType();
  if (found == expected)
    return success();
  return op->emitOpError("expected result type ")
         << expected << ", found " << found;
}

LogicalResult ff::verifyNarrowedType(NarrowingInterface op,
                                     RankedTensorType expected,
                                     unsigned index) {
  OpResult result = op->getResult(index);
  Type element = getElementTypeOrSelf(result.getType());
  if (op.canNarrow(result) && isNarrow(result) &&
      expected.getElementType().isF32())
    expected = expected.clone(element);
  return verifyResultType(op, expected, index);
}
