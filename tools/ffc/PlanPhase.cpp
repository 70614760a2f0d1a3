//===- PlanPhase.cpp - the time and the memory of a step ------------------===//

#include "Compilation.h"
#include "InternalError.h"

#include "ffc/Plan/Cost.h"
#include "ffc/Plan/Planner.h"
#include "ffc/Plan/Recomputation.h"
#include "ffc/Plan/ScheduledStep.h"
#include "ffc/Plan/StepMemory.h"
#include "ffc/Plan/TimeUse.h"
#include "ffc/Plan/Timing.h"
#include "ffc/Plan/Verifier.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>

using namespace mlir;
using namespace ffc;

plan::Program Compilation::programOf(const plan::Strategy &strategy,
                                     const plan::CostModel &cost) const {
  return plan::planProgram(target, planned.graph, strategy,
                           topology->numDevices(), cost, schedule);
}

std::vector<int64_t> Compilation::bytesOf(const plan::Program &program) {
  std::vector<int64_t> bytes;
  for (const plan::DeviceProgram &device : program.devices)
    bytes.push_back(device.stateBytes + device.arenaBytes);
  return bytes;
}

LogicalResult Compilation::planProgram() {
  const plan::CostModel cost = costModel(planned.graph);
  program = programOf(strategy, cost);
  const std::vector<int64_t> bytes = bytesOf(program);
  if (failed(checkMemory(bytes, /*atLeast=*/false, cost)))
    return failure();
  report.phase("verify");
  if (auto error =
          plan::verifyProgram(planned.graph, strategy, program, *topology))
    return fail(internalError("the plan is not safe to run", options, *error));
  plan::Timeline times =
      plan::timeProgram(planned.graph, strategy, program, cost);
  stepSeconds = static_cast<double>(times.makespan) * 1e-12;
  for (const plan::DeviceUse &use :
       plan::useByDevice({planned.graph, strategy, program, *topology, times}))
    busySeconds.push_back(static_cast<double>(use.kernels + use.copies) *
                          1e-12);
  reportStep("", bytes);
  if (measured)
    reportProfile(cost);
  return writeTimeline(cost, std::move(times));
}

std::string Compilation::describeMemory(const plan::MemoryParts &parts,
                                        int64_t total) const {
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
  if (const int64_t rest = total - parts.total(); rest > total / 100)
    text +=
        ", " + bytesText(rest) + " for gaps between them and within kernels";
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

/// The strategy by number.
static std::vector<plan::ConfigId> intern(plan::SegmentTable &table,
                                          const plan::Strategy &strategy) {
  std::vector<plan::ConfigId> configs;
  for (const plan::Configuration &config : strategy)
    configs.push_back(table.intern(config));
  return configs;
}

LogicalResult Compilation::checkMemory(const std::vector<int64_t> &bytes,
                                       bool atLeast,
                                       const plan::CostModel &cost) {
  for (plan::DeviceId id = 0; id < topology->numDevices(); ++id) {
    const int64_t most = topology->kindOf(id).memoryBytes;
    if (bytes[id] <= most)
      continue;
    plan::SegmentTable table(planned.graph, topology->numDevices(), cost);
    const plan::MemoryParts parts =
        plan::largestMemory(table, intern(table, strategy));
    const int64_t total =
        atLeast ? parts.total() : *std::max_element(bytes.begin(), bytes.end());
    // What is for what is known of what keeps everything.
    return fail(llvm::formatv(
        "device {0} ({1}): the plan needs {2}{3}, expected at most {4}; the "
        "largest device needs {5}{6}",
        id, topology->device(id).name, atLeast ? "at least " : "",
        bytesText(bytes[id]), bytesText(most), bytesText(total),
        plan::doesAgain(strategy) ? "" : ": " + describeMemory(parts, total)));
  }
  return success();
}

LogicalResult Compilation::timePlan() {
  const plan::CostModel cost = costModel(planned.graph);
  plan::SegmentTable table(planned.graph, topology->numDevices(), cost);
  const plan::ScheduledStep step(table, strategy, schedule);
  const auto time = step.time();
  if (!time) // some micro-batches are not like others
    return planProgram();
  stepSeconds = static_cast<double>(*time) * 1e-12;
  const std::vector<int64_t> bytes = *step.memory();
  if (failed(checkMemory(bytes, /*atLeast=*/true, cost)))
    return failure();
  reportStep("at least ", bytes);
  return success();
}

/// `atLeast` comes before figures of memory that are bounds.
void Compilation::reportStep(StringRef atLeast,
                             const std::vector<int64_t> &bytes) {
  auto [least, most] = std::minmax_element(bytes.begin(), bytes.end());
  report.say(llvm::formatv("predicted step {0:f3} ms; {1}{2} to {3} per device",
                           stepSeconds * 1e3, atLeast, bytesText(*least),
                           bytesText(*most)));
}
