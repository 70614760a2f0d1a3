//===- LrnOp.cpp - ff.lrn and its gradient --------------------------------===//

#include "RuleHelpers.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

/// Operands before slot `operands`, results from there on, all of `shape`.
/// Operands are read over windows of channels that begin `below` channels
/// before the one computed.
static plan::OpRules lrnRules(StringRef kernel, const plan::Shape &shape,
                              int operands, int results, int64_t size,
                              int64_t below, double flopsPerPoint) {
  int rank = static_cast<int>(shape.size());
  plan::MemoryOrder order =
      rank == 4 ? plan::MemoryOrder::ChannelsLast : plan::MemoryOrder::RowMajor;
  plan::Access write = identityAccess(rank, order), read = write;
  read.dims[1] = plan::DimMap::window(1, 1, size, below);
  plan::Phase phase;
  phase.kernel = kernel.str();
  for (int slot = 0; slot < operands; ++slot)
    phase.reads.push_back({slot, read});
  for (int result = 0; result < results; ++result)
    phase.writes.push_back({operands + result, write, plan::Reduction::None});
  phase.flopsPerPoint = flopsPerPoint;
  return onePhaseRules(dimsByRank(shape), std::move(phase));
}

template <class Op> static DictionaryAttr lrnArgs(Op op) {
  Builder builder(op.getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("alpha", op.getAlphaAttr()),
       builder.getNamedAttr("beta", op.getBetaAttr()),
       builder.getNamedAttr("bias", op.getBiasAttr()),
       builder.getNamedAttr("size", op.getSizeAttr())});
}

static LogicalResult verifyLrn(Operation *op, int64_t size) {
  if (failed(verifyTensors(op)))
    return failure();
  // Constraint 1; the types are the same by a trait.
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  if (type.getRank() < 2)
    return op->emitOpError("expected x of rank 2 or more, found ") << type;
  if (size < 1) // constraint 2
    return op->emitOpError("expected a positive size, found ") << size;
  return success();
}

LogicalResult LrnOp::verify() { return verifyLrn(*this, getSize()); }

plan::OpRules LrnOp::getRules() {
  int64_t size = getSize();
  // Besides the sum of squares: a power, which costs about ten operations.
  plan::OpRules rules =
      lrnRules("lrn_forward", shapeOf(getX()), 1, 2, size, (size - 1) / 2,
               static_cast<double>(2 * size + 13));
  rules.optionalResults = {1};
  return rules;
}

StringRef LrnOp::getFamily() { return "lrn"; }

DictionaryAttr LrnOp::getKernelArgs() { return lrnArgs(*this); }

LogicalResult LrnOp::buildGradient(OpBuilder &builder,
                                   ArrayRef<Value> resultGrads,
                                   ArrayRef<bool> needed,
                                   SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  if (Value dy = resultGrads[0]; dy && needed[0])
    operandGrads[0] = LrnBackwardOp::create(
        builder, gradientLoc(*this), getX().getType(), dy, getX(), getScale(),
        getAlphaAttr(), getBetaAttr(), getBiasAttr(), getSizeAttr());
  return success();
}

LogicalResult LrnBackwardOp::verify() { return verifyLrn(*this, getSize()); }

plan::OpRules LrnBackwardOp::getRules() {
  // The windows that contain a channel are those of the mirrored window.
  int64_t size = getSize();
  return lrnRules("lrn_backward", shapeOf(getDy()), 3, 1, size, size / 2,
                  static_cast<double>(size + 16));
}

StringRef LrnBackwardOp::getFamily() { return "lrn_backward"; }

DictionaryAttr LrnBackwardOp::getKernelArgs() { return lrnArgs(*this); }
