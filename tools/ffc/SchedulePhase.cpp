//===- SchedulePhase.cpp - the order of a strategy's micro-batches --------===//

#include "Compilation.h"

#include "ffc/Plan/Recomputation.h"
#include "ffc/Search/PlannedQuality.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <algorithm>
#include <tuple>

using namespace mlir;
using namespace ffc;
using plan::PipelineSchedule;

LogicalResult Compilation::chooseSchedule() {
  if (failed(orderMicroBatches()))
    return failure();
  if (plan::doesAgain(strategy))
    reportAgain();
  return success();
}

LogicalResult Compilation::orderMicroBatches() {
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
    schedule = options.schedule.of(microBatches);
  const int stages = plan::numStages(planned.graph, strategy, schedule);
  report.say(llvm::formatv("schedule {0} of {1} micro-batches in {2} {3}",
                           schedule.str(), microBatches, stages,
                           stages == 1 ? "stage" : "stages"));
  return success();
}

/// Of those whose memory suffices, if there are any; of equal ones that with
/// less memory.
PipelineSchedule Compilation::fastestSchedule(int microBatches) const {
  const plan::CostModel cost = costModel(planned.graph);
  search::PlanJudge judge({planned.graph, *topology, cost, target});
  using Rank = std::tuple<bool, plan::Picoseconds, double>;
  std::optional<Rank> least;
  PipelineSchedule best;
  std::vector<PipelineSchedule> all = plan::pipelineSchedules(microBatches);
  all.insert(all.begin(), PipelineSchedule());
  for (const PipelineSchedule &candidate : all) {
    const search::Quality quality = judge.quality(strategy, candidate);
    const Rank rank = {!quality.fits(), quality.makespan, quality.load};
    if (!least || rank < *least) {
      least = rank;
      best = candidate;
    }
  }
  return best;
}

void Compilation::reportAgain() {
  const plan::Graph &graph = planned.graph;
  std::vector<bool> isAgain(graph.ops.size());
  for (const plan::Turn &turn :
       plan::turnsOf(graph, strategy, schedule, /*overlaps=*/false))
    if (turn.isAgain)
      isAgain[turn.op] = true;
  size_t operators = 0, updates = 0;
  SmallVector<std::string> others;
  for (const auto &[id, op] : llvm::enumerate(graph.ops)) {
    if (!strategy[id].again)
      continue;
    operators += isAgain[id];
    updates += op.role == plan::OpRole::Update;
    if (op.role != plan::OpRole::Update && !isAgain[id])
      others.push_back(op.name);
  }
  std::string line =
      llvm::formatv("again: {0} operators, parameters of {1} updates",
                    operators, updates)
          .str();
  if (!others.empty())
    line += "; not needed again: " + llvm::join(others, ", ");
  report.say(line);
}
