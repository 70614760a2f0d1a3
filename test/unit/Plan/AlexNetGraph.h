//===- AlexNetGraph.h - operators for strategy tests ------------*- C++ -*-===//
#ifndef FFC_TEST_UNIT_PLAN_ALEXNETGRAPH_H
#define FFC_TEST_UNIT_PLAN_ALEXNETGRAPH_H

#include "ffc/Plan/StrategyFile.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace ffc::plan::testing {

struct DimSpec {
  std::string name;
  int64_t extent;
  bool inResult = true;
};

/// Adds an operator whose result is indexed by its dimensions, g and c together
/// by one. The dimensions `unsplit` cannot be split.
inline Op &addOp(Graph &graph, const std::string &name, const std::string &type,
                 const std::vector<DimSpec> &dims,
                 const std::vector<std::string> &unsplit = {}) {
  Op op;
  op.name = name;
  op.type = type;
  Phase phase;
  SlotWrite write;
  Value value;
  value.name = name + ".y";
  value.producer = static_cast<OpId>(graph.ops.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    IterDim dim;
    dim.name = dims[d].name;
    dim.extent = dims[d].extent;
    op.rules.dims.push_back(dim);
    if (!dims[d].inResult)
      continue;
    const int number = static_cast<int>(d);
    if (dim.name == "c" && d > 0 && dims[d - 1].name == "g") {
      write.access.dims.back() = DimMap::digits({number - 1, number});
      value.type.shape.back() *= dim.extent;
      continue;
    }
    write.access.dims.push_back(DimMap::dim(number));
    value.type.shape.push_back(dim.extent);
  }
  write.reduction = Reduction::Sum;
  phase.writes.push_back(write);
  Schedule schedule;
  for (const std::string &dim : unsplit)
    schedule.unsplit.push_back(op.rules.findDim(dim));
  schedule.phases.push_back(phase);
  op.rules.schedules.push_back(schedule);
  op.results.push_back(static_cast<ValueId>(graph.values.size()));
  graph.values.push_back(value);
  graph.ops.push_back(op);
  return graph.ops.back();
}

/// A small AlexNet with the layers of FlexFlow's table, two of them grouped,
/// and a gradient.
inline Graph alexNet() {
  Graph graph;
  addOp(graph, "Conv_0", "conv2d",
        {{"n", 8}, {"g", 1}, {"c", 6}, {"h", 13}, {"w", 13}, {"k", 3, false}})
      .aliases = {"features.0"};
  addOp(graph, "Relu_1", "relu", {{"n", 8}, {"c", 6}, {"h", 13}, {"w", 13}});
  addOp(graph, "MaxPool_2", "pool2d", {{"n", 8}, {"c", 6}, {"h", 6}, {"w", 6}});
  addOp(graph, "Conv_3", "conv2d",
        {{"n", 8}, {"g", 4}, {"c", 6}, {"h", 6}, {"w", 6}, {"k", 3, false}});
  addOp(graph, "pool with space", "pool2d",
        {{"n", 8}, {"c", 24}, {"h", 3}, {"w", 3}});
  addOp(graph, "Flatten_5", "flat", {{"n", 8}, {"c", 216}});
  addOp(graph, "fc6", "linear", {{"n", 8}, {"c", 40}, {"k", 216, false}});
  addOp(graph, "fc7", "linear", {{"n", 8}, {"c", 40}, {"k", 40, false}});
  addOp(graph, "fc8", "linear", {{"n", 8}, {"c", 10}, {"k", 40, false}});
  addOp(graph, "Softmax_9", "softmax", {{"n", 8}, {"c", 10}}, {"c"});
  addOp(graph, "fc8#w", "linear_backward_weights",
        {{"k", 40}, {"c", 10}, {"n", 8, false}})
      .role = OpRole::Gradient;
  graph.ops[9].rules.dims[0].granularity = 2;
  return graph;
}

/// A legal strategy for four devices, with axes of degree 1 and with devices in
/// order or not. One in `rarely` splits of what is summed over is kept, and one
/// operator in `rarely` is copied.
inline Strategy drawStrategy(const Graph &graph, std::mt19937 &random,
                             int64_t rarely) {
  auto below = [&](int64_t n) { return static_cast<int64_t>(random() % n); };
  Strategy strategy;
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id) {
    const OpRules &rules = graph.op(id).rules;
    Configuration config;
    do {
      config = {};
      for (int d = 0; d < static_cast<int>(rules.dims.size()); ++d)
        if (below(2) && (rules.dims[d].name != "k" || below(rarely) == 0)) {
          const int64_t most = std::min<int64_t>(maxDegree(rules.dims[d]), 4);
          config.axes.push_back({d, rules.splittable(d) ? 1 + below(most) : 1});
        }
      if (below(rarely) == 0)
        config.axes.push_back({kReplica, 1 + below(3)});
      std::shuffle(config.axes.begin(), config.axes.end(), random);
      const int64_t style = below(3), first = below(4);
      for (int64_t point = 0; point < config.numPoints(); ++point)
        config.devices.push_back(static_cast<DeviceId>(style == 0 ? first
                                                       : style == 1
                                                           ? (first + point) % 4
                                                           : below(4)));
    } while (checkConfiguration(graph, id, config, 4));
    strategy.push_back(config);
  }
  return strategy;
}

/// "NAME {n = 2} on 0 1" of each operator that `text` names, or the error.
inline std::vector<std::string> read(const Graph &graph,
                                     const std::string &text,
                                     const std::string &fileName,
                                     int numDevices = 4) {
  std::string error;
  const auto strategy = parseStrategy(text, fileName, graph, numDevices, error);
  if (!strategy)
    return {error};
  std::vector<std::string> lines;
  for (size_t id = 0; id < strategy->size(); ++id)
    if ((*strategy)[id])
      lines.push_back(graph.ops[id].name + " " +
                      (*strategy)[id]->str(graph.ops[id].rules));
  return lines;
}

/// Why `text` is no strategy of alexNet() on four devices; empty if it is one.
inline std::string errorOf(const std::string &text,
                           const std::string &fileName) {
  std::string error;
  (void)parseStrategy(text, fileName, alexNet(), 4, error);
  return error;
}

} // namespace ffc::plan::testing

#endif // FFC_TEST_UNIT_PLAN_ALEXNETGRAPH_H
