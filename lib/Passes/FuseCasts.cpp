//===- FuseCasts.cpp - operators round their own results ------------------===//

#include "Absorption.h"
#include "TilesAgree.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_FUSECASTS
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

/// The operator that can write what `cast` makes of its result, or null.
static NarrowingInterface findProducer(CastOp cast, bool early) {
  Value x = cast.getX();
  auto producer = x.getDefiningOp<NarrowingInterface>();
  if (!isNarrowing(cast) || !producer ||
      !producer.canNarrow(mlir::cast<OpResult>(x)) || !x.hasOneUse() ||
      (!early && producer.narrowsLate() && !producer->hasAttr(kConfigAttr)) ||
      producer->getAttr(kRoleAttr) != cast->getAttr(kRoleAttr) ||
      !tilesAgree(mlir::cast<PartitionableInterface>(producer.getOperation()),
                  mlir::cast<OpResult>(x), cast))
    return nullptr;
  return producer;
}

namespace {
struct FuseCasts : ffc::impl::FuseCastsBase<FuseCasts> {
  using FuseCastsBase::FuseCastsBase;

  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    Block &block = main.front();
    Absorption absorption;
    for (CastOp cast : llvm::make_early_inc_range(block.getOps<CastOp>())) {
      if (!findProducer(cast, early))
        continue;
      auto result = mlir::cast<OpResult>(cast.getX());
      result.setType(cast.getY().getType());
      absorption.take(cast, result);
    }
    absorption.moveOwners(block);
  }
};
} // namespace
