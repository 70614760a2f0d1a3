//===- PlannedCollectives.h - how a program's collectives go ----*- C++ -*-===//
//
// Private to the library.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_PLANNEDCOLLECTIVES_H
#define FFC_LIB_PLAN_PLANNEDCOLLECTIVES_H

#include "TimeSink.h"

#include <algorithm>
#include <memory>
#include <vector>

namespace ffc::plan {

class PlannedCollectives {
public:
  PlannedCollectives(const Program &program, const CostModel &cost)
      : program(program) {
    for (const std::vector<GroupId> &together : program.together) {
      std::vector<std::vector<DeviceId>> groups;
      for (GroupId group : together)
        groups.push_back(program.groups[group]);
      paths.push_back(cost.paths(groups));
    }
  }

  /// Bytes of the whole tensor. The first of a batch stands for all of it, and
  /// the others come with it.
  int64_t bytes(ActionRef ref) const {
    const DeviceProgram &device = program.devices[ref.device];
    const Action &action = device.actions[ref.index];
    if (action.batch >= 0)
      return isFirst(action) ? program.batches[action.batch].bytes : 0;
    return collectiveBytes(device, action);
  }

  CostModel::Algorithm algorithm(ActionRef ref) const {
    const Action &action = program.devices[ref.device].actions[ref.index];
    if (action.batch >= 0 && !isFirst(action))
      return {};
    const std::vector<GroupId> &together = program.together[action.together];
    auto at = std::find(together.begin(), together.end(), action.group);
    return CostModel::choose(action.collective,
                             (*paths[action.together])[at - together.begin()],
                             bytes(ref));
  }

private:
  bool isFirst(const Action &action) const {
    return action.task == program.batches[action.batch].first;
  }

  const Program &program;
  /// By Program::together.
  std::vector<std::shared_ptr<const std::vector<CostModel::Paths>>> paths;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_PLANNEDCOLLECTIVES_H
