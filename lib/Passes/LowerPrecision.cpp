//===- LowerPrecision.cpp - operands and values between products, rounded -===//

#include "Absorption.h"
#include "GeluProducts.h"
#include "NarrowValues.h"
#include "UniqueNames.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_LOWERPRECISION
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

/// What a value is called: as what makes it, and its number if that is not 0.
static std::string nameOfValue(Value value) {
  std::string name = nameOf(value.getLoc()).str();
  if (auto result = dyn_cast<OpResult>(value))
    if (unsigned number = result.getResultNumber())
      name += "." + std::to_string(number);
  return name;
}

/// Replaces an element-wise operator that reads narrow values by one that
/// widens them itself.
static void widenInside(Operation *op) {
  OpBuilder builder(op);
  auto fused = FusedOp::create(builder, op->getLoc(), op->getResultTypes(),
                               op->getOperands());
  fused->setDiscardableAttrs(op->getDiscardableAttrDictionary());
  Block &block = fused.getBody().emplaceBlock();
  OpBuilder body = OpBuilder::atBlockEnd(&block);
  SmallVector<Value> wide;
  for (Value operand : op->getOperands()) {
    Value inside = block.addArgument(operand.getType(), operand.getLoc());
    if (isNarrow(operand))
      inside = CastOp::create(body, operand.getLoc(),
                              wideType(operand.getType()), inside);
    wide.push_back(inside);
  }
  Operation *inside = body.clone(*op);
  inside->setDiscardableAttrs(body.getDictionaryAttr({}));
  inside->setOperands(wide);
  YieldOp::create(body, op->getLoc(), inside->getResults());
  op->replaceAllUsesWith(fused);
  op->erase();
}

namespace {
struct LowerPrecision : ffc::impl::LowerPrecisionBase<LowerPrecision> {
  using LowerPrecisionBase::LowerPrecisionBase;

  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    if (type == "tf32") {
      main->setAttr(kTf32Attr, UnitAttr::get(&getContext()));
      return;
    }
    Type operands = llvm::StringSwitch<Type>(type.getValue())
                        .Case("bf16", BFloat16Type::get(&getContext()))
                        .Case("f16", Float16Type::get(&getContext()))
                        .Default({});
    narrow.clear();
    gelus.clear();
    names.emplace(main.front());
    if (!operands) {
      main.emitError("expected type bf16, f16 or tf32, found '")
          << type.getValue() << "'";
      return signalPassFailure();
    }
    Block &block = main.front();
    narrowValues(block, operands);
    narrowMultiplied(block, operands);
    narrowAddends(block, operands);
    for (auto cast : llvm::make_early_inc_range(block.getOps<CastOp>()))
      if (isNarrowing(cast))
        castEarlier(cast);
  }

private:
  /// Rounds narrow values behind what makes them, for all that read them.
  void narrowValues(Block &block, Type type) {
    const llvm::DenseSet<Value> values = narrowValuesOf(block);
    for (Operation &op : block)
      findGelu(&op, values);
    for (Operation &op : llvm::make_early_inc_range(block))
      for (OpResult result : op.getResults())
        if (values.contains(result))
          narrowResult(result, type);
    for (Operation &op : llvm::make_early_inc_range(block))
      if (isElementwise(&op) && llvm::any_of(op.getOperands(), isNarrow))
        widenInside(&op);
  }

  void narrowResult(OpResult result, Type type) {
    auto op = cast<PartitionableInterface>(result.getOwner());
    // Its operands are narrow: their casts stand before it.
    if (op.movesElements()) {
      result.setType(cast<RankedTensorType>(result.getType()).clone(type));
      return;
    }
    auto readsNarrow = [gelu = gelus.lookup(result)](OpOperand &use) {
      return use.getOwner() != gelu;
    };
    if (llvm::none_of(result.getUses(), readsNarrow))
      return;
    OpBuilder builder(op->getContext());
    builder.setInsertionPointAfter(op);
    auto rounded = narrowed(result, type, builder);
    result.replaceUsesWithIf(rounded, [&](OpOperand &use) {
      return readsNarrow(use) && use.getOwner() != rounded.getDefiningOp();
    });
  }

  /// GELU behind a product, and its gradient, is of the sum before that is
  /// rounded, where it can be computed of what the product holds: what is
  /// written is all narrow, and no other GELU reads the sum.
  void findGelu(Operation *op, const llvm::DenseSet<Value> &values) {
    GeluProduct found = geluProductOf(op);
    if (!found || !values.contains(found.sum()) ||
        !values.contains(op->getResult(0)) ||
        (found.saved && !values.contains(found.saved)))
      return;
    auto [known, isFirst] = gelus.try_emplace(found.sum(), op);
    if (!isFirst)
      known->second = nullptr;
  }

  /// Does nobody read `result` but a cast, perhaps behind an activation that
  /// the product computes?
  static bool isRounded(Value result) {
    if (!result.hasOneUse())
      return false;
    Operation *reader = *result.user_begin();
    if (auto activation = dyn_cast<UnaryOp>(reader);
        activation && clamperOf(activation))
      return isRounded(activation.getY());
    return isNarrowing(reader);
  }

  /// Products round their results themselves if what they add is as narrow.
  void narrowAddends(Block &block, Type type) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto product = dyn_cast<PartitionableInterface>(op);
      auto narrowing = dyn_cast<NarrowingInterface>(op);
      if (!product || !narrowing || product.getMultipliedOperands().empty())
        continue;
      for (OpResult result : op.getResults())
        if ((isRounded(result) || gelus.lookup(result)) &&
            !narrowing.canNarrow(result))
          for (OpOperand *addend : product.getNarrowable())
            narrowOperand(*addend, type);
    }
  }

  void narrowMultiplied(Block &block, Type type) {
    for (Operation &op : llvm::make_early_inc_range(block))
      if (auto product = dyn_cast<PartitionableInterface>(op))
        for (OpOperand *operand : product.getMultipliedOperands())
          narrowOperand(*operand, type);
    // The gradient of a bias adds up what that of the weights multiplies.
    for (Operation &op : llvm::make_early_inc_range(block)) {
      auto sum = dyn_cast<PartitionableInterface>(op);
      if (!sum || !hasRole(&op, kGradientRole) || isa<NarrowingInterface>(op))
        continue;
      for (OpOperand *summand : sum.getNarrowable())
        if (Value value = narrow.lookup(summand->get())) {
          Operation *cast = value.getDefiningOp();
          if (op.isBeforeInBlock(cast))
            cast->moveBefore(&op);
          summand->set(value);
        }
    }
  }

  /// Reads an operand of f32 rounded: made where the first needs it, and there
  /// for all others.
  void narrowOperand(OpOperand &operand, Type type) {
    Value wide = operand.get();
    if (!getElementTypeOrSelf(wide).isF32())
      return;
    Value &value = narrow[wide];
    OpBuilder builder(operand.getOwner());
    if (!value)
      value = narrowed(wide, type, builder);
    else if (operand.getOwner()->isBeforeInBlock(value.getDefiningOp()))
      value.getDefiningOp()->moveBefore(operand.getOwner());
    operand.set(value);
  }

  /// Does the operator only give its operand another shape?
  static bool reshapes(PartitionableInterface op) {
    return op && op.getRules().keepsBytes &&
           cast<RankedTensorType>(op->getOperand(0).getType())
                   .getNumElements() ==
               cast<RankedTensorType>(op->getResult(0).getType())
                   .getNumElements();
  }

  /// Puts `cast` before operators that only give its operand another shape:
  /// what computes the numbers may be able to write them narrow.
  void castEarlier(CastOp cast) {
    auto type = getElementTypeOrSelf(cast.getY());
    while (cast) {
      Value x = cast.getX();
      auto shaping = x.getDefiningOp<PartitionableInterface>();
      if (!x.hasOneUse() || !reshapes(shaping))
        return;
      Value wide = shaping->getOperand(0);
      CastOp earlier = castOf(wide, type);
      const bool isNew = !earlier;
      if (isNew) {
        OpBuilder builder(shaping);
        earlier = narrowed(wide, type, builder).getDefiningOp<CastOp>();
      } else if (shaping->isBeforeInBlock(earlier))
        earlier->moveBefore(shaping);
      shaping->setOperand(0, earlier.getY());
      x.setType(cast.getY().getType());
      cast.getY().replaceAllUsesWith(x);
      cast.erase();
      cast = isNew ? earlier : CastOp();
    }
  }

  /// The cast of `value` to elements of `type`, or null.
  static CastOp castOf(Value value, Type type) {
    for (Operation *user : value.getUsers())
      if (auto cast = dyn_cast<CastOp>(user);
          cast && getElementTypeOrSelf(cast.getY()) == type)
        return cast;
    return nullptr;
  }

  Value narrowed(Value wide, Type operands, OpBuilder &builder) {
    auto wideType = cast<RankedTensorType>(wide.getType());
    auto cast = CastOp::create(builder,
                               NameLoc::get(builder.getStringAttr(
                                   nameOfValue(wide) + "." + type.getValue())),
                               wideType.clone(operands), wide);
    names->rename(cast);
    if (Operation *producer = wide.getDefiningOp())
      if (Attribute role = producer->getAttr(kRoleAttr))
        cast->setAttr(kRoleAttr, role);
    return cast;
  }

  /// By f32 value, its copy for operands.
  DenseMap<Value, Value> narrow;
  /// By the sum of a product, the GELU, or its gradient, that reads it wide.
  DenseMap<Value, Operation *> gelus;
  std::optional<UniqueNames> names;
};
} // namespace
