//===- ReshapeOp.cpp - ff.reshape -----------------------------------------===//

#include "ReshapeSpace.h"
#include "RuleHelpers.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

LogicalResult ReshapeOp::verify() {
  if (failed(verifyTensors(*this)))
    return failure();
  int64_t from = plan::numElements(shapeOf(getX()));
  int64_t to = plan::numElements(shapeOf(getY()));
  if (from != to) // constraint 1
    return emitOpError("expected a result of ")
           << from << " elements, found " << getY().getType() << " of " << to;
  return success();
}

/// Names of the factors: after the dimension of the tensor of higher rank that
/// a factor leads (the forward operand if ranks are equal); other factors get
/// numbers. The batch is only n if it leads both tensors.
static std::string factorName(const ReshapeSpace &space, size_t i,
                              bool gradient) {
  const ReshapeSpace::Factor &factor = space.factors[i];
  size_t rankX = space.x.size(), rankY = space.y.size();
  size_t forwardRank = gradient ? rankY : rankX;
  bool byX = rankX == rankY ? !gradient : rankX > rankY;
  int leads = byX ? factor.leadsX : factor.leadsY;
  int rank = static_cast<int>(byX ? rankX : rankY);
  if (factor.leadsX == 0 && factor.leadsY == 0)
    return forwardRank == 1 ? "c" : "n";
  if (leads == 1 || (leads > 1 && rank <= 4))
    // The first one of a vector is c already.
    if (std::string name = dimName(leads, rank);
        i == 0 || forwardRank != 1 || name != "c")
      return name;
  return "d" + std::to_string(i);
}

plan::OpRules ReshapeOp::getRules() {
  ReshapeSpace space = reshapeSpace(shapeOf(getX()), shapeOf(getY()));
  std::vector<plan::IterDim> dims(space.factors.size());
  std::vector<int> unsplit;
  for (size_t i = 0; i < dims.size(); ++i) {
    dims[i].name = factorName(space, i, isGradient(*this));
    dims[i].extent = space.factors[i].extent;
    dims[i].kind =
        dims[i].name == "n" ? plan::DimKind::Sample : plan::DimKind::Attribute;
    if (!space.factors[i].splittable)
      unsplit.push_back(static_cast<int>(i));
  }
  plan::Phase phase;
  phase.kernel = "reshape";
  plan::Access x{space.x, plan::MemoryOrder::RowMajor, {}},
      y{space.y, plan::MemoryOrder::RowMajor, {}};
  // Rows that stay whole stay where they are.
  if (x.dims.size() > 1 && y.dims.size() > 1 &&
      shapeOf(getX()).back() == shapeOf(getY()).back() &&
      x.dims.back().dims == y.dims.back().dims)
    x.pitches = y.pitches = plan::Pitches::Same;
  phase.reads = {{0, std::move(x), plan::kTouchesNothing}};
  phase.writes = {
      {1, std::move(y), plan::Reduction::None, plan::kTouchesNothing}};
  phase.flopsPerPoint = 0;
  phase.parts = 0;
  plan::OpRules rules =
      onePhaseRules(std::move(dims), std::move(phase), std::move(unsplit));
  rules.keepsBytes = true;
  return rules;
}

StringRef ReshapeOp::getFamily() { return "flat"; }

DictionaryAttr ReshapeOp::getKernelArgs() {
  return Builder(getContext()).getDictionaryAttr({});
}

LogicalResult ReshapeOp::buildGradient(OpBuilder &builder,
                                       ArrayRef<Value> resultGrads,
                                       ArrayRef<bool> needed,
                                       SmallVectorImpl<Value> &operandGrads) {
  operandGrads.assign(1, nullptr);
  if (Value dy = resultGrads[0]; dy && needed[0])
    operandGrads[0] =
        ReshapeOp::create(builder, gradientLoc(*this), getX().getType(), dy);
  return success();
}
