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
    const CollectiveAction &collective = get(ref);
    if (collective.batch >= 0)
      return isFirst(ref) ? program.batches[collective.batch].bytes : 0;
    return collectiveBytes(program.devices[ref.device], collective);
  }

  /// By the algorithm of the plan.
  CostModel::CollectiveCost cost(ActionRef ref) const {
    const CollectiveAction &collective = get(ref);
    if (collective.batch >= 0 && !isFirst(ref))
      return {};
    const auto &together = program.together[collective.together];
    auto at = std::find(together.begin(), together.end(), collective.group);
    return CostModel::costOf(
        collective.kind, collective.algorithm,
        collective.schedule < 0 ? nullptr
                                : program.schedules[collective.schedule].get(),
        (*paths[collective.together])[at - together.begin()], bytes(ref));
  }

private:
  const CollectiveAction &get(ActionRef ref) const {
    return program.action(ref).get<CollectiveAction>();
  }
  bool isFirst(ActionRef ref) const {
    return program.action(ref).task == program.batches[get(ref).batch].first;
  }

  const Program &program;
  /// By Program::together.
  std::vector<std::shared_ptr<const std::vector<CostModel::Paths>>> paths;
};

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_PLANNEDCOLLECTIVES_H
