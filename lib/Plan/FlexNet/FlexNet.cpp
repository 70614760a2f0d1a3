//===- FlexNet.cpp - measurements of FlexNet ------------------------------===//

#include "ffc/Plan/FlexNet.h"

#include "Cost/FlexNetFile.h"
#include "FlexNetAttention.h"
#include "FlexNetKernels.h"
#include "FlexNetNames.h"
#include "Strategy/StrategyFlexFlow.h"
#include "Text/Text.h"
#include "ffc/Plan/Cost.h"
#include "ffc/Plan/Planner.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace ffc::plan;

//===----------------------------------------------------------------------===//
// Which operators
//===----------------------------------------------------------------------===//

/// The numbers of "Conv2D_3_3_64", without that of the type.
static std::vector<int64_t> numbersOf(const std::string &name, size_t from) {
  std::vector<int64_t> numbers;
  for (size_t i = from; i < name.size(); ++i) {
    size_t end = i;
    while (end < name.size() && name[end] >= '0' && name[end] <= '9')
      ++end;
    if (end == i)
      continue;
    numbers.push_back(
        parseCount(name.substr(i, end - i), INT64_MAX).value_or(-1));
    i = end;
  }
  return numbers;
}

/// `attention` are the attentionLayers() of the graph.
static std::vector<OpId> opsOf(const Graph &graph,
                               const std::vector<OpId> &attention,
                               const std::string &name) {
  const size_t end = std::min(name.find('_'), name.size());
  const std::vector<int64_t> numbers = numbersOf(name, end);
  std::vector<OpId> result;
  for (OpId id : flexFlowOpsOfType(graph, name.substr(0, end))) {
    const std::vector<int64_t> structure = flexNetNumbers(graph, graph.op(id));
    if (attention[id] < 0 && (structure.empty() || structure == numbers))
      result.push_back(id);
  }
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id)
    if (attention[id] == id && attentionName(graph, attention, id) == name)
      result.push_back(id);
  return result;
}

std::optional<std::vector<int64_t>>
ffc::plan::degreesOfRank(const std::vector<int64_t> &degrees, size_t rank) {
  if (degrees.size() == rank)
    return degrees;
  if (rank == 0 || degrees.empty() ||
      std::any_of(degrees.begin(), degrees.end() - 1,
                  [](int64_t degree) { return degree != 1; }))
    return std::nullopt;
  std::vector<int64_t> result(rank, 1);
  result.back() = degrees.back();
  return result;
}

/// Dimensions of what the operator makes, as FlexFlow counts them.
static size_t rankOf(const Graph &graph, OpId id) {
  const Op &op = graph.op(id);
  return op.role == OpRole::Loss
             ? 2 // a row for each sample, which is what is compared
             : graph.value(op.results[0]).type.shape.size();
}

//===----------------------------------------------------------------------===//
// Their kernels
//===----------------------------------------------------------------------===//

namespace {

/// The kernels of one tile of one operator's forward pass, or of its gradients.
class Shares {
public:
  void add(LocalWork work, Picoseconds time) {
    sum += static_cast<double>(time);
    works.push_back({std::move(work), time});
  }
  /// Divides `time` among them.
  void measure(double time, std::vector<Measurement> &all) const {
    for (const auto &[work, share] : works)
      all.push_back({work.key, std::string(work.kernel), /*devices=*/1,
                     work.flops, static_cast<double>(work.bytes),
                     std::llround(std::min(time * (static_cast<double>(share) /
                                                   std::max(sum, 1.0)),
                                           static_cast<double>(kMaxCost)))});
  }

private:
  std::vector<std::pair<LocalWork, Picoseconds>> works;
  double sum = 0;
};

} // namespace

/// A server looks up all of its rows on one GPU.
static bool isMeasuredWhole(const FlexNetMeasure &measure) {
  return measure.name.rfind("Embed", 0) == 0;
}

/// What `measures` say about the kernels of `graph`: the forward time is that
/// of the operator's kernels, the backward time that of its gradients'; where
/// there are several, each has the share that `cost` gives it.
static std::vector<Measurement> kernelsOf(const FlexNetMeasures &measures,
                                          const Graph &graph,
                                          const CostModel &cost,
                                          int64_t gpusPerServer) {
  // Measures of equal degrees are of one plan, in which all parts are on one
  // device: where they are does not change what they do.
  std::set<std::vector<int64_t>> degrees;
  for (const FlexNetMeasure &measure : measures.list)
    degrees.insert(measure.degrees);
  const std::vector<OpId> attention = attentionLayers(graph);
  auto layerOf = [&](OpId id) {
    return id >= 0 && attention[id] >= 0 ? attention[id] : id;
  };
  std::vector<Measurement> all;
  for (const std::vector<int64_t> &each : degrees) {
    PartialStrategy given(graph.ops.size());
    std::vector<const FlexNetMeasure *> measureOf(graph.ops.size());
    for (const FlexNetMeasure &measure : measures.list) {
      if (measure.degrees != each)
        continue;
      FlexFlowConfig config{measure.line, measure.name, false, each, {}};
      // A server's part is one of each GPU.
      if (!isMeasuredWhole(measure))
        config.dims.back() *= gpusPerServer;
      int64_t points = 1;
      for (int64_t degree : config.dims)
        points = std::min(points * degree, kMaxFlexFlowDegree);
      config.devices.assign(static_cast<size_t>(points), 0);
      for (OpId id : opsOf(graph, attention, measure.name))
        try {
          FlexFlowConfig own = config;
          own.dims = degreesOfRank(config.dims, rankOf(graph, id))
                         .value_or(config.dims);
          given[id] = flexFlowConfiguration(graph, id, own, 1);
          measureOf[id] = &measure;
        } catch (const Malformed &) {
          // It was measured for a split that the model's operator does not
          // have; there is nothing that it could be the time of.
        }
    }
    const Strategy strategy = completeStrategy(graph, given);
    const Program program = planProgram(graph, strategy, 1, cost);
    std::vector<Shares> forward(graph.ops.size()), backward(graph.ops.size());
    for (const Action &action : program.devices[0].actions) {
      if (!action.is<KernelAction>() || action.task.point() != 0)
        continue;
      const Op &op = graph.op(action.task.op);
      LocalWork work =
          *workOf(graph, strategy, program.devices[0], action, true);
      const Picoseconds time = cost.local(0, work).time;
      const OpId layer = layerOf(action.task.op), owner = layerOf(op.owner);
      if (measureOf[layer])
        forward[layer].add(std::move(work), time);
      else if (op.role == OpRole::Gradient && owner >= 0 && measureOf[owner])
        backward[owner].add(std::move(work), time);
    }
    for (size_t id = 0; id < graph.ops.size(); ++id)
      if (const FlexNetMeasure *measure = measureOf[id]) {
        forward[id].measure(measure->forward, all);
        backward[id].measure(measure->backward, all);
      }
  }
  return all;
}

std::optional<int64_t> ffc::plan::batchOf(const Graph &graph) {
  for (const Value &value : graph.values)
    if (value.kind == ValueKind::Input && !value.type.shape.empty())
      return value.type.shape[0];
  return std::nullopt;
}

std::optional<SampleSplit> ffc::plan::splitOfSamples(const Graph &graph,
                                                     OpId id, int64_t parts) {
  SampleSplit split;
  split.degrees.assign(rankOf(graph, id), 1);
  split.degrees.back() = parts;
  const FlexFlowConfig config{
      0, graph.op(id).name, false, split.degrees,
      std::vector<DeviceId>(static_cast<size_t>(parts), 0)};
  try {
    split.config = flexFlowConfiguration(graph, id, config, 1);
  } catch (const Malformed &) {
    return std::nullopt; // too few samples
  }
  return split;
}

std::vector<FlexNetSplit>
ffc::plan::flexNetSplits(const FlexNetMeasures &measures, const Graph &graph,
                         const FlexNetLayer &layer, int64_t gpusPerServer) {
  std::vector<FlexNetSplit> splits;
  for (const FlexNetMeasure &measure : measures.list) {
    const int64_t servers = measure.degrees.back();
    if (measure.name != layer.name ||
        std::count(measure.degrees.begin(), measure.degrees.end() - 1, 1) + 1 !=
            static_cast<std::ptrdiff_t>(measure.degrees.size()))
      continue;
    const int64_t parts =
        isMeasuredWhole(measure) ? servers : servers * gpusPerServer;
    if (auto split = splitOfSamples(graph, layer.op, parts))
      splits.push_back({servers, std::move(split->config)});
  }
  std::sort(splits.begin(), splits.end(),
            [](const auto &a, const auto &b) { return a.servers < b.servers; });
  return splits;
}

std::shared_ptr<const Profile>
ffc::plan::profileForGraph(const std::shared_ptr<const Profile> &profile,
                           const Graph &graph, const Topology &topology,
                           std::string &error) {
  if (!profile || !profile->flexNet())
    return profile;
  const FlexNetMeasures &measures = *profile->flexNet();
  if (const auto batch = batchOf(graph); batch && *batch != measures.batch) {
    error = "expected measurements at batch " + std::to_string(*batch) +
            " as the model has, found batch " + std::to_string(measures.batch);
    return nullptr;
  }
  const int64_t devices = topology.numDevices(),
                nodes = static_cast<int64_t>(topology.nodes().size());
  if (measures.devices != devices && measures.devices != nodes) {
    error = "expected measurements for " + std::to_string(devices) +
            " devices as the topology has";
    if (nodes > 1 && nodes != devices)
      error += ", or for its " + std::to_string(nodes) + " nodes";
    error += ", found 'ngpus' " + std::to_string(measures.devices);
    return nullptr;
  }
  const std::vector<Measurement> kernels =
      kernelsOf(measures, graph, CostModel(topology),
                std::max<int64_t>(1, devices / measures.devices));
  if (kernels.empty()) {
    error = "expected measurements of operators of the model, found none, "
            "but such as " +
            quoted(measures.list.front().name);
    return nullptr;
  }
  return std::make_shared<Profile>(kernels);
}
