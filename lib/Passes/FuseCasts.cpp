//===- FuseCasts.cpp - operators round their own results ------------------===//

#include "Aliases.h"
#include "TilesAgree.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

#include "llvm/ADT/StringMap.h"

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
    llvm::StringMap<OpResult> results;
    for (CastOp cast : llvm::make_early_inc_range(block.getOps<CastOp>())) {
      NarrowingInterface producer = findProducer(cast, early);
      if (!producer)
        continue;
      addAliases(producer, cast);
      results[nameOf(cast)] = mlir::cast<OpResult>(cast.getX());
      cast.getX().setType(cast.getY().getType());
      cast.getY().replaceAllUsesWith(cast.getX());
      cast.erase();
    }
    // Whatever operators shared with the cast, it had the layout of its
    // operand.
    moveOwners(block, [&](StringRef name, int64_t) -> Heir {
      OpResult result = results.lookup(name);
      return result ? Heir{result.getOwner(), slotOf(result)} : Heir();
    });
  }
};
} // namespace
