//===- PipelineSchedule.cpp - pipelines of micro-batches ------------------===//

#include "ffc/Plan/PipelineSchedule.h"

#include "PassOrder.h"
#include "PipelineStages.h"
#include "StepOrder.h"
#include "ffc/Plan/Recomputation.h"
#include "ffc/Plan/SampleDims.h"

#include <algorithm>
#include <numeric>

using namespace ffc::plan;

std::string PipelineSchedule::str() const {
  if (!isPipeline())
    return "none";
  if (defersWeights)
    return ahead <= 2 ? "zb-h" + std::to_string(ahead)
                      : "zb:" + std::to_string(ahead);
  if (ahead >= microBatches)
    return "gpipe";
  return ahead == 1 ? "1f1b" : "1f1b:" + std::to_string(ahead);
}

std::vector<PipelineSchedule> ffc::plan::pipelineSchedules(int microBatches) {
  std::vector<PipelineSchedule> all = {
      {microBatches, 1}, {microBatches, microBatches}, {microBatches, 1, true}};
  if (microBatches > 2) {
    all.push_back({microBatches, 2});
    all.push_back({microBatches, 2, true});
  }
  return all;
}

//===----------------------------------------------------------------------===//
// Micro-batches of a strategy
//===----------------------------------------------------------------------===//

/// Into how many blocks along `dim`, alike and on the same devices each, the
/// configuration can be cut.
static int blocksOf(const Configuration &config, int dim) {
  const int64_t degree = config.degreeOf(dim);
  auto repeats = [&](int64_t blocks) {
    const int64_t inner = degree / blocks;
    for (const GridAxis &axis : config.axes)
      if (axis.dim == dim && !axis.shares.empty() &&
          !std::equal(axis.shares.begin() + inner, axis.shares.end(),
                      axis.shares.begin()))
        return false;
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

/// As if passes took as long as their operations say.
static std::vector<PassStage> passStagesOf(const PipelineStages &stages) {
  std::vector<PassStage> result;
  for (int stage = 0; stage < stages.numStages(); ++stage)
    result.push_back({stages.devicesOf(stage),
                      stages.operationsOf(stage, PassKind::Forward),
                      stages.operationsOf(stage, PassKind::Backward),
                      stages.operationsOf(stage, PassKind::Weights)});
  return result;
}

std::vector<Turn> ffc::plan::turnsOf(const Graph &graph,
                                     const Strategy &strategy,
                                     const PipelineSchedule &schedule,
                                     bool overlaps) {
  return turnsOf(graph, OperatorOrder(graph, overlaps), strategy, schedule);
}

std::vector<Turn> ffc::plan::turnsOf(const Graph &graph,
                                     const OperatorOrder &operators,
                                     const Strategy &strategy,
                                     const PipelineSchedule &schedule) {
  std::vector<Turn> turns;
  if (!schedule.isPipeline()) {
    for (OpId op : operators.all())
      turns.push_back({op});
    return withRecomputation(graph, strategy, turns);
  }
  const PipelineStages stages(graph, strategy, schedule.microBatches,
                              schedule.defersWeights);
  auto addWhole = [&](PipelineStages::Place place) {
    for (OpId op : operators.all())
      if (stages.placeOf(op) == place)
        turns.push_back({op});
  };
  addWhole(PipelineStages::Place::Before);
  for (const TimedPass &pass :
       orderPasses(passStagesOf(stages), schedule, operators.overlaps()))
    for (OpId op : stages.operatorsOf(pass.stage, pass.kind))
      turns.push_back(
          {op, pass.microBatch, schedule.microBatches, stages.dimOf(op)});
  addWhole(PipelineStages::Place::After);
  noteOwnSums(graph, strategy, turns);
  return withRecomputation(graph, strategy, turns);
}

int ffc::plan::numStages(const Graph &graph, const Strategy &strategy,
                         const PipelineSchedule &schedule) {
  return PipelineStages(graph, strategy, schedule.microBatches).numStages();
}
