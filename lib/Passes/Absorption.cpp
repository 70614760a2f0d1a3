//===- Absorption.cpp - operators that do what reads them -----------------===//

#include "Absorption.h"

#include "Aliases.h"
#include "TilesAgree.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

AddingInterface ffc::adderOf(Value summand) {
  auto producer = summand.getDefiningOp<AddingInterface>();
  if (!producer || producer.getSummedResult() != summand ||
      !summand.hasOneUse())
    return nullptr;
  return producer;
}

ClampingInterface ffc::clamperOf(UnaryOp activation) {
  Value x = activation.getX();
  auto producer = x.getDefiningOp<ClampingInterface>();
  if (!producer || producer.getClampedResult() != x || !x.hasOneUse() ||
      !activation.asClamp())
    return nullptr;
  return producer;
}

Value ffc::operandBehind(Operation *op, Value inside) {
  if (!isa<FusedOp>(op))
    return inside;
  if (Operation *cast = inside.getDefiningOp(); cast && isWidening(cast))
    inside = cast->getOperand(0);
  auto argument = dyn_cast<BlockArgument>(inside);
  return argument ? op->getOperand(argument.getArgNumber()) : Value();
}

bool ffc::canTake(OpResult whole, PartitionableInterface part) {
  auto producer = cast<PartitionableInterface>(whole.getOwner());
  return producer->getAttr(kRoleAttr) == part->getAttr(kRoleAttr) &&
         (part->hasAttr(kConfigAttr)
              ? tilesAgree(producer, whole, part)
              : producer.hasEpilogue() || !isPartial(producer, whole));
}

void Absorption::take(Operation *part, OpResult whole) {
  addAliases(whole.getOwner(), part);
  results[ff::nameOf(part)] = whole;
  part->getResult(0).replaceAllUsesWith(whole);
  part->erase();
}

void Absorption::moveOwners(Block &block) const {
  ffc::moveOwners(block, [&](StringRef name, int64_t) -> Heir {
    OpResult result = results.lookup(name);
    return result ? Heir{result.getOwner(), slotOf(result)} : Heir();
  });
}
