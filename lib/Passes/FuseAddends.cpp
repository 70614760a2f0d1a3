//===- FuseAddends.cpp - operators add to their own results ---------------===//

#include "Aliases.h"
#include "TilesAgree.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_FUSEADDENDS
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

/// The operator that computes `summand` can add `other` to it instead of `sum`.
static bool canAdd(AddingInterface producer, Value summand, Value other,
                   BinaryOp sum, bool early) {
  if (!producer || producer.getSummedResult() != summand ||
      !producer.getAddendMutable().empty() ||
      (!early && producer.addsLate() && !producer->hasAttr(kConfigAttr)))
    return false;
  // Bounds are those of the sum.
  auto clamping = dyn_cast<ClampingInterface>(producer.getOperation());
  if (clamping && clamping.getClampAttr())
    return false;
  Operation *definition = other.getDefiningOp();
  return summand.hasOneUse() && summand.getType() == sum.getY().getType() &&
         other.getType() == sum.getY().getType() &&
         producer->getAttr(kRoleAttr) == sum->getAttr(kRoleAttr) &&
         // Nothing is moved: that would make other values live longer.
         (!definition || definition->isBeforeInBlock(producer)) &&
         tilesAgree(cast<PartitionableInterface>(producer.getOperation()),
                    cast<OpResult>(summand), sum);
}

namespace {
struct FuseAddends : ffc::impl::FuseAddendsBase<FuseAddends> {
  using FuseAddendsBase::FuseAddendsBase;

  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    Block &block = main.front();
    llvm::StringMap<AddingInterface> producers;
    for (BinaryOp sum : llvm::make_early_inc_range(block.getOps<BinaryOp>())) {
      if (sum.getKind() != BinaryKind::Add)
        continue;
      for (auto [summand, other] : {std::pair(sum.getA(), sum.getB()),
                                    std::pair(sum.getB(), sum.getA())}) {
        auto producer = summand.getDefiningOp<AddingInterface>();
        if (!canAdd(producer, summand, other, sum, early))
          continue;
        producer.getAddendMutable().assign(other);
        addAliases(producer, sum);
        producers[nameOf(sum)] = producer;
        sum.getY().replaceAllUsesWith(summand);
        sum.erase();
        break;
      }
    }
    // Whatever operators shared with the sum, it had the layout of its
    // operands.
    moveOwners(block, [&](StringRef name, int64_t) -> Heir {
      AddingInterface producer = producers.lookup(name);
      return producer ? Heir{producer, slotOf(producer.getSummedResult())}
                      : Heir();
    });
  }
};
} // namespace
