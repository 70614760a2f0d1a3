//===- Verifier.cpp - proof that a program is safe to run -----------------===//

#include "ffc/Plan/Verifier.h"

#include "AlgorithmCheck.h"
#include "BatchCheck.h"
#include "MemoryCheck.h"
#include "ProgramCheck.h"
#include "ProgramWalk.h"

using namespace ffc::plan;

/// Do the program's collectives run on these devices, and have they the memory?
static std::optional<std::string> checkDevices(const Program &program,
                                               const Topology &topology) {
  for (size_t d = 0; d < program.devices.size(); ++d) {
    const DeviceProgram &device = program.devices[d];
    if (auto error = checkAlgorithms(program, device, topology))
      return "device " + std::to_string(d) + ": " + *error;
    int64_t planned = device.stateBytes + device.arenaBytes;
    int64_t memory = topology.kindOf(static_cast<DeviceId>(d)).memoryBytes;
    if (planned > memory)
      return "device " + std::to_string(d) + ": plan needs " +
             std::to_string(planned) + " bytes, expected at most " +
             std::to_string(memory);
  }
  return std::nullopt;
}

std::optional<std::string> ffc::plan::verifyProgram(const Graph &graph,
                                                    const Strategy &strategy,
                                                    const Program &program,
                                                    const Topology &topology) {
  if (auto error = checkDevices(program, topology))
    return error;
  return verifyProgram(graph, strategy, program);
}

std::optional<std::string> ffc::plan::verifyProgram(const Graph &graph,
                                                    const Strategy &strategy,
                                                    const Program &program) {
  if (auto error = checkSchedules(program))
    return error;
  for (size_t d = 0; d < program.devices.size(); ++d) {
    const DeviceProgram &device = program.devices[d];
    if (auto error = checkMemory(graph, strategy, program, device))
      return "device " + std::to_string(d) + ": " + *error;
    if (auto error = checkBatches(program, device))
      return "device " + std::to_string(d) + ": " + *error;
  }
  ProgramCheck checker(graph, strategy, program);
  ProgramWalk<ProgramCheck> walk(program, checker);
  if (walk.run())
    return checker.finished() ? std::nullopt
                              : std::optional<std::string>(checker.error);
  if (!checker.error.empty())
    return checker.error;
  for (ActionRef ref : walk.stuck()) {
    checker.fail(ref, "never goes on (deadlock)");
    return checker.error;
  }
  for (ActionRef ref : walk.strayMessages())
    checker.fail(ref, "has a message without partner");
  return checker.error;
}
