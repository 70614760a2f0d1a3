//===- BatchCheck.cpp - are batches what they say? ------------------------===//

#include "BatchCheck.h"

#include <set>

using namespace ffc::plan;

static bool isLikeFirst(const DeviceProgram &device, const Action &action,
                        const Action &first) {
  return action.collective == first.collective && action.group == first.group &&
         action.combine == first.combine &&
         device.buffers[action.src].type == device.buffers[first.src].type;
}

std::optional<std::string>
ffc::plan::checkBatches(const Program &program, const DeviceProgram &device) {
  std::set<int> seen;
  const std::vector<Action> &actions = device.actions;
  for (size_t i = 0; i < actions.size();) {
    const Action &first = actions[i];
    if (first.batch < 0) {
      ++i;
      continue;
    }
    const std::string name = "batch " + std::to_string(first.batch);
    const Program::Batch &batch = program.batches[first.batch];
    if (!seen.insert(first.batch).second)
      return name + ": '" + first.name + "' does not follow the others";
    if (!(first.task == batch.first))
      return name + ": begins with '" + first.name +
             "', expected the task it is known by";
    int64_t bytes = 0;
    for (; i < actions.size() && actions[i].batch == first.batch; ++i) {
      if (!isLikeFirst(device, actions[i], first))
        return name + ": '" + actions[i].name +
               "' is of another kind, group or type than '" + first.name + "'";
      bytes += collectiveBytes(device, actions[i]);
    }
    if (bytes != batch.bytes)
      return name + ": has " + std::to_string(bytes) + " bytes, expected " +
             std::to_string(batch.bytes);
  }
  return std::nullopt;
}
