//===- Aliases.cpp - names of operators that became one -------------------===//

#include "Aliases.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace ffc;

void ffc::addAliases(Operation *op, Operation *part) {
  Builder builder(op->getContext());
  llvm::SmallSetVector<Attribute, 8> aliases;
  auto add = [&](Operation *from) {
    if (auto list = from->getAttrOfType<ArrayAttr>(ff::kAliasesAttr))
      aliases.insert(list.begin(), list.end());
  };
  add(op);
  if (StringRef name = ff::nameOf(part); !name.empty())
    aliases.insert(builder.getStringAttr(name));
  add(part);
  if (!aliases.empty())
    op->setAttr(ff::kAliasesAttr, builder.getArrayAttr(aliases.getArrayRef()));
}

/// The values in all slots, null for absent ones; none of what computes
/// nothing.
static SmallVector<Value> slotsOf(Operation *op) {
  auto rules = dyn_cast<ff::PartitionableInterface>(op);
  if (!rules)
    return {};
  SmallVector<Value> slots = rules.getOperandSlots();
  llvm::append_range(slots, rules.getResultSlots());
  return slots;
}

/// The first slot of `op` with a value of the shape of what is in slot `slot`
/// of `other`; -1 if there is none.
static int64_t slotOfSameShape(Operation *op, Operation *other, int64_t slot) {
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  const ArrayRef<int64_t> shape = shapeOf(slotsOf(other)[slot]);
  for (auto [own, value] : llvm::enumerate(slotsOf(op)))
    if (value && shapeOf(value) == shape)
      return static_cast<int64_t>(own);
  return -1;
}

void ffc::moveOwners(Block &block,
                     llvm::function_ref<Heir(StringRef, int64_t)> heirOf) {
  for (Operation &op : block) {
    auto owner = op.getAttrOfType<StringAttr>(ff::kOwnerAttr);
    if (!owner)
      continue;
    auto carry = op.getAttrOfType<DenseI64ArrayAttr>(ff::kCarryAttr);
    Heir heir = heirOf(owner.getValue(), carry ? carry[0] : -1);
    if (!heir.op)
      continue;
    Builder builder(op.getContext());
    op.setAttr(ff::kOwnerAttr, builder.getStringAttr(ff::nameOf(heir.op)));
    int64_t ownSlot = carry ? carry[1] : -1;
    // The heir may have other names for dimensions.
    if (!carry && heir.slot >= 0)
      ownSlot = slotOfSameShape(&op, heir.op, heir.slot);
    if (ownSlot >= 0)
      op.setAttr(ff::kCarryAttr,
                 builder.getDenseI64ArrayAttr({heir.slot, ownSlot}));
  }
}
