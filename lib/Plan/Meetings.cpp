//===- Meetings.cpp - collectives with all their members ------------------===//

#include "Meetings.h"

#include <map>

using namespace ffc::plan;

std::vector<Meeting> ffc::plan::meetingsOf(const Program &program) {
  std::vector<Meeting> meetings;
  std::map<std::pair<GroupId, int>, size_t> found;
  for (size_t d = 0; d < program.devices.size(); ++d) {
    std::map<GroupId, int> count;
    const std::vector<Action> &actions = program.devices[d].actions;
    for (size_t i = 0; i < actions.size(); ++i) {
      if (actions[i].kind != Action::Kind::Collective)
        continue;
      const GroupId group = actions[i].group;
      auto [entry, isNew] =
          found.try_emplace({group, count[group]++}, meetings.size());
      if (isNew)
        meetings.emplace_back();
      meetings[entry->second].push_back(
          {static_cast<DeviceId>(d), static_cast<int>(i)});
    }
  }
  return meetings;
}
