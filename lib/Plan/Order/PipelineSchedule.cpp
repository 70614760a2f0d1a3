//===- PipelineSchedule.cpp - pipelines of micro-batches ------------------===//

#include "ffc/Plan/PipelineSchedule.h"

#include "PipelineStages.h"
#include "ffc/Plan/Recomputation.h"
#include "ffc/Plan/SampleDims.h"

#include <algorithm>
#include <map>
#include <numeric>

using namespace ffc::plan;

std::string PipelineSchedule::str() const {
  if (!isPipeline())
    return "none";
  if (ahead >= microBatches)
    return "gpipe";
  return ahead == 1 ? "1f1b" : "1f1b:" + std::to_string(ahead);
}

//===----------------------------------------------------------------------===//
// Micro-batches of a strategy
//===----------------------------------------------------------------------===//

/// Into how many blocks along `dim`, on the same devices each, the
/// configuration can be cut.
static int blocksOf(const Configuration &config, int dim) {
  const int64_t degree = config.degreeOf(dim);
  auto repeats = [&](int64_t blocks) {
    const int64_t inner = degree / blocks;
    for (int64_t point = 0; point < config.numPoints(); ++point) {
      std::vector<int64_t> at = config.coordinates(point);
      int64_t first = 0;
      for (size_t axis = 0; axis < config.axes.size(); ++axis)
        first = first * config.axes[axis].degree +
                (config.axes[axis].dim == dim ? at[axis] % inner : at[axis]);
      if (config.devices[point] != config.devices[first])
        return false;
    }
    return true;
  };
  for (int64_t blocks = degree; blocks > 1; --blocks)
    if (degree % blocks == 0 && repeats(blocks))
      return static_cast<int>(blocks);
  return 1;
}

int ffc::plan::numMicroBatches(const Graph &graph, const Strategy &strategy) {
  const std::vector<int> dims = sampleDims(graph);
  int common = 0;
  for (OpId op = 0; op < static_cast<OpId>(graph.ops.size()); ++op)
    if (graph.op(op).role == OpRole::Forward && dims[op] >= 0)
      common = std::gcd(common, blocksOf(strategy[op], dims[op]));
  return std::max(common, 1);
}

//===----------------------------------------------------------------------===//
// The order of a pipeline
//===----------------------------------------------------------------------===//

namespace {

/// Forward or backward pass of a stage for a micro-batch.
struct Pass {
  int stage;
  bool isBackward;
  int microBatch;
};

/// Brings the passes of all stages into one order that keeps each stage's: by
/// when they would start if they took as long as their operations say. What is
/// further on its way comes first, so that it is received before the next one
/// is made.
class PassOrder {
public:
  PassOrder(const PipelineStages &stages, const PipelineSchedule &schedule,
            bool overlaps)
      : stages(stages), schedule(schedule), overlaps(overlaps),
        next(stages.numStages()), ends(2 * stages.numStages()) {
    for (int stage = 0; stage < stages.numStages(); ++stage)
      passes.push_back(passesOf(stage));
  }

  std::vector<Pass> run() {
    std::vector<Pass> order;
    for (;;) {
      int best = -1;
      double bestStart = 0;
      for (int stage = 0; stage < stages.numStages(); ++stage) {
        if (!isReady(stage))
          continue;
        const double start = startOf(stage);
        if (best < 0 || start < bestStart ||
            (start == bestStart && depth(stage) > depth(best))) {
          best = stage;
          bestStart = start;
        }
      }
      if (best < 0)
        return order;
      order.push_back(passes[best][next[best]]);
      finish(best, bestStart);
    }
  }

private:
  std::vector<Pass> passesOf(int stage) const {
    const int all = schedule.microBatches;
    const int later = stages.numStages() - 1 - stage;
    const int warm = static_cast<int>(
        std::min<int64_t>(all, 1 + int64_t(schedule.ahead) * later));
    std::vector<Pass> result;
    // The last stage of GPipe does all forward passes first, too.
    int forward = schedule.ahead >= all ? all : warm, backward = 0;
    for (int i = 0; i < forward; ++i)
      result.push_back({stage, false, i});
    while (backward < all) {
      result.push_back({stage, true, backward++});
      if (forward < all)
        result.push_back({stage, false, forward++});
    }
    return result;
  }

  /// The stages of both passes in the order in which a micro-batch goes through
  /// them.
  int depthOf(const Pass &pass) const {
    return pass.isBackward ? 2 * stages.numStages() - 1 - pass.stage
                           : pass.stage;
  }
  int depth(int stage) const { return depthOf(passes[stage][next[stage]]); }

  bool isReady(int stage) const {
    if (next[stage] == passes[stage].size())
      return false;
    const Pass &pass = passes[stage][next[stage]];
    const int before = depthOf(pass) - 1;
    return before < 0 ||
           static_cast<int>(ends[before].size()) > pass.microBatch;
  }

  double startOf(int stage) const {
    const Pass &pass = passes[stage][next[stage]];
    const int before = depthOf(pass) - 1;
    double start = before < 0 ? 0 : ends[before][pass.microBatch];
    // What travels is asked for before the pass in front is done, if the stage
    // before is ahead by more than what it makes in between.
    if (overlaps && schedule.ahead > 1 && before >= 0 &&
        before != stages.numStages() - 1)
      start += stages.operationsOf(pass.stage, pass.isBackward);
    for (DeviceId device : stages.devicesOf(stage)) {
      const auto it = busy.find(device);
      start = std::max(start, it == busy.end() ? 0 : it->second);
    }
    return start;
  }

  void finish(int stage, double start) {
    const Pass &pass = passes[stage][next[stage]++];
    const double end = start + stages.operationsOf(stage, pass.isBackward);
    ends[depthOf(pass)].push_back(end);
    for (DeviceId device : stages.devicesOf(stage))
      busy[device] = end;
  }

  const PipelineStages &stages;
  const PipelineSchedule &schedule;
  const bool overlaps;
  std::vector<std::vector<Pass>> passes; ///< by stage
  std::vector<size_t> next;              ///< by stage
  std::vector<std::vector<double>> ends; ///< by depth and micro-batch
  std::map<DeviceId, double> busy;       ///< until when
};

} // namespace

std::vector<Turn> ffc::plan::turnsOf(const Graph &graph,
                                     const Strategy &strategy,
                                     const PipelineSchedule &schedule,
                                     bool overlaps) {
  std::vector<Turn> turns;
  const auto end = static_cast<OpId>(graph.ops.size());
  if (!schedule.isPipeline()) {
    for (OpId op = 0; op < end; ++op)
      turns.push_back({op});
    return withRecomputation(graph, strategy, turns);
  }
  const PipelineStages stages(graph, strategy, schedule.microBatches);
  auto addWhole = [&](PipelineStages::Place place) {
    for (OpId op = 0; op < end; ++op)
      if (stages.placeOf(op) == place)
        turns.push_back({op});
  };
  addWhole(PipelineStages::Place::Before);
  for (const Pass &pass : PassOrder(stages, schedule, overlaps).run())
    for (OpId op : stages.operatorsOf(pass.stage, pass.isBackward))
      turns.push_back(
          {op, pass.microBatch, schedule.microBatches, stages.dimOf(op)});
  addWhole(PipelineStages::Place::After);
  return withRecomputation(graph, strategy, turns);
}

int ffc::plan::numStages(const Graph &graph, const Strategy &strategy,
                         const PipelineSchedule &schedule) {
  return PipelineStages(graph, strategy, schedule.microBatches).numStages();
}
