//===- UpdateOp.cpp - ff.update and what it multiplies gradients by -------===//

#include "RuleHelpers.h"
#include "UpdateHelpers.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

using plan::Reduction;

/// Dimensions d0, d1, ...
static std::vector<plan::IterDim> dimsByNumber(const plan::Shape &shape,
                                               plan::DimKind kind) {
  std::vector<plan::IterDim> dims(shape.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    dims[d].name = "d" + std::to_string(d);
    dims[d].extent = shape[d];
    dims[d].kind = kind;
  }
  return dims;
}

//===----------------------------------------------------------------------===//
// Updates
//===----------------------------------------------------------------------===//

LogicalResult UpdateOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  if (failed(verifyOptimizer(*this))) // constraint 1
    return failure();
  // Constraint 2.
  auto type = cast<RankedTensorType>(getW().getType());
  auto expectType = [&](StringRef name, Value value,
                        Type expected) -> LogicalResult {
    if (value.getType() == expected)
      return success();
    return emitOpError("expected ")
           << name << " of type " << expected << ", found " << value.getType();
  };
  if (failed(expectType("g", getG(), type)) ||
      failed(expectType("w_out", getWOut(), type)))
    return failure();
  Type kept = type;
  if (!getSlots().empty() && type.getElementType().isF32())
    if (Type element = getElementTypeOrSelf(getSlots().front());
        element.isBF16())
      kept = type.clone(element);
  for (Value slot : getSlots())
    if (failed(expectType("slots", slot, kept)))
      return failure();
  for (Value slot : getSlotsOut())
    if (failed(expectType("slots_out", slot, kept)))
      return failure();
  // Constraint 3.
  const size_t results = 1 + getSlots().size();
  if (getNumResults() > results + 1)
    return emitOpError("expected ") << results << " or " << results + 1
                                    << " results, found " << getNumResults();
  if (Value rounded = getRounded();
      rounded && (!isNarrow(rounded) || wideType(rounded.getType()) != type))
    return emitOpError("expected the last result to be ")
           << type << " as bf16 or f16, found " << rounded.getType();
  return getScale() ? verifyUpdateScale(*this, getScale(), type) : success();
}

Value UpdateOp::getRounded() {
  return getOthers().size() > getSlots().size() ? getOthers().back() : Value();
}

LogicalResult ff::verifyUpdateScale(Operation *op, Value scale,
                                    RankedTensorType type) {
  auto one = RankedTensorType::get({}, type.getElementType()),
       two = RankedTensorType::get({2}, type.getElementType());
  if (scale.getType() == one || scale.getType() == two)
    return success();
  return op->emitOpError("expected scale of type ")
         << one << " or " << two << ", found " << scale.getType();
}

plan::Access ff::accessOfUpdateScale(Value scale) {
  plan::Access access;
  if (scale)
    access.dims.assign(shapeOf(scale).size(), plan::DimMap::full());
  return access;
}

SmallVector<Value> UpdateOp::getOperandSlots() {
  SmallVector<Value> slots = {getW(), getG(), getScale()};
  llvm::append_range(slots, getSlots());
  return slots;
}

SmallVector<Value> UpdateOp::getResultSlots() {
  SmallVector<Value> slots = {getWOut()};
  llvm::append_range(slots, getOthers());
  return slots;
}

plan::OpRules UpdateOp::getRules() {
  const OptimizerInfo &info = optimizerInfo(getKind());
  const plan::TensorType type = tensorTypeOf(getW().getType());
  const int slots = static_cast<int>(getSlots().size());
  enum { W, G, Scale, FirstSlot };
  const int wOut = FirstSlot + slots, rounded = wOut + 1 + slots,
            direction = rounded + (getRounded() ? 1 : 0), norms = direction + 1;
  const plan::Access access = identityAccess(
      static_cast<int>(type.shape.size()), plan::MemoryOrder::RowMajor);

  plan::OpRules rules;
  rules.dims = dimsByNumber(type.shape, plan::DimKind::Parameter);
  plan::Phase first;
  first.kernel = info.kernels.front();
  first.reads = {
      {W, access}, {G, access}, {Scale, accessOfUpdateScale(getScale())}};
  first.flopsPerPoint = info.flops;
  plan::SlotWrite step{wOut, access, Reduction::None};
  const bool isOne = info.kernels.size() == 1;
  if (isOne)
    first.writes.push_back(step);
  rules.inPlace = {{0, W}};
  for (int slot = 0; slot < slots; ++slot) {
    first.reads.push_back({FirstSlot + slot, access});
    first.writes.push_back({wOut + 1 + slot, access, Reduction::None});
    rules.inPlace.push_back({1 + slot, FirstSlot + slot});
  }
  auto writeRounded = [&](plan::Phase &last) {
    if (getRounded())
      last.writes.push_back({rounded, access, Reduction::None});
  };
  if (isOne) {
    writeRounded(first);
    rules.schedules = {{{}, {std::move(first)}}};
    return rules;
  }
  plan::Access both{{plan::DimMap::full()}, plan::MemoryOrder::RowMajor, {}};
  rules.internals = {type, {{2}, type.type}};
  first.writes.push_back({direction, access, Reduction::None});
  first.writes.push_back({norms, both, Reduction::Sum});
  plan::Phase second;
  second.kernel = info.kernels.back();
  second.reads = {{W, access}, {direction, access}, {norms, both}};
  second.writes = {step};
  writeRounded(second);
  second.flopsPerPoint = 2;
  rules.schedules = {{{}, {std::move(first), std::move(second)}}};
  return rules;
}

StringRef UpdateOp::getFamily() {
  return optimizerInfo(getKind()).kernels.back();
}

DictionaryAttr UpdateOp::getKernelArgs() {
  return optimizerOf(*this).kernelArgs(getContext(), /*ofRows=*/false);
}

//===----------------------------------------------------------------------===//
// Clipping
//===----------------------------------------------------------------------===//

LogicalResult SquareSumOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  auto type = cast<RankedTensorType>(getX().getType());
  return verifyResultType(
      *this, RankedTensorType::get({}, type.getElementType())); // constraint 1
}

plan::OpRules SquareSumOp::getRules() {
  plan::Shape shape = shapeOf(getX());
  plan::Phase phase;
  phase.kernel = "square_sum";
  phase.reads = {{0, identityAccess(static_cast<int>(shape.size()),
                                    plan::MemoryOrder::RowMajor)}};
  phase.writes = {{1, {}, Reduction::Sum}};
  phase.flopsPerPoint = 2;
  return onePhaseRules(dimsByNumber(shape, plan::DimKind::Reduction),
                       std::move(phase));
}

StringRef SquareSumOp::getFamily() { return "square_sum"; }

DictionaryAttr SquareSumOp::getKernelArgs() {
  return Builder(getContext()).getDictionaryAttr({});
}

LogicalResult ClipScaleOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  // Constraint 1.
  if (getSums().empty())
    return emitOpError("expected operands, found none");
  if (!shapeOf(getScale()).empty())
    return emitOpError("expected operands of rank 0, found ")
           << getScale().getType();
  if (getMaxNorm().convertToDouble() > 0) // constraint 2
    return success();
  return emitOpError("expected a positive max_norm, found ")
         << getMaxNorm().convertToDouble();
}

plan::OpRules ClipScaleOp::getRules() {
  plan::Phase phase;
  phase.kernel = "clip_scale";
  const int operands = static_cast<int>(getSums().size());
  for (int i = 0; i < operands; ++i)
    phase.reads.push_back({i, {}});
  phase.writes = {{operands, {}, Reduction::None}};
  phase.flopsPerPoint = operands + 20;
  return onePhaseRules({}, std::move(phase));
}

StringRef ClipScaleOp::getFamily() { return "clip_scale"; }

DictionaryAttr ClipScaleOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(
      builder.getNamedAttr("max_norm", getMaxNormAttr()));
}

//===----------------------------------------------------------------------===//
// Scaling of the loss
//===----------------------------------------------------------------------===//

LogicalResult LossScaleOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  // Constraint 1.
  if (getSums().empty())
    return emitOpError("expected sums, found none");
  const Type element = getElementTypeOrSelf(getScale());
  const Type one = RankedTensorType::get({}, element),
             two = RankedTensorType::get({2}, element);
  for (Value operand : getOperands())
    if (operand.getType() != one)
      return emitOpError("expected operands of type ")
             << one << ", found " << operand.getType();
  for (Value result : getResults())
    if (Type expected = result == getFactor() ? two : one;
        result.getType() != expected)
      return emitOpError("expected result ")
             << cast<OpResult>(result).getResultNumber() << " of type "
             << expected << ", found " << result.getType();
  // Constraint 2.
  const double least = getLeast().convertToDouble(),
               most = getMost().convertToDouble(),
               maxNorm = getMaxNorm().convertToDouble();
  if (static_cast<int64_t>(getInterval()) <= 0)
    return emitOpError("expected an interval over 0, found ")
           << static_cast<int64_t>(getInterval());
  if (!(least > 0 && least <= most))
    return emitOpError("expected 0 < least <= most, found ")
           << least << " and " << most;
  if (!(maxNorm >= 0))
    return emitOpError("expected a max_norm of at least 0, found ") << maxNorm;
  return success();
}

plan::OpRules LossScaleOp::getRules() {
  plan::Phase phase;
  phase.kernel = "loss_scale";
  const int operands = static_cast<int>(getNumOperands());
  for (int i = 0; i < operands; ++i)
    phase.reads.push_back({i, {}});
  phase.writes = {
      {operands, accessOfUpdateScale(getFactor()), Reduction::None}};
  for (int i = 1; i < 4; ++i)
    phase.writes.push_back({operands + i, {}, Reduction::None});
  phase.flopsPerPoint = operands + 20;
  plan::OpRules rules = onePhaseRules({}, std::move(phase));
  rules.inPlace = {{1, 0}, {2, 1}, {3, 2}};
  return rules;
}

StringRef LossScaleOp::getFamily() { return "loss_scale"; }

DictionaryAttr LossScaleOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("interval", getIntervalAttr()),
       builder.getNamedAttr("least", getLeastAttr()),
       builder.getNamedAttr("max_norm", getMaxNormAttr()),
       builder.getNamedAttr("most", getMostAttr())});
}
