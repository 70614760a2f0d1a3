//===- BatchCheck.cpp - are batches what they say? ------------------------===//

#include "BatchCheck.h"

#include <set>

using namespace ffc::plan;

static bool isLikeFirst(const DeviceProgram &device,
                        const CollectiveAction &collective,
                        const CollectiveAction &first) {
  return collective.kind == first.kind &&
         collective.algorithm == first.algorithm &&
         collective.schedule == first.schedule &&
         collective.group == first.group &&
         collective.combine == first.combine &&
         device.buffers[collective.src].type == device.buffers[first.src].type;
}

/// The collective of a batch that the action is, if it is one.
static const CollectiveAction *inBatch(const Action &action) {
  const auto *collective = action.as<CollectiveAction>();
  return collective && collective->batch >= 0 ? collective : nullptr;
}

std::optional<std::string>
ffc::plan::checkBatches(const Program &program, const DeviceProgram &device) {
  std::set<int> seen;
  const std::vector<Action> &actions = device.actions;
  for (size_t i = 0; i < actions.size();) {
    const Action &action = actions[i];
    const CollectiveAction *first = inBatch(action);
    if (!first) {
      ++i;
      continue;
    }
    const std::string name = "batch " + std::to_string(first->batch);
    const Program::Batch &batch = program.batches[first->batch];
    if (!seen.insert(first->batch).second)
      return name + ": '" + action.name + "' does not follow the others";
    if (!(action.task == batch.first))
      return name + ": begins with '" + action.name +
             "', expected the task it is known by";
    int64_t bytes = 0;
    for (; i < actions.size(); ++i) {
      const CollectiveAction *next = inBatch(actions[i]);
      if (!next || next->batch != first->batch)
        break;
      if (!isLikeFirst(device, *next, *first))
        return name + ": '" + actions[i].name +
               "' is of another kind, group or type than '" + action.name + "'";
      bytes += collectiveBytes(device, *next);
    }
    if (bytes != batch.bytes)
      return name + ": has " + std::to_string(bytes) + " bytes, expected " +
             std::to_string(batch.bytes);
  }
  return std::nullopt;
}
