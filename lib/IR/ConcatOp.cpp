//===- ConcatOp.cpp - ff.concat -------------------------------------------===//

#include "RuleHelpers.h"
#include "ffc/IR/ShapeInference.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

LogicalResult ConcatOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  auto first = cast<RankedTensorType>(getInputs().front().getType());
  int64_t axis = getAxis();
  if (axis < 0 || axis >= first.getRank()) // constraint 1
    return emitOpError("expected axis within a tensor of rank ")
           << first.getRank() << ", found " << axis;
  for (auto [i, type] : llvm::enumerate(getInputs().getTypes())) {
    auto input = cast<RankedTensorType>(type);
    bool fits = input.getRank() == first.getRank();
    for (int64_t d = 0; fits && d < first.getRank(); ++d)
      fits = d == axis || input.getDimSize(d) == first.getDimSize(d);
    if (!fits) // constraint 2
      return emitOpError("expected operand ")
             << i << " to be like " << first << " outside dimension " << axis
             << ", found " << input;
  }
  // Constraint 3.
  return verifyResultType(*this,
                          concatenatedType(getInputs().getTypes(), axis));
}

plan::OpRules ConcatOp::getRules() {
  plan::Shape shape = shapeOf(getY());
  int axis = static_cast<int>(getAxis());
  plan::Access whole = identityAccess(static_cast<int>(shape.size()));
  plan::Phase phase;
  phase.kernel = "concat";
  int64_t offset = 0;
  int slot = 0;
  for (Value input : getInputs()) {
    plan::Access part = whole;
    part.dims[axis] = plan::DimMap::window(axis, 1, 1, offset);
    phase.reads.push_back({slot++, part});
    offset += shapeOf(input)[axis];
  }
  phase.writes = {{slot, whole, plan::Reduction::None}};
  phase.flopsPerPoint = 0;
  return onePhaseRules(dimsByRank(shape), std::move(phase));
}

StringRef ConcatOp::getFamily() { return "concat"; }

DictionaryAttr ConcatOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(builder.getNamedAttr("axis", getAxisAttr()));
}

LogicalResult ConcatOp::buildGradient(OpBuilder &builder,
                                      ArrayRef<Value> resultGrads,
                                      ArrayRef<bool> needed,
                                      SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(getInputs().size(), nullptr);
  Value dy = resultGrads[0];
  if (!dy)
    return success();
  SmallVector<int64_t> starts(shapeOf(getY()).size(), 0);
  for (auto [i, input] : llvm::enumerate(getInputs())) {
    if (needed[i])
      operandGrads[i] = SliceOp::create(builder, gradientLoc(*this, Twine(i)),
                                        input.getType(), dy, starts);
    starts[getAxis()] += shapeOf(input)[getAxis()];
  }
  return success();
}
