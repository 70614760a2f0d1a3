//===- FuseCuts.cpp - gradients leave out what was cut --------------------===//

#include "Absorption.h"
#include "Aliases.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_FUSECUTS
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

namespace {
/// The gradient of a function that cuts its operand to bounds.
struct CutGradient {
  Operation *op = nullptr; ///< null: none
  Value dy, saved;         ///< which may be narrow, and widened by it
  DenseF64ArrayAttr bounds;

  explicit CutGradient(Operation *found) {
    auto fused = dyn_cast_or_null<FusedOp>(found);
    Block *body = fused ? &fused.getBody().front() : nullptr;
    auto gradient =
        body ? dyn_cast<UnaryBackwardOp>(body->getTerminator()->getPrevNode())
             : dyn_cast_or_null<UnaryBackwardOp>(found);
    if (!gradient || found->getNumResults() != 1 || !gradient.asClamp())
      return;
    dy = operandBehind(found, gradient.getDy());
    saved = operandBehind(found, gradient.getSaved());
    bounds = gradient.asClamp();
    if (dy && saved)
      op = found;
  }
};
} // namespace

/// `value`, or what it is narrowed from.
static Value widened(Value value) {
  auto cast = value.getDefiningOp<CastOp>();
  return cast && getElementTypeOrSelf(value).getIntOrFloatBitWidth() <
                     getElementTypeOrSelf(cast.getX()).getIntOrFloatBitWidth()
             ? cast.getX()
             : value;
}

/// The normalisation that cut `saved`, if its gradient is `gradient` and can
/// compute again what was cut.
static NormalizeOp cutterOf(const CutGradient &cut,
                            NormalizeBackwardOp gradient) {
  auto norm = widened(cut.saved).getDefiningOp<NormalizeOp>();
  if (!norm || norm.getAddend() || norm.getClampAttr() != cut.bounds ||
      norm.getX() != gradient.getX() || norm.getMean() != gradient.getMean() ||
      norm.getVar() != gradient.getVar() ||
      norm.getScale() != gradient.getScale() ||
      norm.getEpsilonAttr() != gradient.getEpsilonAttr() ||
      norm.getParamDimsAttr() != gradient.getParamDimsAttr())
    return nullptr;
  // What was rounded to an upper bound looks as if it had been cut.
  const bool isNarrow =
      getElementTypeOrSelf(cut.saved) != getElementTypeOrSelf(norm.getMean());
  if (isNarrow && cut.bounds.asArrayRef() != ArrayRef<double>(0.0))
    return nullptr;
  for (int64_t d : norm.getParamDims())
    if (llvm::is_contained(norm.getAxes(), d))
      return nullptr;
  return norm;
}

static void fuseCut(NormalizeBackwardOp gradient) {
  // Between the two, there may be the rounding of what has no more digits.
  Operation *between = gradient.getDy().getDefiningOp<CastOp>();
  Value slopes = widened(gradient.getDy());
  if (slopes == gradient.getDy())
    between = nullptr;
  const CutGradient cut(slopes.getDefiningOp());
  if (!cut.op || gradient.getClampAttr() || !slopes.hasOneUse() ||
      !gradient.getDy().hasOneUse() ||
      cut.dy.getType() != gradient.getDy().getType())
    return;
  NormalizeOp norm = cutterOf(cut, gradient);
  if (!norm)
    return;
  gradient.getDyMutable().assign(cut.dy);
  if (Value bias = norm.getBias())
    gradient.getBiasMutable().assign(bias);
  gradient.setClampAttr(cut.bounds);
  for (Operation *part : {between, cut.op})
    if (part) {
      addAliases(gradient, part);
      part->erase();
    }
}

namespace {
struct FuseCuts : ffc::impl::FuseCutsBase<FuseCuts> {
  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    for (auto gradient : main.front().getOps<NormalizeBackwardOp>())
      fuseCut(gradient);
  }
};
} // namespace
