//===- PipelineCuts.cpp - strategies of stages, where a model is cut ------===//

#include "ffc/Search/Pipelines.h"

#include "KernelTime.h"
#include "Roles.h"

#include "ffc/Plan/Following.h"
#include "ffc/Plan/SampleDims.h"
#include "ffc/Plan/StrategyFile.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// What devices that share dimension `dim` of an operator with parameters add
/// up: its result, if they contract it, or else the gradient of its operand.
static int64_t summedBytes(const Graph &graph, OpId id, int dim) {
  const Op &op = graph.op(id);
  if (dim == kReplica || numParameters(graph, op) == 0)
    return 0;
  for (const Phase &phase : op.rules.schedules.front().phases)
    for (const SlotWrite &write : phase.writes)
      if (write.isPartialAlong(dim) && graph.slotValue(id, write.slot) >= 0)
        return graph.slotType(id, write.slot).bytes();
  for (ValueId value : op.operands)
    if (value >= 0 && graph.value(value).kind != ValueKind::State)
      return graph.value(value).type.bytes();
  return 0;
}

PipelineCuts::PipelineCuts(const Graph &graph, const Topology &topology,
                           const CostModel &cost, bool recomputes)
    : graph(graph), cost(cost), numDevices(topology.numDevices()),
      recomputes(recomputes) {
  std::map<int, size_t> kinds;
  for (DeviceId d = 0; d < numDevices; ++d) {
    auto [it, isNew] =
        kinds.insert({topology.device(d).kind, firstOfKind.size()});
    if (isNew)
      firstOfKind.push_back(d);
    kindOf.push_back(it->second);
  }
  const Space space(graph, numDevices);
  const Roles roles(space);
  const std::vector<int> &dims = roles.sample;
  std::vector<int> place(graph.ops.size(), -1);
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id) {
    const Op &op = graph.op(id);
    const bool isForward =
        op.role == OpRole::Forward || op.role == OpRole::Loss;
    if (isForward && dims[id] >= 0) {
      place[id] = static_cast<int>(operators.size());
      operators.push_back({id,
                           dims[id],
                           roles.tensor[id],
                           maxDegree(op.rules.dims[dims[id]]),
                           {},
                           0,
                           0,
                           summedBytes(graph, id, roles.tensor[id])});
    } else if (op.owner >= 0) {
      place[id] = place[op.owner];
    }
    if (place[id] >= 0)
      operators[place[id]].ops.push_back(id);
  }
  for (const Value &value : graph.values) {
    const bool isParameter = value.kind == ValueKind::State &&
                             graph.states[value.state].written >= 0;
    int reader = -1;
    for (const Use &use : value.uses)
      reader = std::max(reader, place[use.op]);
    if (isParameter && reader >= 0)
      operators[reader].parameters += value.type.bytes();
    if (value.producer < 0 || place[value.producer] < 0)
      continue;
    const OpRole role = graph.op(value.producer).role;
    if (role != OpRole::Forward && role != OpRole::Loss)
      continue;
    int last = place[value.producer];
    for (const Use &use : value.uses)
      last = std::max(last, place[use.op]);
    for (int at = place[value.producer] + 1; at <= last; ++at)
      operators[at].bytes += value.type.bytes();
  }
}

bool PipelineCuts::isPossible(const PipelineShape &shape) const {
  const int64_t blocks = int64_t(shape.groups()) * shape.microBatches;
  return int64_t(shape.stages) * shape.width <= numDevices &&
         static_cast<int64_t>(graph.ops.size()) * shape.width *
                 shape.microBatches <=
             kMostPoints &&
         shape.width % shape.tensor == 0 && shape.rounds <= kMostRounds &&
         shape.allStages() <= kMostStages &&
         (shape.rounds == 1 || shape.microBatches % shape.stages == 0) &&
         std::min(operators.size(), kMostPlaces) >=
             static_cast<size_t>(shape.allStages()) &&
         std::all_of(operators.begin(), operators.end(),
                     [&](const Operator &each) { return each.most >= blocks; });
}

/// Would it wait for sums over all samples, so that it cannot take turns?
static bool waitsForAll(const OpRules &rules, const Configuration &config,
                        int samples) {
  const std::vector<Phase> &phases = scheduleFor(rules, config).phases;
  return phases.size() > 1 &&
         std::any_of(phases.begin(), phases.end(), [&](const Phase &phase) {
           return std::any_of(phase.writes.begin(), phase.writes.end(),
                              [&](const SlotWrite &write) {
                                return write.isPartialAlong(samples);
                              });
         });
}

/// Do neighbours share it, or does each do the same?
bool PipelineCuts::shares(const Operator &each,
                          const PipelineShape &shape) const {
  if (each.tensor == kReplica || each.tensor == each.dim)
    return false;
  const OpRules &rules = graph.op(each.op).rules;
  return maxDegree(rules.dims[each.tensor]) >= shape.tensor &&
         !waitsForAll(rules, {{{each.tensor, shape.tensor}}, {}}, each.dim);
}

/// What each operator takes on such a device with its gradients for a
/// micro-batch, and the sums of neighbours who share it.
std::vector<double> PipelineCuts::timesOf(const PipelineShape &shape,
                                          DeviceId device) const {
  const int64_t blocks = int64_t(shape.groups()) * shape.microBatches;
  std::vector<DeviceId> neighbours(shape.tensor);
  std::iota(neighbours.begin(), neighbours.end(), 0);
  std::vector<double> times;
  for (const Operator &each : operators) {
    double time = 0;
    for (OpId id : each.ops) {
      const OpRole role = graph.op(id).role;
      if (role != OpRole::Update)
        time +=
            static_cast<double>(kernelTime(graph, id, blocks, cost, device)) *
            (recomputes && role == OpRole::Forward ? 2 : 1);
    }
    if (shares(each, shape))
      time /= shape.tensor;
    if (shape.tensor > 1 && each.summed > 0)
      time += static_cast<double>(cost.collective(
          CollectiveKind::AllReduce, neighbours, each.summed / blocks));
    times.push_back(time);
  }
  return times;
}

/// What a collective of the parameters of a stage, or of their gradients, takes
/// for a byte, among its groups that share the samples.
double PipelineCuts::collectiveOfGroups(CollectiveKind kind,
                                        const PipelineShape &shape) const {
  int64_t bytes = 0;
  for (const Operator &each : operators)
    bytes += each.parameters;
  if (shape.groups() == 1 || bytes == 0)
    return 0;
  std::vector<DeviceId> members;
  for (int group = 0; group < shape.groups(); ++group)
    members.push_back(group * shape.tensor);
  return static_cast<double>(
             cost.collective(kind, members, bytes / shape.tensor)) /
         static_cast<double>(bytes);
}

/// The beginning, and the places over which least is sent.
std::vector<size_t> PipelineCuts::places() const {
  std::vector<size_t> all(operators.size());
  std::iota(all.begin(), all.end(), 0);
  std::stable_sort(all.begin() + 1, all.end(), [&](size_t a, size_t b) {
    return operators[a].bytes < operators[b].bytes;
  });
  all.resize(std::min(all.size(), kMostPlaces));
  std::sort(all.begin(), all.end());
  return all;
}

/// By stage, the kinds of its devices, each once.
std::vector<std::vector<size_t>>
PipelineCuts::kindsOfStages(const PipelineShape &shape, int count) const {
  // Without rounds the table is that of any number of stages.
  const int stages = shape.rounds > 1 ? shape.stages : numDevices / shape.width;
  std::vector<std::vector<size_t>> result;
  for (int s = 0; s < count; ++s) {
    const auto first =
        kindOf.begin() + std::ptrdiff_t(s % stages) * shape.width;
    const std::set<size_t> kinds(first, first + shape.width);
    result.emplace_back(kinds.begin(), kinds.end());
  }
  return result;
}

/// For stages of such a shape, by how many there are and where they end.
const PipelineCuts::Table &
PipelineCuts::tableOf(const PipelineShape &shape) const {
  const int width = shape.width, microBatches = shape.microBatches;
  const bool isUnequal = firstOfKind.size() > 1;
  auto [it, isNew] =
      tables.try_emplace({width, microBatches, shape.tensor, shape.sendsAgain,
                          isUnequal && shape.rounds > 1 ? shape.stages : 0});
  Table &table = it->second;
  if (!isNew)
    return table;
  table.places = places();
  const size_t count = table.places.size();
  // Up to each place; forward and backward messages over it, of neighbours.
  std::vector<double> crossing(count + 1), parameters(count + 1);
  std::vector<std::vector<double>> kernels; // by kind of devices
  for (DeviceId device : firstOfKind) {
    const std::vector<double> times = timesOf(shape, device);
    std::vector<double> &sums = kernels.emplace_back(count + 1);
    for (size_t at = 0; at < count; ++at) {
      const auto begin = times.begin() + std::ptrdiff_t(table.places[at]);
      const auto end =
          at + 1 < count ? times.begin() + std::ptrdiff_t(table.places[at + 1])
                         : times.end();
      sums[at + 1] = sums[at] + microBatches * std::accumulate(begin, end, 0.0);
    }
  }
  for (size_t at = 0; at < count; ++at) {
    const size_t end = at + 1 < count ? table.places[at + 1] : operators.size();
    parameters[at + 1] = parameters[at];
    for (size_t i = table.places[at]; i < end; ++i)
      parameters[at + 1] += static_cast<double>(operators[i].parameters);
    // A stage of all devices has no neighbour.
    if (at > 0 && width < numDevices)
      crossing[at] =
          2.0 * microBatches *
          static_cast<double>(cost.transfer(0, width,
                                            operators[table.places[at]].bytes /
                                                microBatches / width));
  }
  auto perByte = [&](CollectiveKind kind) {
    return collectiveOfGroups(kind, shape);
  };
  const double once = shape.sendsAgain ? 0 : perByte(CollectiveKind::AllReduce);
  const double eachTime =
      shape.sendsAgain
          ? microBatches * (2 * perByte(CollectiveKind::AllGather) +
                            perByte(CollectiveKind::ReduceScatter))
          : 0;
  auto stage = [&](const std::vector<size_t> &kinds, size_t begin, size_t end) {
    // Its devices share the samples evenly.
    double work = 0;
    for (size_t kind : kinds)
      work = std::max(work, kernels[kind][end] - kernels[kind][begin]);
    const double bytes = parameters[end] - parameters[begin];
    const double messages = crossing[begin] + crossing[end];
    // What comes in does so beside what goes out, and both beside kernels.
    return (cost.overlaps() ? std::max(work, messages / 2 + eachTime * bytes)
                            : work + messages + eachTime * bytes) +
           once * bytes;
  };
  const int most = static_cast<int>(std::min<size_t>(
      {size_t(kMostStages), count, size_t(numDevices / width * kMostRounds)}));
  const std::vector<std::vector<size_t>> kinds = kindsOfStages(shape, most);
  table.slowest.assign(most + 1, std::vector<double>(count + 1, HUGE_VAL));
  table.begin.assign(most + 1, std::vector<size_t>(count + 1));
  table.slowest[0][0] = 0;
  for (int s = 1; s <= most; ++s)
    for (size_t end = s; end <= count; ++end)
      for (size_t at = s - 1; at < end; ++at) {
        const double time =
            std::max(table.slowest[s - 1][at], stage(kinds[s - 1], at, end));
        if (time < table.slowest[s][end]) {
          table.slowest[s][end] = time;
          table.begin[s][end] = at;
        }
      }
  return table;
}

PipelineCuts::Cut PipelineCuts::cut(const PipelineShape &shape) const {
  const Table &table = tableOf(shape);
  size_t end = table.places.size();
  Cut result;
  result.slowest = table.slowest[shape.allStages()][end];
  for (int s = shape.allStages(); s > 1; --s) {
    end = table.begin[s][end];
    result.begins.push_back(table.places[end]);
  }
  std::reverse(result.begins.begin(), result.begins.end());
  return result;
}

Picoseconds PipelineCuts::estimate(const PipelineShape &shape) const {
  if (!isPossible(shape))
    return kMaxCost;
  const double step = cut(shape).slowest / shape.microBatches *
                      (shape.rounds * shape.microBatches + shape.stages - 1);
  return step < static_cast<double>(kMaxCost) ? static_cast<Picoseconds>(step)
                                              : kMaxCost;
}

/// Micro-batch by micro-batch, the devices of the stage share each.
std::optional<Configuration>
PipelineCuts::configuration(const Operator &each, int stage,
                            const PipelineShape &shape) const {
  Configuration config;
  config.axes.push_back(
      {each.dim, int64_t(shape.groups()) * shape.microBatches});
  if (shape.tensor > 1)
    config.axes.push_back(
        {shares(each, shape) ? each.tensor : kReplica, shape.tensor});
  for (int m = 0; m < shape.microBatches; ++m)
    for (int i = 0; i < shape.width; ++i)
      config.devices.push_back(stage % shape.stages * shape.width + i);
  if (checkConfiguration(graph, each.op, config, numDevices))
    return std::nullopt;
  return config;
}

std::optional<PipelineCuts::Begins>
PipelineCuts::moved(const Begins &begins, size_t which, bool before) const {
  const size_t first = which > 0 ? begins[which - 1] + 1 : 1,
               end = which + 1 < begins.size() ? begins[which + 1]
                                               : operators.size();
  const int64_t most = operators[begins[which]].bytes;
  for (size_t at = begins[which];;) {
    at += before ? -1 : 1;
    if (at < first || at >= end)
      return std::nullopt;
    if (operators[at].bytes > most)
      continue;
    Begins result = begins;
    result[which] = at;
    return result;
  }
}

std::optional<Strategy> PipelineCuts::strategy(const PipelineShape &shape,
                                               const Begins &begins) const {
  PartialStrategy given(graph.ops.size());
  std::vector<std::set<int>> stages(graph.ops.size()); // that need an operator
  int stage = 0;
  for (size_t i = 0; i < operators.size(); ++i) {
    while (stage + 1 < shape.allStages() && begins[stage] <= i)
      ++stage;
    given[operators[i].op] = configuration(operators[i], stage, shape);
    if (!given[operators[i].op])
      return std::nullopt;
    stages[operators[i].op] = {stage % shape.stages};
  }
  // What has no samples, as masks, is computed wherever it is needed.
  for (auto id = static_cast<OpId>(graph.ops.size()); id-- > 0;) {
    const Op &op = graph.op(id);
    if (op.role != OpRole::Forward || given[id])
      continue;
    for (ValueId result : op.results)
      if (result >= 0)
        for (const Use &use : graph.value(result).uses)
          stages[id].insert(stages[use.op].begin(), stages[use.op].end());
    Configuration copies;
    for (int each : stages[id])
      for (int i = 0; i < shape.width; ++i)
        copies.devices.push_back(each * shape.width + i);
    copies.axes.push_back({kReplica, int64_t(copies.devices.size())});
    if (stages[id].size() > 1 &&
        !checkConfiguration(graph, id, copies, numDevices))
      given[id] = copies;
  }
  Strategy strategy = completeStrategy(graph, given);
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
    if (const Op &op = graph.op(id);
        op.role == OpRole::Update && op.owner >= 0 && given[op.owner])
      strategy[id] = updateOf(id, strategy[id], shape);
  return strategy;
}

/// An update is made once, not for every micro-batch.
Configuration PipelineCuts::updateOf(OpId update, Configuration config,
                                     const PipelineShape &shape) const {
  if (config.axes.empty() || config.axes[0].dim != kReplica ||
      config.axes[0].degree != int64_t(shape.groups()) * shape.microBatches)
    return config;
  config.axes[0].degree = shape.groups();
  config.devices.resize(config.devices.size() / shape.microBatches);
  if (shape.sharesUpdates)
    config = shareCopies(graph, update, config);
  config.again = shape.sendsAgain;
  return config;
}
