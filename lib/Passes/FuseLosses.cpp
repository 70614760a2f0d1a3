//===- FuseLosses.cpp - gradients of losses give the losses ---------------===//

#include "Aliases.h"
#include "TilesAgree.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_FUSELOSSES
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

/// The gradient of `loss`, if it can be computed where the loss is.
static CrossEntropyBackwardOp gradientOf(CrossEntropyOp loss) {
  for (Operation *user : loss.getLogits().getUsers()) {
    auto gradient = dyn_cast<CrossEntropyBackwardOp>(user);
    if (!gradient || gradient.getLogits() != loss.getLogits() ||
        gradient.getTarget() != loss.getTarget() ||
        gradient.getAxis() != loss.getAxis() ||
        gradient.getSmoothing() != loss.getSmoothing() ||
        !gradient.getLoss().use_empty())
      continue;
    Value slope = gradient.getSlope();
    Operation *definition = slope ? slope.getDefiningOp() : nullptr;
    if (!definition || definition->isBeforeInBlock(loss))
      return gradient;
  }
  return nullptr;
}

/// The gradient in the place of both, with the loss's name and role.
static CrossEntropyBackwardOp merge(CrossEntropyOp loss,
                                    CrossEntropyBackwardOp gradient) {
  OpBuilder builder(loss);
  auto merged = CrossEntropyBackwardOp::create(
      builder, loss.getLoc(), gradient->getResultTypes(), gradient.getLogits(),
      gradient.getTarget(), gradient.getSlope(), gradient.getAxisAttr(),
      gradient.getSmoothingAttr());
  merged->setDiscardableAttrs(loss->getDiscardableAttrDictionary());
  addAliases(merged, gradient);
  loss.getLoss().replaceAllUsesWith(merged.getLoss());
  gradient.getDx().replaceAllUsesWith(merged.getDx());
  loss.erase();
  gradient.erase();
  return merged;
}

namespace {
struct FuseLosses : ffc::impl::FuseLossesBase<FuseLosses> {
  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    Block &block = main.front();
    llvm::StringMap<CrossEntropyBackwardOp> merged; ///< by name of the loss
    for (CrossEntropyOp loss :
         llvm::make_early_inc_range(block.getOps<CrossEntropyOp>()))
      if (CrossEntropyBackwardOp gradient = gradientOf(loss)) {
        CrossEntropyBackwardOp both = merge(loss, gradient);
        merged[nameOf(both)] = both;
      }
    // The loss had the slot behind those of logits and target.
    moveOwners(block, [&](StringRef name, int64_t slot) -> Heir {
      CrossEntropyBackwardOp both = merged.lookup(name);
      if (!both)
        return {};
      return {both, slot < 2 ? slot : slotOf(cast<OpResult>(both.getLoss()))};
    });
  }
};
} // namespace
