//===- FuseGelu.cpp - products compute GELU and its gradient --------------===//

#include "Absorption.h"
#include "Aliases.h"
#include "GeluProducts.h"
#include "TilesAgree.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

#include "llvm/ADT/StringMap.h"

#include <optional>

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_FUSEGELU
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

namespace {
/// What one run of the pass has merged.
class GeluMerger {
public:
  /// `mergesWide`: products of operands that are not narrow, too.
  explicit GeluMerger(bool mergesWide) : mergesWide(mergesWide) {}
  /// `op` into the product before it, if that can do what `op` does.
  void merge(Operation *op);
  /// Operators of `block` that belonged to what is gone belong to its heirs.
  void moveOwners(Block &block) const;

private:
  void replace(MatMulOp product, OpResult sum);

  /// What has become of a product's result.
  struct Replaced {
    int64_t slot = -1; ///< that it had
    OpResult sum;
  };

  const bool mergesWide;
  llvm::StringMap<Replaced> products; ///< by name
  Absorption functions;
};
} // namespace

/// The casts to `type` that are all that reads `wide` but `other`; nothing if
/// there is another reader, or one that `wide`'s maker cannot do the work of.
static std::optional<SmallVector<CastOp>>
roundingsOf(OpResult wide, Type type, const Operation *other = nullptr) {
  SmallVector<CastOp> casts;
  for (Operation *user : wide.getUsers()) {
    if (user == other)
      continue;
    auto cast = dyn_cast<CastOp>(user);
    if (!cast || getElementTypeOrSelf(cast.getY()) != type ||
        !canTake(wide, cast))
      return std::nullopt;
    casts.push_back(cast);
  }
  return casts;
}

void GeluMerger::merge(Operation *op) {
  GeluProduct found = geluProductOf(op);
  // The function of parts is not that of the sum.
  if (!found || isPartial(found.product, found.sum()) ||
      !canTake(found.sum(), cast<PartitionableInterface>(op)))
    return;
  MatMulOp product = found.product;
  const Type type = getElementTypeOrSelf(product.getA());
  SmallVector<CastOp> ofSum, ofFunction;
  if (isNarrow(product.getA())) {
    // What is rounded is rounded by the product.
    auto sums = roundingsOf(found.sum(), type, op),
         functions = roundingsOf(op->getResult(0), type);
    auto isAsNarrow = [&](Value value) {
      return !value || getElementTypeOrSelf(value) == type;
    };
    if (!sums || !functions || functions->empty() ||
        !isAsNarrow(product.getC()) || !isAsNarrow(found.saved))
      return;
    ofSum = std::move(*sums);
    ofFunction = std::move(*functions);
  } else if (!mergesWide) {
    return;
  }
  OpBuilder builder(product);
  Type result = cast<RankedTensorType>(product.getY().getType()).clone(type);
  OpResult sum, function;
  if (found.saved) {
    auto merged = MatMulGeluBackwardOp::create(
        builder, product.getLoc(), result, product.getA(), product.getB(),
        found.saved, product.getDimNamesAttr(), product.getTransAAttr(),
        product.getTransBAttr());
    sum = function = cast<OpResult>(merged.getDz());
  } else {
    auto merged = MatMulGeluOp::create(
        builder, product.getLoc(), result, result, product.getA(),
        product.getB(), product.getC(), product.getDimNamesAttr(),
        product.getTransAAttr(), product.getTransBAttr());
    sum = cast<OpResult>(merged.getZ());
    function = cast<OpResult>(merged.getY());
  }
  replace(product, sum);
  functions.take(op, function);
  for (CastOp cast : ofFunction)
    functions.take(cast, function);
  for (CastOp cast : ofSum)
    functions.take(cast, sum);
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
    Block &block = main.front();
    GeluMerger merger(/*mergesWide=*/main->hasAttr(kTf32Attr));
    // What is merged is one operator and the casts behind it.
    SmallVector<Operation *> candidates;
    for (Operation &op : block)
      if (geluProductOf(&op))
        candidates.push_back(&op);
    for (Operation *op : candidates)
      merger.merge(op);
    merger.moveOwners(block);
  }
};
} // namespace
