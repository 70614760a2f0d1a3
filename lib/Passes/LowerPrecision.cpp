//===- LowerPrecision.cpp - factors of products as bf16 -------------------===//

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_LOWERPRECISION
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

/// What a value is called.
static std::string nameOfValue(Value value, func::FuncOp main) {
  if (auto argument = dyn_cast<BlockArgument>(value))
    return main.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr)
        .str();
  Operation *op = value.getDefiningOp();
  if (auto state = dyn_cast<StateOp>(op))
    return state.getName().str();
  std::string name = nameOf(op).str();
  if (op->getNumResults() > 1)
    name += "." + std::to_string(cast<OpResult>(value).getResultNumber());
  return name;
}

namespace {
struct LowerPrecision : ffc::impl::LowerPrecisionBase<LowerPrecision> {
  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
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
          value = narrowed(wide, main, &op);
        factor->set(value);
      }
    }
  }

private:
  static Value narrowed(Value wide, func::FuncOp main, Operation *user) {
    OpBuilder builder(user);
    auto type = cast<RankedTensorType>(wide.getType());
    auto cast = CastOp::create(
        builder,
        NameLoc::get(builder.getStringAttr(nameOfValue(wide, main) + ".bf16")),
        type.clone(builder.getBF16Type()), wide);
    if (Operation *producer = wide.getDefiningOp())
      if (Attribute role = producer->getAttr(kRoleAttr))
        cast->setAttr(kRoleAttr, role);
    return cast;
  }
};
} // namespace
