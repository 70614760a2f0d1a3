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

bool ffc::isPartial(PartitionableInterface producer, OpResult value) {
  const plan::OpRules rules = producer.getRules();
  auto config = readConfiguration(producer, rules, nameOf(producer));
  if (failed(config) || !config->has_value())
    return false;
  const plan::SlotWrite *write = writeOf(rules, **config, slotOf(value));
  return write && plan::isPartial(**config, *write);
}

bool ffc::tilesAgree(PartitionableInterface producer, OpResult value,
                     PartitionableInterface consumer) {
  plan::OpRules from = producer.getRules(), to = consumer.getRules();
  auto source = readConfiguration(producer, from, nameOf(producer));
  auto target = readConfiguration(consumer, to, nameOf(consumer));
  if (failed(source) || failed(target) || !source->has_value() ||
      !target->has_value())
    return false;
  const plan::Configuration &a = **source, &b = **target;
  const plan::SlotWrite *write = writeOf(from, a, slotOf(value));
  if (!write || a.devices != b.devices || plan::isPartial(a, *write))
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

/// What the only kernel of `rules` under `config` reads in `slot`, or null.
static const plan::SlotRead *readOf(const plan::OpRules &rules,
                                    const plan::Configuration &config,
                                    int slot) {
  const std::vector<plan::Phase> &phases =
      plan::scheduleFor(rules, config).phases;
  if (phases.size() == 1)
    for (const plan::SlotRead &read : phases.front().reads)
      if (read.slot == slot)
        return &read;
  return nullptr;
}

bool ffc::readsAgree(PartitionableInterface a, int slotA,
                     PartitionableInterface b, int slotB) {
  plan::OpRules rulesA = a.getRules(), rulesB = b.getRules();
  auto configA = readConfiguration(a, rulesA, nameOf(a));
  auto configB = readConfiguration(b, rulesB, nameOf(b));
  if (failed(configA) || failed(configB) || !configA->has_value() ||
      !configB->has_value() || (*configA)->devices != (*configB)->devices)
    return false;
  const plan::SlotRead *readA = readOf(rulesA, **configA, slotA),
                       *readB = readOf(rulesB, **configB, slotB);
  if (!readA || !readB ||
      llvm::any_of((*configA)->axes, [&](const plan::GridAxis &axis) {
        return axis.degree > 1 && axis.dim != plan::kReplica &&
               llvm::none_of(readA->access.dims, [&](const plan::DimMap &map) {
                 return map.involves(axis.dim);
               });
      }))
    return false;
  plan::Shape shape = tensorTypeOf(a.getOperandSlots()[slotA].getType()).shape;
  for (int64_t point = 0, e = (*configA)->numPoints(); point < e; ++point)
    if (!(plan::regionOf(readA->access, rulesA.dims,
                         (*configA)->tileOf(rulesA, point), shape) ==
          plan::regionOf(readB->access, rulesB.dims,
                         (*configB)->tileOf(rulesB, point), shape)))
      return false;
  return true;
}
