//===- FlexNetMeasure.cpp - measurements written for FlexNet --------------===//

#include "ffc/Plan/FlexNet.h"

#include "FlexNetKernels.h"
#include "Text/Text.h"
#include "ffc/Plan/Cost.h"
#include "ffc/Plan/Planner.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace ffc::plan;

namespace {

/// A layer in so many parts.
struct Row {
  Picoseconds forward = 0, backward = 0;
  int64_t bytes = 0;
};

class MeasureWriter {
public:
  MeasureWriter(const Graph &graph, const Topology &topology,
                const CostModel &cost, const FlexNetLayers &layers)
      : graph(graph), cost(cost), layers(layers), batch(*batchOf(graph)),
        servers(static_cast<int64_t>(topology.nodes().size())),
        gpusPerServer(topology.numDevices() / servers) {}

  std::string run();

private:
  void measure(int64_t degree);
  std::string print() const;

  const Graph &graph;
  const CostModel &cost;
  const FlexNetLayers &layers;
  const int64_t batch, servers, gpusPerServer;
  /// By name and "2-1-4"; as FlexNet, of the first layer of a name.
  std::vector<std::pair<std::string, std::string>> order;
  std::map<std::pair<std::string, std::string>, Row> rows;
};

} // namespace

/// Measures every layer in `degree` parts by samples.
void MeasureWriter::measure(int64_t degree) {
  std::vector<std::optional<Configuration>> given(graph.ops.size());
  std::vector<std::vector<int64_t>> degrees(layers.list.size());
  for (size_t i = 0; i < layers.list.size(); ++i) {
    const FlexNetLayer &layer = layers.list[i];
    const bool isWhole = layer.type == "Embedding";
    if (isWhole && degree > 1)
      continue;
    const auto split =
        splitOfSamples(graph, layer.op, isWhole ? 1 : degree * gpusPerServer);
    if (!split)
      continue;
    given[layer.op] = split->config;
    // Positions of samples that are rows here are a dimension of FlexNet's.
    const Shape &shape = graph.value(graph.op(layer.op).results[0]).type.shape;
    const bool hasRows = !shape.empty() && shape[0] > batch;
    degrees[i].assign(split->degrees.size() + (hasRows ? 1 : 0), 1);
    degrees[i].back() = degree;
  }
  const Strategy strategy = completeStrategy(graph, given);
  const Program program = planProgram(graph, strategy, 1, cost);
  const DeviceProgram &device = program.devices[0];
  std::vector<Row> made(layers.list.size());
  std::vector<std::set<BufferId>> buffers(layers.list.size());
  for (const Action &action : device.actions) {
    const auto *kernel = action.as<KernelAction>();
    if (!kernel || action.task.point() != 0)
      continue;
    const Op &op = graph.op(action.task.op);
    const bool isBackward = op.role == OpRole::Gradient;
    const OpId of = isBackward ? op.owner : action.task.op;
    if (of < 0 || layers.of[of] < 0)
      continue;
    const int layer = layers.of[of];
    const LocalWork work = *workOf(graph, strategy, device, action, true);
    (isBackward ? made[layer].backward : made[layer].forward) +=
        cost.local(0, work).time;
    for (const auto *list : {&kernel->ins, &kernel->outs})
      for (BufferId buffer : *list)
        if (buffer >= 0 && buffers[layer].insert(buffer).second)
          made[layer].bytes += device.buffers[buffer].bytes;
  }
  for (size_t i = 0; i < layers.list.size(); ++i) {
    if (degrees[i].empty())
      continue;
    std::string key = std::to_string(degrees[i].size());
    for (int64_t each : degrees[i])
      key += "-" + std::to_string(each);
    const std::pair<std::string, std::string> name(layers.list[i].name, key);
    if (rows.emplace(name, made[i]).second)
      order.push_back(name);
  }
}

/// Milliseconds with all picoseconds.
static std::string milliseconds(Picoseconds time) {
  constexpr Picoseconds kMillisecond = 1'000'000'000;
  const std::string fraction = std::to_string(time % kMillisecond);
  return std::to_string(time / kMillisecond) + "." +
         std::string(9 - fraction.size(), '0') + fraction;
}

std::string MeasureWriter::print() const {
  std::string text = "{\n\t\"batch_size\": " + std::to_string(batch) +
                     ",\n\t\"ngpus\": " + std::to_string(servers) +
                     ",\n\t\"measurements\": [";
  const char *separator = "\n";
  for (const auto &name : order) {
    const Row &row = rows.at(name);
    text += separator;
    text += "\t\t{\n\t\t\t\"name\": \"" + name.first +
            "\",\n\t\t\t\"pc_str\": \"" + name.second +
            "\",\n\t\t\t\"fw_time\": " + milliseconds(row.forward) +
            ",\n\t\t\t\"bw_time\": " + milliseconds(row.backward) +
            ",\n\t\t\t\"mem_req\": " + std::to_string(row.bytes) + "\n\t\t}";
    separator = ",\n";
  }
  return text + "\n\t]\n}\n";
}

std::string MeasureWriter::run() {
  for (int64_t degree = 1; degree <= servers; degree *= 2)
    measure(degree);
  return print();
}

std::optional<std::string>
ffc::plan::writeFlexNetMeasures(const Graph &graph, const Topology &topology,
                                const CostModel &cost, std::string &error) {
  const auto layers = flexNetLayers(graph, error);
  if (!layers)
    return std::nullopt;
  if (!batchOf(graph)) {
    error = "expected an input with a batch, found none";
    return std::nullopt;
  }
  return MeasureWriter(graph, topology, cost, *layers).run();
}
