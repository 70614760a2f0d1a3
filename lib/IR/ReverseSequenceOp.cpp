//===- ReverseSequenceOp.cpp - ff.reverse_sequence ------------------------===//

#include "RuleHelpers.h"
#include "Windows.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

LogicalResult ReverseSequenceOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  // Constraint 1.
  const plan::Shape shape = shapeOf(getX());
  const int64_t rank = static_cast<int64_t>(shape.size()),
                batch = static_cast<int64_t>(getBatchAxis()),
                time = static_cast<int64_t>(getTimeAxis());
  if (batch < 0 || batch >= rank || time < 0 || time >= rank || batch == time)
    return emitOpError("expected batch_axis and time_axis to be two dimensions "
                       "of a tensor of rank ")
           << rank << ", found " << batch << " and " << time;
  // Constraint 2; constraint 3 is a trait.
  return verifyShape(*this, "lengths", {shape[batch]}, getLengths());
}

plan::OpRules ReverseSequenceOp::getRules() {
  const plan::Shape shape = shapeOf(getX());
  const plan::Access own = identityAccess(static_cast<int>(shape.size()),
                                          plan::MemoryOrder::RowMajor);
  plan::Access lengths;
  lengths.dims = {plan::DimMap::dim(static_cast<int>(getBatchAxis()))};
  plan::Phase phase;
  phase.kernel = "reverse_sequence";
  phase.reads = {{0, own}, {1, lengths}};
  phase.writes = {{2, own, plan::Reduction::None}};
  phase.flopsPerPoint = 0;
  return onePhaseRules(dimsByRank(shape), std::move(phase),
                       {static_cast<int>(getTimeAxis())});
}

StringRef ReverseSequenceOp::getFamily() { return "reverse_sequence"; }

DictionaryAttr ReverseSequenceOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("batch_axis", getBatchAxisAttr()),
       builder.getNamedAttr("time_axis", getTimeAxisAttr())});
}

LogicalResult ReverseSequenceOp::buildGradient(
    OpBuilder &builder, ArrayRef<Value> resultGrads, ArrayRef<bool> needed,
    SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(2, nullptr);
  if (Value dy = resultGrads[0]; dy && needed[0])
    operandGrads[0] = ReverseSequenceOp::create(
        builder, gradientLoc(*this), dy.getType(), dy, getLengths(),
        getBatchAxisAttr(), getTimeAxisAttr());
  return success();
}
