//===- LowerPrecision.cpp - narrow factors of products --------------------===//

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
    Type factors = llvm::StringSwitch<Type>(type.getValue())
                       .Case("bf16", BFloat16Type::get(&getContext()))
                       .Case("f16", Float16Type::get(&getContext()))
                       .Default({});
    if (!factors) {
      main.emitError("expected type bf16, f16 or tf32, found '")
          << type.getValue() << "'";
      return signalPassFailure();
    }
    DenseMap<Value, Value> narrow;
    for (Operation &op : llvm::make_early_inc_range(main.front())) {
      auto product = dyn_cast<PartitionableInterface>(op);
      if (!product)
        continue;
      for (OpOperand *factor : product.getFactors()) {
        Value wide = factor->get();
        if (!getElementTypeOrSelf(wide).isF32())
          continue;
        Value &value = narrow[wide];
        // Made where the first product needs it, and there for all others.
        if (!value)
          value = narrowed(wide, factors, &op);
        factor->set(value);
      }
    }
    // The gradient of a bias adds up what that of the weights multiplies.
    for (Operation &op : llvm::make_early_inc_range(main.front())) {
      auto sum = dyn_cast<PartitionableInterface>(op);
      if (!sum || !hasRole(&op, kGradientRole))
        continue;
      for (OpOperand *summand : sum.getSummands())
        if (Value value = narrow.lookup(summand->get())) {
          Operation *cast = value.getDefiningOp();
          if (op.isBeforeInBlock(cast))
            cast->moveBefore(&op);
          summand->set(value);
        }
    }
    for (auto cast : llvm::make_early_inc_range(main.front().getOps<CastOp>()))
      if (isNarrowing(cast))
        castEarlier(cast);
  }

private:
  /// Puts `cast` before operators that only give its operand another shape:
  /// what computes the numbers may be able to write them narrow.
  void castEarlier(CastOp cast) {
    auto type = getElementTypeOrSelf(cast.getY());
    while (cast) {
      Value x = cast.getX();
      auto shaping = x.getDefiningOp<PartitionableInterface>();
      if (!shaping || !x.hasOneUse() || !shaping.getRules().keepsBytes)
        return;
      Value wide = shaping->getOperand(0);
      CastOp earlier = castOf(wide, type);
      const bool isNew = !earlier;
      if (isNew)
        earlier = narrowed(wide, type, shaping).getDefiningOp<CastOp>();
      else if (shaping->isBeforeInBlock(earlier))
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

  Value narrowed(Value wide, Type factors, Operation *user) {
    OpBuilder builder(user);
    auto wideType = cast<RankedTensorType>(wide.getType());
    auto cast = CastOp::create(builder,
                               NameLoc::get(builder.getStringAttr(
                                   nameOfValue(wide) + "." + type.getValue())),
                               wideType.clone(factors), wide);
    if (Operation *producer = wide.getDefiningOp())
      if (Attribute role = producer->getAttr(kRoleAttr))
        cast->setAttr(kRoleAttr, role);
    return cast;
  }
};
} // namespace
