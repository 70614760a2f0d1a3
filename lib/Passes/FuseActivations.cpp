//===- FuseActivations.cpp - operators clamp their own results ------------===//

#include "Aliases.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

namespace ffc {
#define GEN_PASS_DEF_FUSEACTIVATIONS
#include "ffc/Passes/Passes.h.inc"
} // namespace ffc

//===----------------------------------------------------------------------===//
// What may be merged
//===----------------------------------------------------------------------===//

/// The slot of the result that `op` clamps.
static int clampedSlot(ClampingInterface op) {
  auto rules = cast<PartitionableInterface>(op.getOperation());
  return static_cast<int>(rules.getOperandSlots().size() +
                          op.getClampedResult().getResultNumber());
}

/// What `config` makes of `slot`: who writes it, where `rules` say so.
static const plan::SlotWrite *writeOf(const plan::OpRules &rules,
                                      const plan::Configuration &config,
                                      int slot) {
  for (const plan::Phase &phase : plan::scheduleFor(rules, config).phases)
    for (const plan::SlotWrite &write : phase.writes)
      if (write.slot == slot)
        return &write;
  return nullptr;
}

/// Points that differ only along `axis` hold summands of what is written.
static bool isPartialAlong(const plan::GridAxis &axis,
                           const plan::SlotWrite &write) {
  return axis.degree > 1 && axis.dim != plan::kReplica &&
         write.reduction != plan::Reduction::None &&
         llvm::none_of(write.access.dims, [&](const plan::DimMap &map) {
           return map.involves(axis.dim);
         });
}

/// Every point of `activation` reads what the same point of `producer`, on the
/// same device, has computed to the end. True before there is a strategy: then
/// the clamped operator's rules say what may be split.
static bool splitsAgree(ClampingInterface producer, UnaryOp activation) {
  plan::OpRules from =
      cast<PartitionableInterface>(producer.getOperation()).getRules();
  plan::OpRules to = activation.getRules();
  auto source = readConfiguration(producer, from, nameOf(producer));
  auto target = readConfiguration(activation, to, nameOf(activation));
  if (failed(source) || failed(target) ||
      source->has_value() != target->has_value())
    return false;
  if (!source->has_value())
    return true;
  const plan::Configuration &a = **source, &b = **target;
  const plan::SlotWrite *write = writeOf(from, a, clampedSlot(producer));
  if (!write || a.devices != b.devices ||
      llvm::any_of(a.axes, [&](const plan::GridAxis &axis) {
        return isPartialAlong(axis, *write);
      }))
    return false;
  const plan::Access &read =
      plan::scheduleFor(to, b).phases.front().reads.front().access;
  plan::Shape shape = tensorTypeOf(activation.getX().getType()).shape;
  for (int64_t point = 0, e = a.numPoints(); point < e; ++point)
    if (!(plan::regionOf(write->access, from.dims, a.tileOf(from, point),
                         shape) ==
          plan::regionOf(read, to.dims, b.tileOf(to, point), shape)))
      return false;
  return true;
}

/// The operator that can do what `activation` does, or null.
static ClampingInterface findProducer(UnaryOp activation) {
  Value x = activation.getX();
  auto producer = x.getDefiningOp<ClampingInterface>();
  if (!producer || producer.getClampedResult() != x ||
      producer.getClampAttr() || !x.hasOneUse() ||
      producer->getAttr(kRoleAttr) != activation->getAttr(kRoleAttr) ||
      !splitsAgree(producer, activation))
    return nullptr;
  return producer;
}

//===----------------------------------------------------------------------===//
// Merging
//===----------------------------------------------------------------------===//

namespace {
struct FuseActivations : ffc::impl::FuseActivationsBase<FuseActivations> {
  void runOnOperation() override {
    func::FuncOp main = mainFunction(getOperation());
    if (!main)
      return signalPassFailure();
    Block &block = main.front();
    llvm::StringMap<ClampingInterface> producers;
    for (UnaryOp activation :
         llvm::make_early_inc_range(block.getOps<UnaryOp>())) {
      DenseF64ArrayAttr bounds = activation.asClamp();
      ClampingInterface producer = bounds ? findProducer(activation) : nullptr;
      if (!producer)
        continue;
      producer.setClampAttr(bounds);
      addAliases(producer, activation);
      producers[nameOf(activation)] = producer;
      activation.getY().replaceAllUsesWith(activation.getX());
      activation.erase();
    }
    // Whatever operators shared with the function, it had the layout of the
    // clamped result.
    moveOwners(block, [&](StringRef name, int64_t) -> Heir {
      ClampingInterface producer = producers.lookup(name);
      return producer ? Heir{producer, clampedSlot(producer)} : Heir();
    });
  }
};
} // namespace
