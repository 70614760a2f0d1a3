//===- AlgorithmCheck.cpp - can collectives run as they shall? ------------===//

#include "AlgorithmCheck.h"

using namespace ffc::plan;

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
    if (!topology.shareMemory(members))
      return fault("expected CPUs of one node, found others");
    if (!canDo(collective->algorithm, collective->kind))
      return fault("expected an all-reduce, found another collective");
    const int64_t bytes = collectiveBytes(device, *collective);
    const auto most = kOneShotBytes / static_cast<int64_t>(members.size());
    if (collective->algorithm == CollectiveAlgorithm::OneShot &&
        collective->kind == CollectiveKind::AllReduce && bytes > most)
      return fault("expected at most " + std::to_string(most) +
                   " bytes, found " + std::to_string(bytes));
  }
  return std::nullopt;
}
