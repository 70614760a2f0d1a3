//===- FuseCasts.cpp - operators round their own results ------------------===//

#include "Absorption.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_FUSECASTS
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

/// Can the operator that makes the operand write what `cast` makes of it?
static bool canRound(CastOp cast) {
  Value x = cast.getX();
  auto producer = x.getDefiningOp<NarrowingInterface>();
  if (!isNarrowing(cast) || !producer || !x.hasOneUse())
    return false;
  auto result = mlir::cast<OpResult>(x);
  return producer.canNarrow(result) && canTake(result, cast);
}

namespace {
struct FuseCasts : ffc::impl::FuseCastsBase<FuseCasts> {
  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    Block &block = main.front();
    Absorption absorption;
    for (CastOp cast : llvm::make_early_inc_range(block.getOps<CastOp>())) {
      if (!canRound(cast))
        continue;
      auto result = mlir::cast<OpResult>(cast.getX());
      result.setType(cast.getY().getType());
      absorption.take(cast, result);
    }
    absorption.moveOwners(block);
  }
};
} // namespace
