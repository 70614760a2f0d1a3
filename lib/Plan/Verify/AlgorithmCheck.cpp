//===- AlgorithmCheck.cpp - can collectives run as they shall? ------------===//

#include "AlgorithmCheck.h"

using namespace ffc::plan;

/// What is wrong with the schedule of a collective, or nothing.
static std::string faultOfSchedule(const Program &program,
                                   const CollectiveAction &collective,
                                   size_t members) {
  const int number = collective.schedule;
  if (number < 0 || static_cast<size_t>(number) >= program.schedules.size())
    return "expected one of " + std::to_string(program.schedules.size()) +
           " schedules, found " + std::to_string(number);
  const CollectiveSchedule &schedule = *program.schedules[number];
  if (schedule.kind != collective.kind)
    return std::string("expected a schedule of an ") + str(collective.kind) +
           ", found one of an " + str(schedule.kind);
  if (static_cast<size_t>(schedule.members) != members)
    return "expected a schedule of " + std::to_string(members) +
           " members, found one of " + std::to_string(schedule.members);
  return "";
}

std::optional<std::string>
ffc::plan::checkAlgorithms(const Program &program, const DeviceProgram &device,
                           const Topology &topology) {
  for (const Action &action : device.actions) {
    const auto *collective = action.as<CollectiveAction>();
    if (!collective || collective->algorithm == CollectiveAlgorithm::Library)
      continue;
    const auto fault = [&](const std::string &what) {
      return "'" + action.name + "' is to run " + str(collective->algorithm) +
             ": " + what;
    };
    const std::vector<DeviceId> &members = program.groups[collective->group];
    if (!canDo(collective->algorithm, collective->kind))
      return fault("expected another kind of collective, found " +
                   std::string(str(collective->kind)));
    if (collective->algorithm == CollectiveAlgorithm::Schedule) {
      if (std::string wrong =
              faultOfSchedule(program, *collective, members.size());
          !wrong.empty())
        return fault(wrong);
      continue;
    }
    if (!topology.shareMemory(members))
      return fault("expected CPUs of one node, found others");
    const int64_t bytes = collectiveBytes(device, *collective);
    const auto most = kOneShotBytes / static_cast<int64_t>(members.size());
    if (collective->algorithm == CollectiveAlgorithm::OneShot &&
        collective->kind == CollectiveKind::AllReduce && bytes > most)
      return fault("expected at most " + std::to_string(most) +
                   " bytes, found " + std::to_string(bytes));
  }
  return std::nullopt;
}
