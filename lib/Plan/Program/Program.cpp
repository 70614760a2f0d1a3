//===- Program.cpp - the tasks of every device, in order ------------------===//

#include "ffc/Plan/Program.h"

using namespace ffc::plan;

/// The length of the stretch of the order from `at` on with an exchange's tag.
static size_t numPartsOf(const Program &program, size_t at, int tag) {
  size_t end = at;
  for (; end < program.order.size(); ++end) {
    const auto *part = program.action(program.order[end]).as<ExchangeAction>();
    if (!part || part->tag != tag)
      break;
  }
  return end - at;
}

size_t ffc::plan::numPartsAt(const Program &program, size_t at) {
  const Action &action = program.action(program.order[at]);
  if (const auto *collective = action.as<CollectiveAction>())
    return program.groups[collective->group].size();
  if (const auto *exchange = action.as<ExchangeAction>())
    return numPartsOf(program, at, exchange->tag);
  return 1;
}

size_t ffc::plan::numMicroBatchActions(const Program &program) {
  size_t count = 0;
  for (const DeviceProgram &device : program.devices)
    count += static_cast<size_t>(device.microBatchActions);
  return count;
}
