//===- Stages.cpp - the search for plans of stages ------------------------===//

#include "ffc/Search/Stages.h"

#include "StageCuts.h"

#include <algorithm>
#include <memory>
#include <set>

using namespace ffc;
using namespace ffc::search;

namespace {

/// What the search keeps for a size of micro-batches.
struct MicroBatchSearch {
  MicroBatchSearch(const plan::StageProfile &profile,
                   const plan::StageModel &model,
                   const StageSearchOptions &options, int microBatch)
      : microBatch(microBatch), segments(profile, model),
        solver(profile, model, segments, microBatch, options.devicesPerNode,
               options.memoryLimit),
        estimate(model, segments, solver, options.memoryLimit),
        cuts(model, segments, solver, estimate, options,
             options.batch / microBatch) {}

  const int microBatch;
  StageSegments segments;
  StageSolver solver;
  StageEstimate estimate;
  StageCuts cuts;
};

} // namespace

/// Those that some number of devices can share by the tables.
static std::vector<int> microBatches(const plan::StageProfile &profile,
                                     const StageSearchOptions &options) {
  if (options.microBatch)
    return {options.microBatch};
  std::set<int> result;
  for (int samples : profile.samples())
    for (int devices = 1; devices <= options.devices; ++devices)
      if (options.batch % (samples * devices) == 0)
        result.insert(samples * devices);
  return {result.begin(), result.end()};
}

std::optional<StageSearchResult>
search::searchStages(const plan::StageProfile &profile,
                     const plan::StageModel &model,
                     const StageSearchOptions &options) {
  std::vector<std::unique_ptr<MicroBatchSearch>> searches;
  for (int microBatch : microBatches(profile, options))
    searches.push_back(std::make_unique<MicroBatchSearch>(profile, model,
                                                          options, microBatch));
  // By estimates, all sizes side by side: that with the least bound goes on.
  constexpr double kNear = 1.03;
  constexpr double kHopeless = 100;
  double estimated = StageSolver::kNever;
  for (;;) {
    const auto next = std::min_element(searches.begin(), searches.end(),
                                       [](const auto &a, const auto &b) {
                                         return a->cuts.next() < b->cuts.next();
                                       });
    if (next == searches.end() || (*next)->cuts.next() >= estimated ||
        (*next)->cuts.next() > kHopeless * (*next)->cuts.least())
      break;
    (*next)->cuts.widen(kNear * estimated);
    for (const StageDivision &division : (*next)->cuts.divisions())
      estimated = std::min(estimated, division.iteration);
  }
  std::vector<MicroBatchSearch *> found;
  for (const auto &each : searches)
    if (!each->cuts.divisions().empty())
      found.push_back(each.get());
  StageDivision best;
  const MicroBatchSearch *winner = nullptr;
  std::sort(found.begin(), found.end(), [](const auto *a, const auto *b) {
    return a->cuts.divisions().front().iteration <
           b->cuts.divisions().front().iteration;
  });
  for (MicroBatchSearch *each : found)
    for (const StageDivision &division : each->cuts.divisions()) {
      if (division.iteration > kNear * best.iteration)
        break;
      StageDivision refined = each->cuts.refine(division, best.iteration);
      if (refined.iteration < best.iteration) {
        best = std::move(refined);
        winner = each;
      }
    }
  if (!winner)
    return std::nullopt;
  StageSearchResult result;
  plan::StagePlan &plan = result.plan;
  plan.model = model.name;
  plan.layers = model.layers;
  plan.devicesPerNode = options.devicesPerNode;
  plan.batch = options.batch;
  plan.microBatch = winner->microBatch;
  for (const StagePlace &place : best.places)
    plan.stages.push_back(winner->solver.stage(place));
  result.cost = plan::StageTimer(profile, model).cost(plan);
  return result;
}
