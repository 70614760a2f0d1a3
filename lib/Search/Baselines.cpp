//===- Baselines.cpp - experts' recipes -----------------------------------===//

#include "ffc/Search/Search.h"

#include <algorithm>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

namespace {
/// Samples over `samples` devices, parameters over `parameters`; devices that
/// share samples are neighbours.
struct Grid {
  int64_t samples = 1, parameters = 1;
};
} // namespace

static int dimOf(const Op &op, DimKind kind) {
  for (int d = 0; d < static_cast<int>(op.rules.dims.size()); ++d)
    if (op.rules.dims[d].kind == kind && op.rules.splittable(d))
      return d;
  return kReplica;
}

/// An anchor in a grid, with copies along what it does not have.
static Configuration inGrid(const Op &op, Grid grid) {
  Configuration config;
  auto add = [&](int dim, int64_t degree) {
    if (dim != kReplica && maxDegree(op.rules.dims[dim]) < degree)
      dim = kReplica;
    if (degree > 1)
      config.axes.push_back({dim, degree});
  };
  add(dimOf(op, DimKind::Sample), grid.samples);
  add(dimOf(op, DimKind::Parameter), grid.parameters);
  for (DeviceId d = 0; d < grid.samples * grid.parameters; ++d)
    config.devices.push_back(d);
  return config;
}

static double elements(const Graph &graph, const std::vector<ValueId> &values,
                       ValueKind kind) {
  double sum = 0;
  for (ValueId value : values)
    if (value >= 0 && graph.value(value).kind == kind)
      sum += static_cast<double>(numElements(graph.value(value).type.shape));
  return sum;
}

/// Are the parameters of `op` more than what goes in and out of it, so that it
/// is cheaper to move that (Krizhevsky, One weird trick, 2014)?
static bool hasManyParameters(const Graph &graph, const Op &op) {
  return elements(graph, op.operands, ValueKind::State) >
         elements(graph, op.operands, ValueKind::Activation) +
             elements(graph, op.results, ValueKind::Activation);
}

std::vector<Baseline> search::baselines(const Space &space,
                                        const std::vector<Choice> &pinned,
                                        Walker &walker) {
  const Graph &graph = space.graph();
  const int devices = space.numDevices();
  std::vector<Baseline> result;
  auto add = [&](const std::string &name, auto configOf) {
    std::vector<Choice> choices;
    for (OpId anchor : space.anchors()) {
      auto pin =
          std::find_if(pinned.begin(), pinned.end(), [&](const Choice &choice) {
            return choice.first == anchor;
          });
      Configuration config =
          pin == pinned.end() ? configOf(graph.op(anchor)) : pin->second;
      if (checkConfiguration(graph, anchor, config, devices))
        return;
      choices.push_back({anchor, std::move(config)});
    }
    Baseline baseline;
    baseline.name = name;
    baseline.quality.makespan = walker.propose(choices);
    walker.accept();
    baseline.strategy = walker.strategy();
    result.push_back(std::move(baseline));
  };
  add("one device", [](const Op &) { return Configuration::onDevice(0); });
  for (int64_t parameters = 1; parameters <= devices; ++parameters) {
    if (devices % parameters || devices == 1)
      continue;
    Grid grid{devices / parameters, parameters};
    std::string name = parameters == 1 ? "data-parallel"
                       : grid.samples == 1
                           ? "parameter-parallel"
                           : "grid n = " + std::to_string(grid.samples) +
                                 ", c = " + std::to_string(parameters);
    add(name, [&](const Op &op) { return inGrid(op, grid); });
    if (grid.samples > 1)
      add(name + ", one weird trick", [&](const Op &op) {
        return inGrid(op,
                      hasManyParameters(graph, op) ? Grid{1, devices} : grid);
      });
  }
  return result;
}
