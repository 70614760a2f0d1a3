//===- PlanPhase.cpp - the time and the memory of a step ------------------===//

#include "Compilation.h"
#include "InternalError.h"

#include "ffc/Plan/Cost.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/StepMemory.h"
#include "ffc/Plan/StepTimer.h"
#include "ffc/Plan/SymmetricSection.h"
#include "ffc/Plan/Timing.h"
#include "ffc/Plan/Verifier.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace mlir;
using namespace ffc;

void Compilation::makeProgram(const plan::CostModel &cost) {
  program =
      plan::planProgram(planned.graph, strategy, topology->numDevices(), cost);
  if (target == plan::Target::CUDA)
    plan::assignSymmetricOffsets(planned.graph, strategy, program);
}

LogicalResult Compilation::planProgram() {
  const plan::CostModel cost = costModel(planned.graph);
  makeProgram(cost);
  report.phase("verify");
  if (auto error =
          plan::verifyProgram(planned.graph, strategy, program, *topology))
    return fail(internalError("the plan is not safe to run", options, *error));
  plan::Timeline times =
      plan::timeProgram(planned.graph, strategy, program, cost);
  stepSeconds = static_cast<double>(times.makespan) * 1e-12;
  std::vector<int64_t> bytes;
  for (const plan::DeviceProgram &device : program.devices)
    bytes.push_back(device.stateBytes + device.arenaBytes);
  reportStep("", bytes);
  if (measured)
    reportProfile(cost);
  return writeTimeline(cost, std::move(times));
}

std::string Compilation::describeMemory(const plan::MemoryParts &parts) const {
  std::vector<std::pair<int64_t, const char *>> named = {
      {parts.parameters, "parameters"},
      {parts.gradients, "gradients of parameters"},
      {parts.optimizer, "the optimizer"},
      {parts.activations, "activations"}};
  llvm::stable_sort(
      named, [](const auto &a, const auto &b) { return a.first > b.first; });
  std::string text;
  for (auto [bytes, name] : named)
    if (bytes > 0)
      text += (text.empty() ? "" : ", ") + bytesText(bytes) + " for " + name;
  const bool isData = named.front().first == parts.activations;
  text += "; more devices need less each";
  if (isData && options.training)
    text += ", and so does a smaller --batch-size, with --accumulate for a "
            "step over as many samples";
  else if (isData)
    text += ", and so does a smaller --batch-size";
  else if (parts.optimizer > 0)
    text += ", and so does an --optimizer that keeps less";
  return text;
}

LogicalResult Compilation::timePlan() {
  const plan::CostModel cost = costModel(planned.graph);
  plan::SegmentTable table(planned.graph, topology->numDevices(), cost);
  std::vector<plan::ConfigId> configs;
  for (const plan::Configuration &config : strategy)
    configs.push_back(table.intern(config));
  plan::StepTimer timer(table, configs);
  stepSeconds = static_cast<double>(timer.makespan()) * 1e-12;
  std::vector<int64_t> bytes = plan::stepMemory(table, configs);
  for (plan::DeviceId id = 0; id < topology->numDevices(); ++id)
    if (int64_t most = topology->kindOf(id).memoryBytes; bytes[id] > most)
      return fail(llvm::formatv(
          "device {0} ({1}): the plan needs about {2}, expected at most {3}; "
          "the largest device needs {4}",
          id, topology->device(id).name, bytesText(bytes[id]), bytesText(most),
          describeMemory(plan::largestMemory(table, configs))));
  reportStep("about ", bytes);
  return success();
}

/// `about` comes before figures of memory that are estimates.
void Compilation::reportStep(StringRef about,
                             const std::vector<int64_t> &bytes) {
  auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
  report.say(llvm::formatv("predicted step {0:f3} ms; {1}{2} to {3} per device",
                           stepSeconds * 1e3, about, bytesText(*least),
                           bytesText(*most)));
}
