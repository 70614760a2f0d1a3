//===- FuseActivations.cpp - operators clamp their own results ------------===//

#include "Aliases.h"
#include "TilesAgree.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_FUSEACTIVATIONS
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

//===----------------------------------------------------------------------===//
// What may be merged
//===----------------------------------------------------------------------===//

/// The operator that can do what `activation` does, or null.
static ClampingInterface findProducer(UnaryOp activation, bool early) {
  Value x = activation.getX();
  auto producer = x.getDefiningOp<ClampingInterface>();
  if (!producer || producer.getClampedResult() != x ||
      producer.getClampAttr() || !x.hasOneUse() ||
      (!early && producer.clampsLate() && !producer->hasAttr(kConfigAttr)) ||
      producer->getAttr(kRoleAttr) != activation->getAttr(kRoleAttr) ||
      !tilesAgree(cast<PartitionableInterface>(producer.getOperation()),
                  cast<OpResult>(x), activation))
    return nullptr;
  return producer;
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

namespace {
struct FuseActivations : ffc::impl::FuseActivationsBase<FuseActivations> {
  using FuseActivationsBase::FuseActivationsBase;

  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    Block &block = main.front();
    llvm::StringMap<ClampingInterface> producers;
    for (UnaryOp activation :
         llvm::make_early_inc_range(block.getOps<UnaryOp>())) {
      DenseF64ArrayAttr bounds = activation.asClamp();
      ClampingInterface producer =
          bounds ? findProducer(activation, early) : nullptr;
      if (!producer)
        continue;
      producer.setClampAttr(bounds);
      addAliases(producer, activation);
      producers[nameOf(activation)] = producer;
      activation.getY().replaceAllUsesWith(activation.getX());
      activation.erase();
    }
    // Whatever operators shared with the function, it had the layout of the
    // clamped result.
    moveOwners(block, [&](StringRef name, int64_t) -> Heir {
      ClampingInterface producer = producers.lookup(name);
      return producer ? Heir{producer, slotOf(producer.getClampedResult())}
                      : Heir();
    });
  }
};
} // namespace
