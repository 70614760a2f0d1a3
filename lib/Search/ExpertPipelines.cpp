//===- ExpertPipelines.cpp - what experts take for large models -----------===//

#include "ExpertPipelines.h"

#include "ffc/Search/Recompute.h"

#include <algorithm>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

namespace {

/// Bytes of what a step needs.
struct Needs {
  int64_t state = 0;                ///< that is updated
  int64_t parameters = 0;           ///< of it, what is read forward
  int64_t gradients = 0;            ///< that updates read
  int64_t result = 0, gradient = 0; ///< the largest ones
  /// Results for the whole batch that are kept if all others are computed
  /// again.
  int64_t kept = 0;
};

bool isReadBy(const Graph &graph, const Value &value, OpRole role) {
  return std::any_of(value.uses.begin(), value.uses.end(),
                     [&](Use use) { return graph.op(use.op).role == role; });
}

Needs needsOf(const Graph &graph, const CostModel &cost) {
  Needs all;
  for (const State &each : graph.states)
    if (each.written >= 0) {
      const Value &value = graph.value(each.read);
      all.state += value.type.bytes();
      if (isReadBy(graph, value, OpRole::Forward))
        all.parameters += value.type.bytes();
    }
  for (const Value &value : graph.values) {
    if (value.producer < 0)
      continue;
    const OpRole role = graph.op(value.producer).role;
    if (role == OpRole::Forward)
      all.result = std::max(all.result, value.type.bytes());
    if (role == OpRole::Gradient && isReadBy(graph, value, OpRole::Update)) {
      all.gradients += value.type.bytes();
      all.gradient = std::max(all.gradient, value.type.bytes());
    }
  }
  const Recomputable recomputable(graph, cost);
  all.kept = recomputable.bytesOf(recomputable.leastSegments());
  return all;
}

/// What a device needs: at least, or with the largest result and its gradient
/// (the logits, say) when the gradient of a weight is made of them.
int64_t bytesOf(const PipelineShape &shape, const Needs &needs,
                bool withResults) {
  const int64_t stages = shape.stages, shares = stages * shape.tensor;
  // Sums of gradients are whole in each group, and so is what is gathered,
  // unless no more of them is there than one layer needs.
  const int64_t whole =
      shape.sendsAgain
          ? needs.gradients / shape.groups()
          : needs.gradients + (shape.sharesUpdates ? needs.parameters : 0);
  // As many micro-batches are under way as there are stages, each of which has
  // its part of them.
  const int64_t blocks = int64_t(shape.microBatches) * shape.groups();
  const int64_t results =
      withResults ? 2 * needs.result / blocks + needs.gradient / shape.tensor
                  : 0;
  return needs.state / (stages * shape.width) + whole / shares +
         needs.kept / blocks + results;
}

class Experts {
public:
  Experts(const Planning &planning, const PipelineCuts &cuts)
      : cuts(cuts), numDevices(planning.topology.numDevices()),
        needs(needsOf(planning.graph, planning.cost)) {
    for (DeviceId id = 0; id < numDevices; ++id)
      memory = std::min(memory, planning.topology.kindOf(id).memoryBytes);
  }

  std::vector<Pipeline> run() {
    constexpr size_t kMost = 6;
    for (int stages = 1; stages <= numDevices; stages *= 2)
      for (int tensor = 1; tensor * stages <= numDevices; tensor *= 2)
        addShapes(stages, tensor);
    std::stable_sort(all.begin(), all.end(),
                     [](const Pipeline &a, const Pipeline &b) {
                       return a.quality.makespan < b.quality.makespan;
                     });
    all.resize(std::min(all.size(), kMost));
    std::vector<Pipeline> result;
    for (Pipeline &one : all) {
      one.begins = cuts.cut(one.shape).begins;
      if (auto strategy = cuts.strategy(one.shape, one.begins)) {
        one.strategy = std::move(*strategy);
        result.push_back(std::move(one));
      }
    }
    return result;
  }

private:
  void addShapes(int stages, int tensor) {
    PipelineShape shape;
    shape.stages = stages;
    shape.width = numDevices / stages;
    shape.tensor = tensor;
    shape.sharesUpdates = shape.groups() > 1;
    addMicroBatches(shape);
    shape.sendsAgain = true;
    if (shape.sharesUpdates)
      addMicroBatches(shape);
  }

  /// The fewest that may fit at best, and if others the fewest that do with the
  /// largest result: it is not known what comes together.
  void addMicroBatches(const PipelineShape &shape) {
    const auto first = withMicroBatches(shape, /*withResults=*/false);
    if (!first)
      return;
    all.push_back(*first);
    const auto other = withMicroBatches(shape, /*withResults=*/true);
    if (other && other->shape.microBatches != first->shape.microBatches)
      all.push_back(*other);
  }

  /// With the fewest micro-batches that may fit and of which twice as many
  /// would not make much less of the time in which the pipeline fills and
  /// empties; nothing if none fit.
  std::optional<Pipeline> withMicroBatches(PipelineShape shape,
                                           bool withResults) const {
    std::optional<Pipeline> best;
    for (int microBatches = 2; microBatches <= 1024; microBatches *= 2) {
      shape.microBatches = microBatches;
      const Picoseconds estimate = cuts.estimate(shape);
      if (estimate >= kMaxCost || bytesOf(shape, needs, withResults) > memory)
        continue;
      if (best && estimate + estimate / 20 >= best->quality.makespan)
        continue;
      best.emplace();
      best->shape = shape;
      best->schedule = {microBatches, 1};
      best->quality.makespan = estimate;
    }
    return best;
  }

  const PipelineCuts &cuts;
  const int numDevices;
  const Needs needs;
  int64_t memory = INT64_MAX; ///< of the smallest device
  std::vector<Pipeline> all;
};

} // namespace

std::vector<Pipeline> search::expertPipelines(const Planning &planning,
                                              const PipelineCuts &cuts) {
  return Experts(planning, cuts).run();
}
