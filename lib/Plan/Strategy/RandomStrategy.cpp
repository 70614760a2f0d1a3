//===- RandomStrategy.cpp - legal strategies by chance --------------------===//

#include "ffc/Plan/RandomStrategy.h"

#include "ffc/Plan/SampleDims.h"

#include <algorithm>

using namespace ffc::plan;

/// Of a quarter of the axes, blocks of different size, again after `period` of
/// them.
static void drawShares(GridAxis &axis, int64_t period, std::mt19937 &random) {
  if (axis.dim == kReplica || period < 2 || random() % 4)
    return;
  std::vector<int64_t> shares;
  for (int64_t i = 0; i < period; ++i)
    shares.push_back(static_cast<int64_t>(1 + random() % 4));
  for (int64_t i = period; i < axis.degree; ++i)
    shares.push_back(shares[i - period]);
  axis = GridAxis::withShares(axis.dim, std::move(shares));
}

Configuration ffc::plan::randomConfiguration(const Graph &graph, OpId op,
                                             int numDevices,
                                             std::mt19937 &random) {
  const OpRules &rules = graph.op(op).rules;
  auto draw = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  while (true) {
    Configuration config;
    for (int d = 0; d < static_cast<int>(rules.dims.size()); ++d) {
      int64_t degree = 1 + draw(std::min<int64_t>(4, maxDegree(rules.dims[d])));
      if (degree > 1 && draw(2))
        config.axes.push_back({d, degree});
    }
    if (draw(4) == 0)
      config.axes.push_back({kReplica, 2});
    // std::shuffle differs between libraries.
    for (size_t i = config.axes.size(); i > 1; --i)
      std::swap(config.axes[i - 1], config.axes[draw(i)]);
    if (config.numPoints() > 2 * numDevices + 2)
      continue;
    for (int64_t p = 0; p < config.numPoints(); ++p)
      config.devices.push_back(static_cast<DeviceId>(draw(numDevices)));
    for (GridAxis &axis : config.axes)
      drawShares(axis, axis.degree, random);
    if (!checkConfiguration(graph, op, config, numDevices))
      return config;
  }
}

Strategy ffc::plan::randomStrategy(const Graph &graph, int numDevices,
                                   std::mt19937 &random) {
  std::vector<std::optional<Configuration>> given(graph.ops.size());
  for (size_t op = 0; op < given.size(); ++op)
    if (random() % 4)
      given[op] =
          randomConfiguration(graph, static_cast<OpId>(op), numDevices, random);
  return completeStrategy(graph, given);
}

Strategy ffc::plan::randomPipeline(const Graph &graph, int numDevices,
                                   PipelineSchedule &schedule,
                                   std::mt19937 &random) {
  auto draw = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  const std::vector<int> dims = sampleDims(graph);
  int64_t most = 4; // micro-batches
  for (size_t id = 0; id < dims.size(); ++id)
    if (dims[id] >= 0)
      most = std::min(most, maxDegree(graph.ops[id].rules.dims[dims[id]]));
  schedule.microBatches =
      static_cast<int>(most > 2 ? 2 + draw(most - 1) : most);
  schedule.ahead = static_cast<int>(1 + draw(schedule.microBatches));
  schedule.defersWeights = draw(3) == 0;
  const bool hasOthers = draw(3) == 0;
  // Every other stage is on the even devices, so that 1F1B is interleaved.
  const bool comesBack = numDevices > 1 && draw(4) == 0;
  if (comesBack)
    schedule = {schedule.microBatches, 1};
  int stage = 0;
  std::vector<DeviceId> devices; // of the stage
  std::vector<std::optional<Configuration>> given(graph.ops.size());
  for (size_t id = 0; id < given.size(); ++id) {
    const auto op = static_cast<OpId>(id);
    if (devices.empty() || draw(4) == 0) {
      devices.clear();
      if (comesBack)
        for (DeviceId device = stage % 2; device < numDevices; device += 2)
          devices.push_back(device);
      else
        for (int64_t width = 1 + draw(3); width > 0; --width)
          devices.push_back(static_cast<DeviceId>(draw(numDevices)));
      ++stage;
    }
    if (hasOthers && draw(20) == 0)
      given[id] = randomConfiguration(graph, op, numDevices, random);
    if (given[id] || dims[id] < 0)
      continue;
    Configuration config;
    const auto width = static_cast<int64_t>(devices.size());
    config.axes.push_back({dims[id], width * schedule.microBatches});
    if (config.axes[0].degree > maxDegree(graph.op(op).rules.dims[dims[id]]))
      config.axes[0].degree = schedule.microBatches;
    else
      drawShares(config.axes[0], width, random);
    for (int64_t point = 0; point < config.numPoints(); ++point)
      config.devices.push_back(devices[point % width]);
    if (!checkConfiguration(graph, op, config, numDevices))
      given[id] = config;
  }
  return completeStrategy(graph, given);
}

Strategy ffc::plan::randomRecomputation(const Graph &graph, int numDevices,
                                        PipelineSchedule &schedule,
                                        std::mt19937 &random) {
  Strategy strategy = random() % 2
                          ? randomStrategy(graph, numDevices, random)
                          : randomPipeline(graph, numDevices, schedule, random);
  const std::vector<bool> can = canBeAgain(graph);
  for (size_t op = 0; op < strategy.size(); ++op)
    strategy[op].again = can[op] && random() % 2;
  return strategy;
}

std::string ffc::plan::str(const Graph &graph, const Strategy &strategy) {
  std::string text;
  for (size_t op = 0; op < strategy.size(); ++op)
    text += graph.ops[op].name + ": " + strategy[op].str(graph.ops[op].rules) +
            "\n";
  return text;
}
