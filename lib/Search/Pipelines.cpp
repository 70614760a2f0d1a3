//===- Pipelines.cpp - strategies that are pipelines ----------------------===//

#include "ffc/Search/Pipelines.h"

#include "ExpertPipelines.h"

#include <algorithm>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

std::string Pipeline::name() const {
  if (shape.stages == 1)
    return std::to_string(shape.microBatches) +
           " micro-batches one after the other on " +
           std::to_string(shape.width) +
           (shape.width == 1 ? " device" : " devices") +
           (shape.tensor > 1 ? ", tensor " + std::to_string(shape.tensor)
                             : "") +
           (shape.sendsAgain      ? ", fully sharded"
            : shape.sharesUpdates ? ", sharded updates"
                                  : "");
  return "a pipeline, " +
         (shape.rounds > 1 ? std::to_string(shape.rounds) + " times " : "") +
         std::to_string(shape.stages) + " stages of " +
         std::to_string(shape.width) +
         (shape.width == 1 ? " device, " : " devices, ") +
         (shape.tensor > 1 ? "tensor " + std::to_string(shape.tensor) + ", "
                           : "") +
         (shape.sendsAgain      ? "fully sharded, "
          : shape.sharesUpdates ? "sharded updates, "
                                : "") +
         std::to_string(shape.microBatches) + " micro-batches, " +
         schedule.str();
}

namespace {

/// Tries shapes, those that look fastest first.
class PipelineSearch {
public:
  PipelineSearch(PlanJudge &judge, const Quality &best, int fewestStages,
                 const std::function<bool()> &goesOn)
      : judge(judge), graph(judge.planning().graph),
        topology(judge.planning().topology), best(best),
        fewestStages(fewestStages), goesOn(goesOn),
        isFarOff(search::isFarOff(best, graph, topology.numDevices())),
        cuts(graph, topology, judge.planning().cost, isFarOff),
        begin(judge.work()) {}

  PipelineResult run() {
    if (isFarOff)
      return {std::nullopt, expertPipelines(judge.planning(), cuts)};
    const auto all = shapes();
    for (const auto &[estimate, shape] : all) {
      if (isOver(1) || looksSlower(estimate))
        break;
      tryAll(shape, cuts.cut(shape).begins);
    }
    shareLayers(all);
    if (found)
      refine();
    tryNear(all);
    while (found && improve())
      ;
    // A plan that does not fit is no answer.
    if (!best.fits())
      found.reset();
    return {std::move(found), std::move(unfitting)};
  }

private:
  /// What is done for them, as PlanJudge::work() counts; but so many are tried
  /// as long as that is not beyond PlanJudge::kMostWork.
  static constexpr int64_t kMostWork = 100000;
  static constexpr int kFewest = 12;

  bool looksSlower(Picoseconds estimate) const {
    return best.fits() && estimate > best.makespan;
  }

  bool isOver(double share) const {
    const int64_t done = judge.work() - begin;
    return done >= PlanJudge::kMostWork ||
           (tried >= share * kFewest &&
            static_cast<double>(done) >= share * kMostWork);
  }

  std::vector<std::pair<Picoseconds, PipelineShape>> shapes() const {
    std::vector<std::pair<Picoseconds, PipelineShape>> all;
    const int devices = topology.numDevices();
    const int most = std::min(devices, PipelineCuts::kMostStages);
    for (int stages = fewestStages; stages <= most; ++stages)
      for (int width = 1; stages * width <= devices; width *= 2)
        for (int microBatches = 2; microBatches <= 256; microBatches *= 2) {
          const PipelineShape shape{stages, width, microBatches};
          const Picoseconds estimate = cuts.estimate(shape);
          if (estimate < kMaxCost)
            all.push_back({estimate, shape});
        }
    std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
      return a.first < b.first;
    });
    return all;
  }

  void tryAll(const PipelineShape &shape, const PipelineCuts::Begins &begins,
              bool deferringWeights = false) {
    const auto strategy = cuts.strategy(shape, begins);
    if (!strategy)
      return;
    for (const PipelineSchedule &schedule : schedulesOf(shape))
      if (schedule.defersWeights == deferringWeights)
        tryOne({shape, schedule, begins, *strategy, {}});
  }

  static std::vector<PipelineSchedule> schedulesOf(const PipelineShape &shape) {
    if (shape.stages == 1)
      return {{shape.microBatches, 1}};
    return pipelineSchedules(shape.microBatches);
  }

  /// Of the shape that was found or, where nothing fits, of those that look
  /// fastest, groups that share layers.
  void
  shareLayers(const std::vector<std::pair<Picoseconds, PipelineShape>> &all) {
    constexpr size_t kMost = 4;
    std::vector<PipelineShape> shapes;
    if (found)
      shapes.push_back(found->shape);
    for (const auto &[estimate, shape] : all)
      if (!best.fits() && shape.width > 1 && shapes.size() < kMost)
        shapes.push_back(shape);
    for (PipelineShape shape : shapes)
      for (shape.tensor = 2; shape.tensor <= shape.width; shape.tensor *= 2) {
        if (!cuts.isPossible(shape) || isOver(1.5) ||
            (best.fits() && cuts.estimate(shape) > best.makespan))
          continue;
        tryAll(shape, cuts.cut(shape).begins);
      }
  }

  /// Of the shape that was found, the schedules that only pay where there is
  /// nothing to wait for but the passes of other stages.
  void refine() {
    const Pipeline from = *found;
    for (const PipelineSchedule &schedule : schedulesOf(from.shape))
      if (schedule.defersWeights)
        tryOne({from.shape, schedule, from.begins, from.strategy, {}});
    PipelineShape shape = from.shape;
    for (shape.rounds = 2; shape.rounds <= PipelineCuts::kMostRounds;
         shape.rounds *= 2) {
      if (shape.stages == 1 || !cuts.isPossible(shape))
        return;
      const PipelineCuts::Begins begins = cuts.cut(shape).begins;
      if (const auto strategy = cuts.strategy(shape, begins))
        tryOne({shape, {shape.microBatches, 1}, begins, *strategy, {}});
    }
  }

  /// Estimates know nothing of gradients of weights that fill the time in which
  /// stages would wait. Some shapes that look slower than what is known, but by
  /// no more than that may be worth, are tried with such schedules.
  void tryNear(const std::vector<std::pair<Picoseconds, PipelineShape>> &all) {
    constexpr int kMost = 3;
    int near = 0;
    for (const auto &[estimate, shape] : all) {
      if (!looksSlower(estimate))
        continue;
      if (isOver(1.5) || near++ == kMost ||
          looksSlower(estimate - estimate / 5))
        return;
      tryAll(shape, cuts.cut(shape).begins, /*deferringWeights=*/true);
    }
  }

  bool tryOne(Pipeline pipeline) {
    if (goesOn && !goesOn())
      return false;
    ++tried;
    pipeline.quality =
        judge.qualityIfBetter(pipeline.strategy, pipeline.schedule, best);
    if (!pipeline.quality.fits())
      noteUnfitting(pipeline);
    if (!(pipeline.quality < best))
      return false;
    best = pipeline.quality;
    found = std::move(pipeline);
    return true;
  }

  void noteUnfitting(const Pipeline &pipeline) {
    constexpr size_t kMost = 4;
    const auto place = std::find_if(
        unfitting.begin(), unfitting.end(), [&](const Pipeline &other) {
          return pipeline.quality.makespan < other.quality.makespan;
        });
    unfitting.insert(place, pipeline);
    if (unfitting.size() > kMost)
      unfitting.pop_back();
  }

  /// Moves a cut of what was found if that makes it better.
  bool improve() {
    const Pipeline from = *found;
    for (size_t which = 0; which < from.begins.size(); ++which)
      for (bool before : {true, false}) {
        const auto begins = cuts.moved(from.begins, which, before);
        if (!begins || isOver(2))
          continue;
        const auto strategy = cuts.strategy(from.shape, *begins);
        if (strategy &&
            tryOne({from.shape, from.schedule, *begins, *strategy, {}}))
          return true;
      }
    return false;
  }

  PlanJudge &judge;
  const Graph &graph;
  const Topology &topology;
  Quality best;
  const int fewestStages;
  const std::function<bool()> &goesOn;
  const bool isFarOff; ///< at the beginning
  PipelineCuts cuts;
  const int64_t begin; ///< work that was done before
  int tried = 0;
  std::optional<Pipeline> found;
  std::vector<Pipeline> unfitting; ///< fastest first
};

} // namespace

PipelineResult search::searchPipelines(PlanJudge &judge, const Quality &best,
                                       int fewestStages,
                                       const std::function<bool()> &goesOn) {
  return PipelineSearch(judge, best, fewestStages, goesOn).run();
}
