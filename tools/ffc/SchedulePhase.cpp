//===- SchedulePhase.cpp - the order of a strategy's micro-batches --------===//

#include "Compilation.h"

#include "ffc/Plan/Timing.h"

#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <tuple>

using namespace mlir;
using namespace ffc;
using plan::PipelineSchedule;

/// The schedules that --schedule=auto compares.
static std::vector<PipelineSchedule> candidates(int microBatches) {
  std::vector<PipelineSchedule> all = {{}};
  for (int ahead : {1, 2, microBatches})
    if (PipelineSchedule schedule{microBatches, ahead};
        llvm::find(all, schedule) == all.end())
      all.push_back(schedule);
  return all;
}

LogicalResult Compilation::chooseSchedule() {
  if (options.schedule.isNone()) {
    schedule = {};
    return success();
  }
  // What was drawn with the strategy, of which some operators are no part.
  const int microBatches = schedule.isPipeline()
                               ? schedule.microBatches
                               : plan::numMicroBatches(planned.graph, strategy);
  if (microBatches == 1) {
    if (options.schedule.isAuto())
      return success();
    return fail("--schedule=" + options.schedule.text +
                ": expected a strategy with micro-batches, which splits the "
                "samples of all operators into more blocks than devices work "
                "on them (n=8 on 0*8), found none");
  }
  if (options.schedule.isAuto() && !schedule.isPipeline())
    schedule = fastestSchedule(microBatches);
  else if (!options.schedule.isAuto())
    schedule = {microBatches, options.schedule.aheadOf(microBatches)};
  const int stages = plan::numStages(planned.graph, strategy, schedule);
  report.say(llvm::formatv("schedule {0} of {1} micro-batches in {2} {3}",
                           schedule.str(), microBatches, stages,
                           stages == 1 ? "stage" : "stages"));
  return success();
}

/// Of those whose memory suffices, if there are any; of equal ones that with
/// less memory.
PipelineSchedule Compilation::fastestSchedule(int microBatches) {
  const plan::CostModel cost = costModel(planned.graph);
  using Rank = std::tuple<bool, plan::Picoseconds, int64_t>;
  std::optional<Rank> least;
  PipelineSchedule best;
  for (const PipelineSchedule &candidate : candidates(microBatches)) {
    schedule = candidate;
    const plan::Program tried = programOf(strategy, cost);
    const std::vector<int64_t> bytes = bytesOf(tried);
    bool fits = true;
    for (plan::DeviceId id = 0; id < topology->numDevices(); ++id)
      fits &= bytes[id] <= topology->kindOf(id).memoryBytes;
    const Rank rank = {
        !fits, plan::timeProgram(planned.graph, strategy, tried, cost).makespan,
        *std::max_element(bytes.begin(), bytes.end())};
    if (!least || rank < *least) {
      least = rank;
      best = candidate;
    }
  }
  return best;
}
