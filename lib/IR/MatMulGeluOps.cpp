//===- MatMulGeluOps.cpp - products with GELU, and its gradient -----------===//

#include "MatMulSpace.h"
#include "RuleHelpers.h"
#include "Windows.h"
#include "ffc/IR/UnaryTable.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

using plan::DimMap;

/// The space of the product whose result is `sum`.
template <class Op> static MatMulSpace spaceOf(Op op, Value sum) {
  return MatMulSpace(op.getA(), op.getB(), sum, op.getTransA() != 0,
                     op.getDimNamesAttr());
}

/// Operands and results have one element type (constraints 4 and 3).
static LogicalResult verifyOneType(Operation *op) {
  Type type = getElementTypeOrSelf(op->getOperand(0));
  SmallVector<Value> all(op->getOperands());
  llvm::append_range(all, op->getResults());
  for (Value value : all)
    if (Type found = getElementTypeOrSelf(value); found != type)
      return op->emitOpError("expected operands and results of ")
             << type << ", as a is, found " << found;
  return success();
}

/// Constraint 1: op(a) op(b) is `sum`, of one matrix for each of the batch.
template <class Op> static LogicalResult verifySum(Op op, Value sum) {
  if (failed(verifyProduct(op, op.getA(), op.getB(), sum, op.getTransA() != 0,
                           op.getTransB() != 0, op.getDimNamesAttr())))
    return failure();
  MatMulSpace space = spaceOf(op, sum);
  if (space.reductions(sum).size() != 1)
    return op.emitOpError("expected a result with batch dimensions [")
           << space.batch << "], found " << sum.getType();
  return success();
}

/// Without what is read or written beside op(a) op(b): the rest lies as `sum`.
template <class Op>
static plan::Phase productPhase(Op op, const MatMulSpace &space,
                                StringRef kernel) {
  plan::Phase phase;
  phase.kernel = kernel.str();
  phase.reads = {{0, space.matrices(op.getA(), space.rows(), space.contracted(),
                                    op.getTransA() != 0)},
                 {1, space.matrices(op.getB(), space.contracted(),
                                    space.columns(), op.getTransB() != 0)}};
  return phase;
}

/// The rules; the function takes `flops` for each sum.
static plan::OpRules rulesOf(const MatMulSpace &space, plan::Phase phase,
                             double flops) {
  const std::vector<int> reductions = {space.contracted()};
  phase.flopsPerPoint = 2 + flops / static_cast<double>(space.depth);
  // The function of parts is not that of the sum.
  return onePhaseRules(space.dims(reductions), std::move(phase), reductions);
}

template <class Op> static DictionaryAttr transpositions(Op op) {
  Builder builder(op.getContext());
  return builder.getDictionaryAttr(
      {builder.getNamedAttr("trans_a", op.getTransAAttr()),
       builder.getNamedAttr("trans_b", op.getTransBAttr())});
}

//===----------------------------------------------------------------------===//
// MatMulGeluOp
//===----------------------------------------------------------------------===//

LogicalResult MatMulGeluOp::verify() {
  // Constraints 1 and 4.
  if (failed(verifyTensors(*this)) || failed(verifyOneType(*this)) ||
      failed(verifySum(*this, getZ())))
    return failure();
  if (getC() && !isRow(getC(), getZ())) // constraint 2
    return emitOpError("expected a row of ")
           << shapeOf(getZ()).back() << " as c, found " << getC().getType();
  return verifyShape(*this, "y", shapeOf(getZ()), getY()); // constraint 3
}

SmallVector<Value> MatMulGeluOp::getOperandSlots() {
  return {getA(), getB(), getC()};
}

SmallVector<OpOperand *> MatMulGeluOp::getMultipliedOperands() {
  return {&getAMutable(), &getBMutable()};
}

plan::OpRules MatMulGeluOp::getRules() {
  MatMulSpace space = spaceOf(*this, getZ());
  plan::Phase phase = productPhase(*this, space, "mat_mul_gelu");
  plan::Access row;
  if (getC()) {
    row.dims.assign(shapeOf(getC()).size(), DimMap::full());
    row.dims.back() = DimMap::dim(space.columns());
  }
  phase.reads.push_back({2, std::move(row)});
  plan::Access sum = space.matrices(getZ(), space.rows(), space.columns());
  phase.writes = {{3, sum, plan::Reduction::None},
                  {4, sum, plan::Reduction::None}};
  plan::OpRules rules = rulesOf(
      space, std::move(phase), unaryFunction(UnaryKind::GeluTanh).forwardFlops);
  rules.optionalResults = {0};
  return rules;
}

StringRef MatMulGeluOp::getFamily() { return "linear"; }

DictionaryAttr MatMulGeluOp::getKernelArgs() { return transpositions(*this); }

//===----------------------------------------------------------------------===//
// MatMulGeluBackwardOp
//===----------------------------------------------------------------------===//

LogicalResult MatMulGeluBackwardOp::verify() {
  // Constraints 1 and 3.
  if (failed(verifyTensors(*this)) || failed(verifyOneType(*this)) ||
      failed(verifySum(*this, getDz())))
    return failure();
  return verifyShape(*this, "z", shapeOf(getDz()), getZ()); // constraint 2
}

SmallVector<OpOperand *> MatMulGeluBackwardOp::getMultipliedOperands() {
  return {&getAMutable(), &getBMutable()};
}

plan::OpRules MatMulGeluBackwardOp::getRules() {
  MatMulSpace space = spaceOf(*this, getDz());
  plan::Phase phase = productPhase(*this, space, "mat_mul_gelu_backward");
  plan::Access sum = space.matrices(getDz(), space.rows(), space.columns());
  phase.reads.push_back({2, sum});
  phase.writes = {{3, sum, plan::Reduction::None}};
  return rulesOf(space, std::move(phase),
                 unaryFunction(UnaryKind::GeluTanh).backwardFlops);
}

StringRef MatMulGeluBackwardOp::getFamily() { return "linear"; }

DictionaryAttr MatMulGeluBackwardOp::getKernelArgs() {
  return transpositions(*this);
}
