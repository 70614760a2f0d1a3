//===- Batches.cpp - collectives that start as one ------------------------===//

#include "ffc/Plan/Batches.h"

using namespace ffc::plan;

int ffc::plan::numStartingAt(const DeviceProgram &device, size_t index) {
  const auto batchAt = [&](size_t i) {
    const auto *collective = device.actions[i].as<CollectiveAction>();
    return collective ? collective->batch : -1;
  };
  const int batch = batchAt(index);
  if (batch < 0)
    return 1;
  if (index > 0 && batchAt(index - 1) == batch)
    return 0;
  size_t end = index;
  while (end < device.actions.size() && batchAt(end) == batch)
    ++end;
  return static_cast<int>(end - index);
}
