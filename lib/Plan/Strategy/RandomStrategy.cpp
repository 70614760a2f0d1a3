//===- RandomStrategy.cpp - legal strategies by chance --------------------===//

#include "ffc/Plan/RandomStrategy.h"

#include <algorithm>

using namespace ffc::plan;

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

std::string ffc::plan::str(const Graph &graph, const Strategy &strategy) {
  std::string text;
  for (size_t op = 0; op < strategy.size(); ++op)
    text += graph.ops[op].name + ": " + strategy[op].str(graph.ops[op].rules) +
            "\n";
  return text;
}
