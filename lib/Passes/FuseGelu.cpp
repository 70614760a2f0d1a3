//===- FuseGelu.cpp - products compute GELU and its gradient --------------===//

#include "Absorption.h"
#include "Aliases.h"
#include "TilesAgree.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_FUSEGELU
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

/// The product that makes `sum` and can do what `function` does with it, or
/// null.
static MatMulOp productFor(Value sum, PartitionableInterface function) {
  auto product = sum.getDefiningOp<MatMulOp>();
  // What is carried over is carried through a slot, which moves.
  if (!product || !product.isLinear() || product.getClampAttr() ||
      product->hasAttr(kCarryAttr) ||
      sum.getType() != wideType(sum.getType()) ||
      // The function of parts is not that of the sum.
      isPartial(product, cast<OpResult>(sum)) ||
      !canTake(cast<OpResult>(sum), function))
    return nullptr;
  return product;
}

namespace {
/// What one run of the pass has merged.
class GeluMerger {
public:
  void merge(UnaryOp gelu);
  void merge(UnaryBackwardOp gelu);
  /// Operators of `block` that belonged to what is gone belong to its heirs.
  void moveOwners(Block &block) const;

private:
  void replace(MatMulOp product, OpResult sum);

  /// What has become of a product's result.
  struct Replaced {
    int64_t slot = -1; ///< that it had
    OpResult sum;
  };

  llvm::StringMap<Replaced> products; ///< by name
  Absorption functions;
};
} // namespace

void GeluMerger::merge(UnaryOp gelu) {
  MatMulOp product = productFor(gelu.getX(), gelu);
  if (!product)
    return;
  OpBuilder builder(product);
  Type type = product.getY().getType();
  auto merged = MatMulGeluOp::create(
      builder, product.getLoc(), type, type, product.getA(), product.getB(),
      product.getC(), product.getDimNamesAttr(), product.getTransAAttr(),
      product.getTransBAttr());
  replace(product, cast<OpResult>(merged.getZ()));
  functions.take(gelu, cast<OpResult>(merged.getY()));
}

void GeluMerger::merge(UnaryBackwardOp gelu) {
  MatMulOp product = productFor(gelu.getDy(), gelu);
  Operation *saved = gelu.getSaved().getDefiningOp();
  // Nothing is moved: that would make other values live longer.
  if (!product || product.getC() || !product->hasOneUse() ||
      (saved && !saved->isBeforeInBlock(product)))
    return;
  OpBuilder builder(product);
  auto merged = MatMulGeluBackwardOp::create(
      builder, product.getLoc(), product.getY().getType(), product.getA(),
      product.getB(), gelu.getSaved(), product.getDimNamesAttr(),
      product.getTransAAttr(), product.getTransBAttr());
  replace(product, cast<OpResult>(merged.getDz()));
  functions.take(gelu, cast<OpResult>(merged.getDz()));
}

/// `sum` takes the place of what `product` has made.
void GeluMerger::replace(MatMulOp product, OpResult sum) {
  sum.getOwner()->setDiscardableAttrs(product->getDiscardableAttrDictionary());
  products[nameOf(product)] = {slotOf(cast<OpResult>(product.getY())), sum};
  product.getY().replaceAllUsesWith(sum);
  product.erase();
}

void GeluMerger::moveOwners(Block &block) const {
  // Products come first: what takes over from a function has a product's name.
  ffc::moveOwners(block, [&](StringRef name, int64_t slot) -> Heir {
    const auto [product, sum] = products.lookup(name);
    if (!sum)
      return {};
    return {sum.getOwner(), slot == product ? slotOf(sum) : slot};
  });
  functions.moveOwners(block);
}

namespace {
struct FuseGelu : ffc::impl::FuseGeluBase<FuseGelu> {
  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    if (!main->hasAttr(kTf32Attr))
      return;
    Block &block = main.front();
    GeluMerger merger;
    auto mergeAll = [&](auto functions) {
      for (auto gelu : llvm::make_early_inc_range(functions))
        if (gelu.getKind() == UnaryKind::GeluTanh)
          merger.merge(gelu);
    };
    mergeAll(block.getOps<UnaryOp>());
    mergeAll(block.getOps<UnaryBackwardOp>());
    merger.moveOwners(block);
  }
};
} // namespace
