//===- PlanSearchPhase.cpp - strategies that are judged by whole plans ----===//
//
// Pipelines, and what keeps less for the backward pass: their steps have orders
// that the tables of the search do not know.
//
//===----------------------------------------------------------------------===//

#include "Compilation.h"

#include "ffc/Plan/Recomputation.h"
#include "ffc/Plan/ScheduledStep.h"
#include "ffc/Search/Pipelines.h"
#include "ffc/Search/Recompute.h"

#include <chrono>

using namespace ffc;

/// What is faster than the answer by a per cent, but does not fit.
static std::vector<search::Unfitting>
fasterUnfitting(const search::Result &result) {
  std::vector<search::Unfitting> all;
  auto add = [&](const std::string &name, const plan::Strategy &strategy,
                 const search::Quality &quality) {
    const plan::Picoseconds found = result.quality.makespan;
    if (!quality.fits() &&
        (!result.quality.fits() || quality.makespan < found - found / 100))
      all.push_back({name, strategy, {}, quality.makespan});
  };
  for (const auto *known : {&result.baselines, &result.dealtOut})
    for (const search::Baseline &baseline : *known)
      add(baseline.name, baseline.strategy, baseline.quality);
  if (const auto &answer = result.elimination)
    add(answer->name, answer->strategy, answer->quality);
  add("the strategy found", result.strategy, result.quality);
  return all;
}

namespace {

/// Each stage looks for what is better than all before.
class PlanSearcher {
public:
  PlanSearcher(const search::Planning &planning, const search::Result &result,
               const search::Options &searching)
      : judge(planning), result(result), searching(searching),
        best(result.quality), unfitting(fasterUnfitting(result)) {}

  void tryStart(const plan::Strategy &start) {
    const search::Quality quality = judge.quality(start, {});
    if (quality.fits() && quality < best)
      take("the one given", start, {}, quality);
  }

  void tryPipelines() {
    const search::PipelineResult pipelines = search::searchPipelines(
        judge, best, unfitting.empty() ? 2 : 1, goesOn("pipelines"));
    if (const auto &found = pipelines.found)
      take(found->name(), found->strategy, found->schedule, found->quality);
    // Beside what experts take nothing else comes near.
    if (search::isFarOff(best, judge.planning().graph,
                         judge.planning().topology.numDevices()))
      unfitting.clear();
    for (const search::Pipeline &each : pipelines.unfitting)
      unfitting.push_back(
          {each.name(), each.strategy, each.schedule, each.quality.makespan});
  }

  void tryRecomputation() {
    const auto found = search::bestRecomputation(judge, unfitting, best,
                                                 goesOn("recomputation"));
    if (found && found->quality.fits())
      take(found->describe(), found->strategy, found->schedule, found->quality);
    else if (found)
      plans.closer =
          "; " + found->describe() + " needs " +
          (plan::numPoints(found->strategy) > plan::kMostPlannedPoints
               ? "about "
               : "") +
          bytesText(static_cast<int64_t>(
              found->quality.load *
              static_cast<double>(
                  judge.planning().topology.kindOf(0).memoryBytes)));
  }

  PlanSearch plans;

private:
  using Clock = std::chrono::steady_clock;

  void take(const std::string &name, const plan::Strategy &strategy,
            const plan::PipelineSchedule &schedule,
            const search::Quality &quality) {
    plans.taken = {name, strategy, schedule, quality};
    best = quality;
  }

  /// Asked before every plan.
  std::function<bool()> goesOn(const char *phase) const {
    return [this, phase] {
      if (searching.progress) {
        search::Progress progress;
        progress.phase = phase;
        progress.best = best.makespan;
        searching.progress(progress);
      }
      const std::chrono::duration<double> sinceBegin = Clock::now() - begin;
      return !*searching.stop &&
             (searching.seconds == 0 ||
              result.seconds + sinceBegin.count() < searching.seconds);
    };
  }

  search::PlanJudge judge;
  const search::Result &result;
  const search::Options &searching;
  const Clock::time_point begin = Clock::now();
  search::Quality best;
  std::vector<search::Unfitting> unfitting;
};

} // namespace

/// What is pinned, or written for FlexFlow, is no pipeline.
bool Compilation::mayBePipeline(const search::Options &searching) const {
  return options.searchesSchedules && !options.schedule.isNone() &&
         options.pins.empty() && !searching.forFlexFlow &&
         planned.graph.microBatches == 1;
}

/// FlexFlow cannot say it, and inference has no backward pass.
bool Compilation::mayKeepLess(const search::Options &searching) const {
  return options.searchesRecomputation && !searching.forFlexFlow &&
         options.training;
}

PlanSearch Compilation::searchPlans(const search::Result &result,
                                    const std::optional<plan::Strategy> &start,
                                    const plan::CostModel &cost,
                                    const search::Options &searching) const {
  PlanSearcher searcher({planned.graph, *topology, cost, target}, result,
                        searching);
  if (start && plan::doesAgain(*start))
    searcher.tryStart(*start);
  if (mayBePipeline(searching))
    searcher.tryPipelines();
  if (mayKeepLess(searching))
    searcher.tryRecomputation();
  return std::move(searcher.plans);
}
