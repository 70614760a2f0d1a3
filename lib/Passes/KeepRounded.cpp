//===- KeepRounded.cpp - updates round parameters for the next step -------===//

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_KEEPROUNDED
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

/// The update whose result `store` keeps, if it can round that as well.
static UpdateOp updateOf(StoreOp store) {
  auto update = store ? store.getValue().getDefiningOp<UpdateOp>() : UpdateOp();
  return update && update.getWOut() == store.getValue() && !update.getRounded()
             ? update
             : UpdateOp();
}

/// Replaces an update by one that has a result of `type` besides, which is
/// returned.
static Value roundIn(UpdateOp update, Type type) {
  OpBuilder builder(update);
  SmallVector<Type> others(update.getOthers().getTypes());
  others.push_back(type);
  auto rounding =
      UpdateOp::create(builder, update.getLoc(), update.getWOut().getType(),
                       others, update.getKind(), update.getW(), update.getG(),
                       update.getSlots(), update.getScale(), update.getHyper());
  rounding->setDiscardableAttrs(update->getDiscardableAttrDictionary());
  update->replaceAllUsesWith(rounding->getResults().drop_back());
  update->erase();
  return rounding.getRounded();
}

/// The rounded copy of `state` in the place of `cast`.
static void keep(CastOp cast, StateOp state, StoreOp store, UpdateOp update) {
  const StringRef name = ff::nameOf(cast);
  OpBuilder builder(state->getContext());
  builder.setInsertionPointAfter(state);
  auto copy = StateOp::create(builder, cast.getLoc(), cast.getY().getType(),
                              builder.getStringAttr(name),
                              builder.getStringAttr("copy"), state.getInit(),
                              state.getNameAttr());
  cast.getY().replaceAllUsesWith(copy);
  builder.setInsertionPointAfter(store);
  auto kept = StoreOp::create(builder, cast.getLoc(), name,
                              roundIn(update, copy.getResult().getType()));
  kept->setDiscardableAttrs(store->getDiscardableAttrDictionary());
  cast.erase();
}

namespace {
struct KeepRounded : ffc::impl::KeepRoundedBase<KeepRounded> {
  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    Block &block = main.front();
    llvm::StringMap<StoreOp> stores;
    for (StoreOp store : block.getOps<StoreOp>())
      stores[store.getName()] = store;
    for (CastOp cast : llvm::make_early_inc_range(block.getOps<CastOp>())) {
      auto state = cast.getX().getDefiningOp<StateOp>();
      if (!state || state.getKind() != "parameter" || !isNarrowing(cast))
        continue;
      StoreOp store = stores.lookup(state.getName());
      if (UpdateOp update = updateOf(store))
        keep(cast, state, store, update);
    }
  }
};
} // namespace
