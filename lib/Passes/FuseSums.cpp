//===- FuseSums.cpp - products sum their operands -------------------------===//

#include "Aliases.h"
#include "TilesAgree.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_FUSESUMS
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

/// Are these sums over all dimensions but the last?
static bool sumsToLast(ReduceSumOp sum) {
  int64_t rank = cast<RankedTensorType>(sum.getX().getType()).getRank();
  return rank >= 2 && sum.getKeepdims() == 0 &&
         sum.getAxes().size() == static_cast<size_t>(rank - 1) &&
         sum.getAxes().back() == rank - 2;
}

/// `operand`, of a product, is what `sum` adds up. Can the product do that,
/// too?
static bool canSum(MatMulOp product, OpOperand &operand, ReduceSumOp sum) {
  const unsigned number = operand.getOperandNumber();
  const bool isA = number == 0;
  if (product.getC() || product.getAddend() || product.getClampAttr() ||
      cast<RankedTensorType>(product.getY().getType()).getRank() != 2 ||
      (isA ? product.getTransA() == 0 : product.getTransB() != 0) ||
      product->hasAttr(kCarryAttr) ||
      product->getAttr(kRoleAttr) != sum->getAttr(kRoleAttr) ||
      llvm::any_of(sum->getUsers(), [&](Operation *user) {
        return user->isBeforeInBlock(product);
      }))
    return false;
  // It is a gradient of weights, not a product of a batch with one matrix.
  auto a = cast<RankedTensorType>(product.getA().getType()),
       b = cast<RankedTensorType>(product.getB().getType());
  if (a.getShape().drop_back(2) != b.getShape().drop_back(2))
    return false;
  return !sum->hasAttr(kConfigAttr) || readsAgree(product, number, sum, 0);
}

/// The product with its sums in the place of both.
static MatMulSumsOp merge(MatMulOp product, unsigned operand, ReduceSumOp sum) {
  OpBuilder builder(product);
  auto merged = MatMulSumsOp::create(
      builder, product.getLoc(), product.getY().getType(), sum.getY().getType(),
      product.getA(), product.getB(), product.getAlphaAttr(),
      product.getDimNamesAttr(), builder.getI64IntegerAttr(operand),
      product.getTransAAttr(), product.getTransBAttr());
  merged->setDiscardableAttrs(product->getDiscardableAttrDictionary());
  addAliases(merged, sum);
  product.getY().replaceAllUsesWith(merged.getY());
  sum.getY().replaceAllUsesWith(merged.getSums());
  return merged;
}

namespace {
struct FuseSums : ffc::impl::FuseSumsBase<FuseSums> {
  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    Block &block = main.front();
    // By the names of what is gone.
    llvm::StringMap<MatMulSumsOp> products, sums;
    for (ReduceSumOp sum :
         llvm::make_early_inc_range(block.getOps<ReduceSumOp>())) {
      if (!sumsToLast(sum))
        continue;
      for (OpOperand &use : sum.getX().getUses()) {
        auto product = dyn_cast<MatMulOp>(use.getOwner());
        if (!product || !canSum(product, use, sum))
          continue;
        MatMulSumsOp merged = merge(product, use.getOperandNumber(), sum);
        products[nameOf(merged)] = merged;
        sums[nameOf(sum)] = merged;
        product.erase();
        sum.erase();
        break;
      }
    }
    moveOwners(block, [&](StringRef name, int64_t slot) -> Heir {
      if (MatMulSumsOp merged = sums.lookup(name))
        return {merged, slot < 0    ? slot
                        : slot == 0 ? static_cast<int64_t>(merged.getSumsOf())
                                    : slotOf(cast<OpResult>(merged.getSums()))};
      // Without the optional operands of a product its result has another slot.
      if (MatMulSumsOp merged = products.lookup(name))
        return {merged,
                slot < 2 ? slot : slotOf(cast<OpResult>(merged.getY()))};
      return {};
    });
  }
};
} // namespace
