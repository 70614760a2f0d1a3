//===- MatMulSumsOp.cpp - ff.matmul_sums ----------------------------------===//

#include "MatMulSpace.h"
#include "RuleHelpers.h"
#include "Windows.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

using plan::DimMap;

LogicalResult MatMulSumsOp::verify() {
  // Constraints 1 and 4.
  if (failed(verifyTensors(*this)) ||
      failed(verifyMultiplied(*this, {getA(), getB()}, {getY(), getSums()})) ||
      failed(verifyProduct(*this, getA(), getB(), getY(), getTransA() != 0,
                           getTransB() != 0, getDimNamesAttr())))
    return failure();
  int64_t rank = cast<RankedTensorType>(getY().getType()).getRank();
  if (rank != 2) // constraint 1
    return emitOpError("expected y of rank 2, found rank ") << rank;
  // Constraint 2.
  if (getSumsOf() > 1)
    return emitOpError("expected sums_of 0 or 1, found ") << getSumsOf();
  if (getTransA() == 0 && sumsA())
    return emitOpError("expected a transposed where it is summed");
  if (getTransB() != 0 && !sumsA())
    return emitOpError("expected b not transposed where it is summed");
  plan::Shape shape = shapeOf(getSummed());
  plan::Shape batch(shape.begin(), shape.end() - 2);
  plan::Shape expected = MatMulSpace(*this).batch;
  if (batch != expected)
    return emitOpError("expected batch dimensions [")
           << expected << "] where it is summed, found [" << batch << "]";
  // Constraint 3.
  return verifyShape(*this, "sums", {shape.back()}, getSums());
}

SmallVector<OpOperand *> MatMulSumsOp::getMultipliedOperands() {
  return {&getAMutable(), &getBMutable()};
}

plan::OpRules MatMulSumsOp::getRules() {
  MatMulSpace space(*this);
  const int rows = space.rows(), columns = space.columns(),
            contracted = space.contracted();
  // Sums are those of one dimension of y; blocks of the other all compute them.
  const int kept = sumsA() ? rows : columns, other = sumsA() ? columns : rows;
  plan::Phase phase;
  phase.kernel = "mat_mul_sums";
  phase.reads = {
      {0, pitched(space.matrices(getA(), rows, contracted, getTransA() != 0))},
      {1,
       pitched(space.matrices(getB(), contracted, columns, getTransB() != 0))}};
  plan::Access sums;
  sums.dims = {DimMap::dim(kept)};
  phase.writes = {
      {2, space.matrices(getY(), rows, columns), plan::Reduction::Sum},
      {3, std::move(sums), plan::Reduction::Sum, 0, {other}}};
  phase.writes[0].mayAccumulate = true;
  phase.flopsPerPoint = 2 + 1 / static_cast<double>(space.extent(other));
  return onePhaseRules(space.dims(space.reductions(getY())), std::move(phase));
}

StringRef MatMulSumsOp::getFamily() { return "linear"; }

DictionaryAttr MatMulSumsOp::getKernelArgs() {
  Builder builder(getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("alpha", getAlphaAttr()),
       builder.getNamedAttr("sums_of", getSumsOfAttr()),
       builder.getNamedAttr("trans_a", getTransAAttr()),
       builder.getNamedAttr("trans_b", getTransBAttr())});
}
