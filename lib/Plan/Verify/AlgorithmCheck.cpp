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
    return std::string("expected a schedule of ") + str(collective.kind) +
           ", found one of " + str(schedule.kind);
  if (static_cast<size_t>(schedule.members) != members)
    return "expected a schedule of " + std::to_string(members) +
           " members, found one of " + std::to_string(schedule.members);
  return "";
}

/// "'a' is to run two_shot: ..."
static std::string runsBy(const Action &action, const std::string &what) {
  return "'" + action.name + "' is to run " +
         str(action.get<CollectiveAction>().algorithm) + ": " + what;
}

std::optional<std::string> ffc::plan::checkSchedules(const Program &program) {
  for (const auto &schedule : program.schedules)
    if (const std::string fault = faultOf(*schedule); !fault.empty())
      return "schedule " + fault;
  for (size_t d = 0; d < program.devices.size(); ++d)
    for (const Action &action : program.devices[d].actions) {
      const auto *collective = action.as<CollectiveAction>();
      if (!collective || collective->algorithm != CollectiveAlgorithm::Schedule)
        continue;
      const std::string wrong = faultOfSchedule(
          program, *collective, program.groups[collective->group].size());
      if (!wrong.empty())
        return "device " + std::to_string(d) + ": " + runsBy(action, wrong);
    }
  return std::nullopt;
}

std::optional<std::string>
ffc::plan::checkAlgorithms(const Program &program, const DeviceProgram &device,
                           const Topology &topology) {
  for (const Action &action : device.actions) {
    const auto *collective = action.as<CollectiveAction>();
    if (!collective || collective->algorithm == CollectiveAlgorithm::Library)
      continue;
    const auto fault = [&](const std::string &what) {
      return runsBy(action, what);
    };
    const std::vector<DeviceId> &members = program.groups[collective->group];
    if (!canDo(collective->algorithm, collective->kind))
      return fault("expected another kind of collective, found " +
                   std::string(str(collective->kind)));
    if (collective->algorithm == CollectiveAlgorithm::Schedule)
      continue;
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
