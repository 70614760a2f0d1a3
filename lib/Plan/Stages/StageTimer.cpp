//===- StageTimer.cpp - time and memory of plans of stages ----------------===//

#include "ffc/Plan/StageTimer.h"

#include "Order/PassOrder.h"

#include "ffc/Plan/Topology.h"

#include <algorithm>
#include <map>

using namespace ffc::plan;

std::optional<std::string> StageTimer::check(const StagePlan &plan) const {
  if (plan.model != model.name || plan.layers != model.layers)
    return "expected a plan of '" + model.name + "' with " +
           std::to_string(model.layers) + " layers, found one of '" +
           plan.model + "' with " + std::to_string(plan.layers);
  const int end = plan.stages.empty() ? 0 : plan.stages.back().end();
  if (end != model.size())
    return "expected stages with all " + std::to_string(model.size()) +
           " operators of the model, found " + std::to_string(end);
  for (const PlannedStage &stage : plan.stages)
    for (int op = stage.first; op < stage.end(); ++op) {
      const OperatorSplit &split = stage.ops[op - stage.first];
      const int data = stage.devices / split.tensor;
      const std::string where =
          "operator " + std::to_string(op) + " ('" + model.ops[op].name + "')";
      if (plan.microBatch % data)
        return where + ": expected a micro-batch that " + std::to_string(data) +
               " devices can share, found " + std::to_string(plan.microBatch) +
               " samples";
      if (!profile.table(plan.microBatch / data, split.tensor, split.algorithm))
        return where + ": expected '" +
               profile.tableName(plan.microBatch / data, split.tensor,
                                 split.algorithm) +
               "' among the tables, found none";
    }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Time
//===----------------------------------------------------------------------===//

std::pair<double, double>
StageTimer::reshard(int op, int devices, int microBatch,
                    const OperatorSplit &prev,
                    const OperatorSplit &split) const {
  if (!model.hasLayouts)
    return {0, 0};
  const StageLayout from =
      layoutOf(model.ops[op - 1].rule, prev.tensor, devices / prev.tensor,
               prev.algorithm, /*isInput=*/false);
  const StageLayout to =
      layoutOf(model.ops[op].rule, split.tensor, devices / split.tensor,
               split.algorithm, /*isInput=*/true);
  if (from == to || from.isAny || to.isAny)
    return {0, 0};
  const double size = row(op, devices, microBatch, split).input;
  auto time = [&](StageCollective kind, int members) {
    const CollectiveTable *table = profile.collective(kind, members);
    return 1000 * (table ? table->nearest(size) : CollectiveTable::kUnknown);
  };
  // Each keeps its part of what all had; gradients are put together again.
  if (to.copies < from.copies)
    return {0, time(StageCollective::AllGather, from.copies / to.copies)};
  int fallen = 1;
  for (int dim = 0; dim < 3; ++dim)
    if (to.splits[dim] < from.splits[dim])
      fallen = from.splits[dim] / to.splits[dim];
  if (to.copies > from.copies)
    return {time(StageCollective::AllGather, fallen), 0};
  const double exchanged = time(StageCollective::AllToAll, fallen);
  return {exchanged, exchanged};
}

StageTime StageTimer::timeOf(const PlannedStage &stage, int microBatch,
                             int before, int devicesPerNode) const {
  StageTime time;
  for (int op = stage.first; op < stage.end(); ++op) {
    const OperatorSplit &split = stage.ops[op - stage.first];
    const StageRow &each = row(op, stage.devices, microBatch, split);
    time.forward += each.forward;
    time.backward += each.backward;
    if (split.isAgain)
      time.again += each.forward;
    if (op == stage.first)
      continue;
    const auto [forward, backward] = reshard(
        op, stage.devices, microBatch, stage.ops[op - stage.first - 1], split);
    time.reshardForward += forward;
    time.reshardBackward += backward;
  }
  const int after = before + stage.devices;
  time.in = profile.link(before && before % devicesPerNode == 0)
                .asOrigin(row(stage.first, stage.devices, microBatch,
                              stage.ops.front())
                              .input);
  // The origin takes its own samples, but the first operator's tensor degree.
  const OperatorSplit &last = stage.ops.back();
  const StageTable *table =
      profile.table(microBatch / (stage.devices / last.tensor),
                    stage.ops.front().tensor, last.algorithm);
  const double output =
      table ? (*table)[model.ops[stage.end() - 1].row].output
            : row(stage.end() - 1, stage.devices, microBatch, last).output;
  time.out = profile.link(after % devicesPerNode == 0).asOrigin(output);
  return time;
}

/// When the stages have done all of their passes, in microseconds.
static std::vector<double>
endsOf(const std::vector<std::pair<double, double>> &passes, int microBatches,
       double travel) {
  std::vector<PassStage> stages;
  for (const auto &[forward, backward] : passes)
    stages.push_back(
        {{static_cast<DeviceId>(stages.size())}, forward, backward});
  std::vector<double> ends(stages.size());
  for (const TimedPass &pass :
       orderPasses(stages, {microBatches}, /*overlaps=*/false, travel))
    ends[pass.stage] = std::max(ends[pass.stage], pass.end);
  return ends;
}

double ffc::plan::timeOneForwardOneBackward(
    const std::vector<std::pair<double, double>> &passes, int microBatches,
    double travel) {
  const std::vector<double> ends = endsOf(passes, microBatches, travel);
  return *std::max_element(ends.begin(), ends.end()) / 1000;
}

StagePlanCost StageTimer::cost(const StagePlan &plan) const {
  StagePlanCost result;
  const int count = static_cast<int>(plan.stages.size());
  std::vector<std::pair<double, double>> passes;
  double slowest = 0, sum = 0;
  int before = 0;
  for (int s = 0; s < count; ++s) {
    const StageCost &each = result.stages.emplace_back(
        cost(plan.stages[s], plan.microBatch, count - 1 - s, before,
             plan.devicesPerNode));
    before += plan.stages[s].devices;
    passes.push_back({each.time.forwardPass(), each.time.backwardPass()});
    slowest = std::max(slowest, each.time.total() / 1000);
    sum += each.time.total() / 1000;
    result.memory = std::max(result.memory, each.memory.total());
  }
  result.formula = (plan.numMicroBatches() - 1) * slowest + sum;
  result.exact = timeOneForwardOneBackward(passes, plan.numMicroBatches());
  result.predicted = predict(plan, result);
  return result;
}

/// The sum of a stage's gradients over its data parallel devices, in
/// microseconds. By the tables of all-reduces, else by a ring over the links.
double StageTimer::gradientSum(const PlannedStage &stage, int microBatch,
                               int devicesPerNode) const {
  std::map<int, double> weights; ///< by how many devices have them
  for (int op = stage.first; op < stage.end(); ++op) {
    const OperatorSplit &split = stage.ops[op - stage.first];
    weights[stage.devices / split.tensor] +=
        row(op, stage.devices, microBatch, split).weights;
  }
  double time = 0;
  for (auto [members, size] : weights) {
    if (members == 1)
      continue;
    const CollectiveTable *table =
        profile.collective(StageCollective::AllReduce, members);
    time += table && stage.devices <= devicesPerNode
                ? 1000 * table->between(size)
                : profile.link(stage.devices > devicesPerNode)
                      .microseconds(2.0 * (members - 1) / members * size);
  }
  return time;
}

/// MiB that the memory of a V100 moves in a microsecond. Profiles do not say
/// what they were measured on; those that are known are of V100s.
static double memoryRate() {
  const std::vector<DeviceKind> &kinds = presetKinds();
  const auto kind =
      std::find_if(kinds.begin(), kinds.end(),
                   [](const DeviceKind &each) { return each.name == "v100"; });
  return kind->memoryBandwidth / (1 << 20) / 1e6;
}

/// The update of a stage's parameters, in microseconds: memory is the limit.
/// Gradients are read for their norm and for the update, and set to zero;
/// parameters in full precision and the optimizer's states are read and
/// written; narrow parameters are written.
double StageTimer::update(const StageMemory &memory) const {
  const bool isNarrow = model.masterCopies > 0;
  return (3 * memory.gradients + 2 * (memory.masters + memory.optimizer) +
          (isNarrow ? 1 : 2) * memory.weights) /
         memoryRate();
}

double StageTimer::predict(const StagePlan &plan,
                           const StagePlanCost &cost) const {
  std::vector<std::pair<double, double>> passes;
  int before = 0;
  for (size_t s = 0; s < plan.stages.size(); ++s) {
    const PlannedStage &stage = plan.stages[s];
    StageTime time = cost.stages[s].time;
    const int after = before + stage.devices;
    time.in = time.out = 0;
    if (s > 0)
      time.in = profile.link(before % plan.devicesPerNode == 0)
                    .microseconds(row(stage.first, stage.devices,
                                      plan.microBatch, stage.ops.front())
                                      .input);
    if (s + 1 < plan.stages.size())
      time.out = profile.link(after % plan.devicesPerNode == 0)
                     .microseconds(row(stage.end() - 1, stage.devices,
                                       plan.microBatch, stage.ops.back())
                                       .output);
    passes.push_back({time.forwardPass(), time.backwardPass()});
    before = after;
  }
  const std::vector<double> ends =
      endsOf(passes, plan.numMicroBatches(), /*travel=*/0);
  // All wait for the norm of all gradients.
  double summed = 0, updated = 0;
  for (size_t s = 0; s < ends.size(); ++s) {
    summed =
        std::max(summed, ends[s] + gradientSum(plan.stages[s], plan.microBatch,
                                               plan.devicesPerNode));
    updated = std::max(updated, update(cost.stages[s].memory));
  }
  return (summed + updated) / 1000;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

StageCost StageTimer::cost(const PlannedStage &stage, int microBatch, int later,
                           int before, int devicesPerNode) const {
  return {timeOf(stage, microBatch, before, devicesPerNode),
          memoryOf(stage, microBatch, later)};
}

StageMemory StageTimer::memoryOf(const PlannedStage &stage, int microBatch,
                                 int later) const {
  StageMemory memory;
  double kept =
      row(stage.first, stage.devices, microBatch, stage.ops.front()).input;
  double run = 0, forward = 0, backward = 0;
  auto endRun = [&] {
    memory.peak = std::max(memory.peak, run);
    run = 0;
  };
  for (int op = stage.first; op < stage.end(); ++op) {
    const StageOperator &info = model.ops[op];
    const OperatorSplit &split = stage.ops[op - stage.first];
    const StageRow &each = row(op, stage.devices, microBatch, split);
    const double size = info.kept * each.activations;
    memory.weights += each.weights;
    kept += size;
    if (op + 1 == stage.end())
      break;
    forward = std::max(forward, each.forwardReserved);
    backward = std::max(backward, each.backwardReserved);
    // What an operator makes is not kept if the next one is done again, too.
    if (!split.isAgain || !stage.ops[op + 1 - stage.first].isAgain) {
      endRun();
      continue;
    }
    const bool endsBlock = model.ops[op + 1].startsBlock && !info.isShared;
    if (!endsBlock)
      kept -= size;
    run += size;
    if (endsBlock || (op + 2 == stage.end() && !info.isShared))
      endRun();
  }
  memory.masters = model.masterCopies * memory.weights;
  memory.gradients = memory.weights;
  memory.optimizer = model.optimizerStates * memory.weights;
  memory.inFlight = later * kept;
  memory.current = kept;
  memory.reserved = std::max(forward + backward, memory.weights);
  return memory;
}
