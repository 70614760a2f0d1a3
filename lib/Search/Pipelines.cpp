//===- Pipelines.cpp - strategies that are pipelines ----------------------===//

#include "ffc/Search/Pipelines.h"

#include "ffc/Search/Recompute.h"

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
        cuts(graph, judge.planning().cost, topology.numDevices(), isFarOff),
        begin(judge.work()) {}

  PipelineResult run() {
    if (isFarOff)
      return {std::nullopt, expertShapes()};
    const auto all = shapes();
    for (const auto &[estimate, shape] : all) {
      if (isOver(1) || (best.fits() && estimate > best.makespan))
        break;
      tryAll(shape, cuts.cut(shape).begins);
    }
    shareLayers(all);
    if (found)
      refine();
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
  /// Grid points of a plan.
  static constexpr int64_t kMostPoints = 40000000;

  bool isOver(double share) const {
    const int64_t done = judge.work() - begin;
    return done >= PlanJudge::kMostWork ||
           (tried >= share * kFewest &&
            static_cast<double>(done) >= share * kMostWork);
  }

  int64_t pointsOf(const PipelineShape &shape) const {
    return static_cast<int64_t>(graph.ops.size()) * shape.width *
           shape.microBatches;
  }

  std::vector<std::pair<Picoseconds, PipelineShape>> shapes() const {
    std::vector<std::pair<Picoseconds, PipelineShape>> all;
    const int devices = topology.numDevices();
    const int most = std::min(devices, PipelineCuts::kMostStages);
    for (int stages = fewestStages; stages <= most; ++stages)
      for (int width = 1; stages * width <= devices; width *= 2)
        for (int microBatches = 2; microBatches <= 256; microBatches *= 2) {
          const PipelineShape shape{stages, width, microBatches};
          if (pointsOf(shape) > kMostPoints)
            break;
          const Picoseconds estimate = cuts.estimate(shape);
          if (estimate < kMaxCost)
            all.push_back({estimate, shape});
        }
    std::stable_sort(all.begin(), all.end(), [](const auto &a, const auto &b) {
      return a.first < b.first;
    });
    return all;
  }

  /// What else takes memory.
  struct Kept {
    /// Bytes of results for the whole batch that have to be kept if the others
    /// are computed again.
    int64_t bytes = 0;
    /// Beside these, the largest result and its gradient: the logits, say, when
    /// the gradient of their weight is made.
    bool withResults = false;
  };

  /// What experts take for models that are far too large, untimed: the samples
  /// are shared by all devices, or by groups that share layers, or these are
  /// stages of pipelines; those that look fastest and may fit. Updates are
  /// shared.
  std::vector<Pipeline> expertShapes() const {
    constexpr size_t kMost = 6;
    const Recomputable recomputable(graph, judge.planning().cost);
    const int64_t kept = recomputable.bytesOf(recomputable.leastSegments());
    std::vector<Pipeline> all;
    const int devices = topology.numDevices();
    for (int stages = 1; stages <= devices; stages *= 2)
      for (int tensor = 1; tensor * stages <= devices; tensor *= 2)
        for (bool sendsAgain : {false, true})
          for (bool withResults : {false, true}) {
            const auto one = withMicroBatches(stages, tensor, sendsAgain,
                                              {kept, withResults});
            if (!one)
              break;
            if (withResults && !all.empty() && one->name() == all.back().name())
              continue;
            all.push_back(*one);
          }
    std::stable_sort(all.begin(), all.end(),
                     [](const Pipeline &a, const Pipeline &b) {
                       return a.quality.makespan < b.quality.makespan;
                     });
    all.resize(std::min(all.size(), kMost));
    for (Pipeline &one : all) {
      one.begins = cuts.cut(one.shape).begins;
      if (auto strategy = cuts.strategy(one.shape, one.begins))
        one.strategy = std::move(*strategy);
    }
    all.erase(std::remove_if(
                  all.begin(), all.end(),
                  [](const Pipeline &one) { return one.strategy.empty(); }),
              all.end());
    return all;
  }

  /// With the fewest micro-batches that may fit and of which twice as many
  /// would not make much less of the time in which the pipeline fills and
  /// empties; nothing if none fit.
  std::optional<Pipeline> withMicroBatches(int stages, int tensor,
                                           bool sendsAgain,
                                           const Kept &kept) const {
    std::optional<Pipeline> best;
    for (int microBatches = 2; microBatches <= 1024; microBatches *= 2) {
      Pipeline one;
      one.shape.stages = stages;
      one.shape.width = topology.numDevices() / stages;
      one.shape.microBatches = microBatches;
      one.shape.tensor = tensor;
      one.shape.sharesUpdates = one.shape.groups() > 1;
      one.shape.sendsAgain = sendsAgain;
      if (sendsAgain && !one.shape.sharesUpdates)
        return std::nullopt;
      one.schedule = {microBatches, 1};
      one.quality.makespan = cuts.estimate(one.shape);
      if (one.quality.makespan >= kMaxCost ||
          pointsOf(one.shape) > kMostPoints || !mayFit(one.shape, kept))
        continue;
      if (!best || one.quality.makespan + one.quality.makespan / 20 <
                       best->quality.makespan)
        best = one;
    }
    return best;
  }

  /// Bytes of what a step needs.
  struct Needs {
    int64_t state = 0; ///< that is updated
    int64_t parameters = 0,
            gradients = 0;            ///< read forward, and read by updates
    int64_t result = 0, gradient = 0; ///< the largest ones
  };
  Needs needs() const {
    Needs all;
    auto isReadBy = [&](const Value &value, OpRole role) {
      return std::any_of(value.uses.begin(), value.uses.end(), [&](Use use) {
        return graph.op(use.op).role == role;
      });
    };
    for (const State &each : graph.states)
      if (each.written >= 0) {
        const Value &value = graph.value(each.read);
        all.state += value.type.bytes();
        if (isReadBy(value, OpRole::Forward))
          all.parameters += value.type.bytes();
      }
    for (const Value &value : graph.values) {
      if (value.producer < 0)
        continue;
      const OpRole role = graph.op(value.producer).role;
      if (role == OpRole::Forward)
        all.result = std::max(all.result, value.type.bytes());
      if (role == OpRole::Gradient && isReadBy(value, OpRole::Update)) {
        all.gradients += value.type.bytes();
        all.gradient = std::max(all.gradient, value.type.bytes());
      }
    }
    return all;
  }

  /// Does what is updated fit beside that?
  bool mayFit(const PipelineShape &shape, const Kept &kept) const {
    const Needs all = needs();
    int64_t memory = INT64_MAX;
    for (DeviceId id = 0; id < topology.numDevices(); ++id)
      memory = std::min(memory, topology.kindOf(id).memoryBytes);
    // As many micro-batches are under way as there are stages, each of which
    // has its part of them.
    const int64_t stages = shape.stages, shares = stages * shape.tensor;
    // Sums of gradients are whole in each group, and so is what is gathered,
    // unless no more of them is there than one layer needs.
    const int64_t whole =
        shape.sendsAgain
            ? all.gradients / shape.groups()
            : all.gradients + (shape.sharesUpdates ? all.parameters : 0);
    const int64_t blocks = int64_t(shape.microBatches) * shape.groups();
    const int64_t results =
        kept.withResults ? 2 * all.result / blocks + all.gradient / shape.tensor
                         : 0;
    return all.state / (stages * shape.width) + whole / shares +
               kept.bytes / blocks + results <=
           memory;
  }

  void tryAll(const PipelineShape &shape, const PipelineCuts::Begins &begins) {
    const auto strategy = cuts.strategy(shape, begins);
    if (!strategy)
      return;
    for (const PipelineSchedule &schedule : schedulesOf(shape))
      if (!schedule.defersWeights)
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
