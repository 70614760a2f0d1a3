//===- SlotCheck.cpp - do kernels get what they take? ---------------------===//

#include "SlotCheck.h"

#include <algorithm>

using namespace ffc::plan;

/// Is there nothing in an operand's or a result's slot? Internal tensors are
/// always there.
static bool isAbsent(const Graph &graph, OpId id, int slot) {
  const Op &op = graph.op(id);
  return slot < static_cast<int>(op.operands.size() + op.results.size()) &&
         graph.slotValue(id, slot) < 0;
}

static bool mayBeAbsent(const Graph &graph, OpId id, int slot) {
  const Op &op = graph.op(id);
  const int result = slot - static_cast<int>(op.operands.size());
  const auto &optional = op.rules.optionalResults;
  return isAbsent(graph, id, slot) &&
         (result < 0 || std::count(optional.begin(), optional.end(), result));
}

static const char *wordOf(MemoryOrder order) {
  return order == MemoryOrder::ChannelsLast ? "channels-last"
         : order == MemoryOrder::Pitched    ? "pitched"
                                            : "row-major";
}

/// "f32 [0:8, 0:6]"
static std::string textOf(ElementType type, const Shape &shape) {
  return std::string(str(type)) + " " + Box::whole(shape).str();
}

std::optional<std::string>
ffc::plan::checkSlot(const Graph &graph, const MemoryOrders &orders, OpId op,
                     const KernelAction &kernel, const Phase &phase, int slot,
                     const Access &access, const Buffer *buffer) {
  if (!buffer) {
    if (mayBeAbsent(graph, op, slot))
      return std::nullopt;
    return "nothing in slot " + std::to_string(slot) + " of '" + kernel.kernel +
           "', expected a buffer";
  }
  if (isAbsent(graph, op, slot))
    return "'" + buffer->name + "' in slot " + std::to_string(slot) + " of '" +
           kernel.kernel + "', expected nothing";
  const TensorType &type = graph.slotType(op, slot);
  auto name = [&] { return "'" + buffer->name + "'"; };
  if (buffer->type != type.type || buffer->global != type.shape)
    return name() + " of " + textOf(buffer->type, buffer->global) +
           ", expected " + textOf(type.type, type.shape);
  const Region region =
      regionOf(access, graph.op(op).rules.dims, kernel.tile, type.shape);
  if (buffer->region != region)
    return buffer->region.str() + " of " + name() + ", expected " +
           region.str();
  const MemoryOrder order = orders.of(op, phase, access, slot);
  if (buffer->order != order)
    return name() + " in " + wordOf(buffer->order) + " order, expected " +
           wordOf(order);
  return std::nullopt;
}
