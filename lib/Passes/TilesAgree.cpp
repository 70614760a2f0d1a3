//===- TilesAgree.cpp - points that go on with what they have -------------===//

#include "TilesAgree.h"

#include "ffc/IR/MainFunction.h"
#include "ffc/Passes/Passes.h"

using namespace mlir;
using namespace ffc;
using namespace ffc::ff;

int ffc::slotOf(OpResult result) {
  auto rules = cast<PartitionableInterface>(result.getOwner());
  return static_cast<int>(rules.getOperandSlots().size() +
                          result.getResultNumber());
}

/// Who writes `slot` under `config`, where `rules` say so.
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

bool ffc::tilesAgree(PartitionableInterface producer, OpResult value,
                     PartitionableInterface consumer) {
  plan::OpRules from = producer.getRules(), to = consumer.getRules();
  auto source = readConfiguration(producer, from, nameOf(producer));
  auto target = readConfiguration(consumer, to, nameOf(consumer));
  if (failed(source) || failed(target) ||
      source->has_value() != target->has_value())
    return false;
  if (!source->has_value())
    return true;
  const plan::Configuration &a = **source, &b = **target;
  const plan::SlotWrite *write = writeOf(from, a, slotOf(value));
  if (!write || a.devices != b.devices ||
      llvm::any_of(a.axes, [&](const plan::GridAxis &axis) {
        return isPartialAlong(axis, *write);
      }))
    return false;
  SmallVector<Value> operands = consumer.getOperandSlots();
  plan::Shape shape = tensorTypeOf(value.getType()).shape;
  for (const plan::SlotRead &read :
       plan::scheduleFor(to, b).phases.front().reads)
    if (operands[read.slot] == value)
      for (int64_t point = 0, e = a.numPoints(); point < e; ++point)
        if (!(plan::regionOf(write->access, from.dims, a.tileOf(from, point),
                             shape) ==
              plan::regionOf(read.access, to.dims, b.tileOf(to, point), shape)))
          return false;
  return true;
}
