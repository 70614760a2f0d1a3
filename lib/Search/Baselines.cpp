//===- Baselines.cpp - experts' recipes -----------------------------------===//

#include "Recipes.h"

#include <algorithm>
#include <numeric>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// Samples x parameters; devices that share samples are neighbours. The same,
/// but layers of many parameters split by parameter alone.
static Picoseconds addGrids(Recipes &recipes, int64_t group) {
  const Graph &graph = recipes.graph();
  const int64_t samples = recipes.devices() / group;
  const std::string name = group == 1 ? "data-parallel"
                           : samples == 1
                               ? "parameter-parallel"
                               : "grid n = " + std::to_string(samples) +
                                     ", c = " + std::to_string(group);
  auto grid = [&](OpId op) {
    return recipes.inGrid(op, {{recipes.roles().sample[op], samples},
                               {parameterDim(graph.op(op)), group}});
  };
  const Picoseconds time = recipes.add(name, grid);
  if (samples == 1)
    return time;
  return std::min(time, recipes.add(name + ", one weird trick", [&](OpId op) {
    return hasManyParameters(graph, graph.op(op))
               ? recipes.inGrid(
                     op, {{parameterDim(graph.op(op)), recipes.devices()}})
               : grid(op);
  }));
}

static std::optional<Configuration>
bySpeed(const Recipes &recipes, OpId op,
        const std::optional<Configuration> &config) {
  return config ? std::make_optional(recipes.space().bySpeed(op, *config))
                : config;
}

/// Groups of neighbours that share layers as Megatron does, and each take some
/// of the samples; every device updates all parameters that it has, or a share
/// of them.
static Picoseconds addTensorGroups(Recipes &recipes, int64_t group) {
  const int64_t samples = recipes.devices() / group;
  const std::string name = nameOf({samples, group});
  auto groups = [&](OpId op) {
    return recipes.inTensorGrid(op, {samples, group});
  };
  const Picoseconds time = recipes.addWithUpdates(name, groups, samples > 1);
  if (recipes.space().speeds().empty())
    return time;
  return std::min(time,
                  recipes.addWithUpdates(
                      name + ", by speed",
                      [&](OpId op) { return bySpeed(recipes, op, groups(op)); },
                      samples > 1));
}

/// Groups as above on the first devices only, which may be all that is near:
/// links between the others may cost more than they are worth.
static void addFewerDevices(Recipes &recipes) {
  constexpr int64_t kMost = 16;
  const Graph &graph = recipes.graph();
  for (int64_t used : recipes.space().divisors())
    for (int64_t group : recipes.space().divisors()) {
      if (used == 1 || used >= recipes.devices() || used > kMost ||
          used % group != 0)
        continue;
      const std::string name =
          nameOf({used / group, group}) + " on " + numberOfDevices(used);
      recipes.add(name, [&](OpId op) {
        return recipes.inTensorGrid(op, {used / group, group});
      });
      if (group == 1)
        recipes.add(name + ", one weird trick", [&](OpId op) {
          return hasManyParameters(graph, graph.op(op))
                     ? recipes.inGrid(op, {{parameterDim(graph.op(op)), used}})
                     : recipes.inTensorGrid(op, {used, 1});
        });
    }
}

/// Where devices are not equally fast: groups of the fastest ones alone, with
/// and without the next ones.
static void addFastest(Recipes &recipes) {
  const std::vector<double> &speeds = recipes.space().speeds();
  std::vector<DeviceId> order(speeds.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](DeviceId a, DeviceId b) {
    return speeds[a] > speeds[b];
  });
  for (size_t used = 1; used < order.size(); ++used) {
    if (speeds[order[used]] == speeds[order[used - 1]])
      continue;
    const auto count = static_cast<int64_t>(used);
    recipes.addSeries(divisorsOf(count), [&](int64_t group) {
      return recipes.addWithUpdates(
          used == 1 ? "fastest device"
                    : nameOf({count / group, group}) + " on the fastest " +
                          numberOfDevices(count),
          [&](OpId op) {
            auto config = recipes.inTensorGrid(op, {count / group, group});
            if (config)
              for (DeviceId &device : config->devices)
                device = order[device];
            return bySpeed(recipes, op, config);
          },
          count > group);
    });
  }
}

static std::vector<Baseline> tryAll(Recipes recipes) {
  const Space &space = recipes.space();
  const bool isFree = !recipes.areAllPinned();
  recipes.add(isFree ? "one device" : "as pinned",
              [](OpId) { return Configuration::onDevice(0); });
  if (recipes.devices() == 1 || !isFree)
    return recipes.take();
  recipes.addSeries(space.divisors(),
                    [&](int64_t group) { return addGrids(recipes, group); });
  recipes.addSeries(space.divisors(), [&](int64_t group) {
    return addTensorGroups(recipes, group);
  });
  addTables(recipes);
  addBranches(recipes);
  addExperts(recipes);
  addFewerDevices(recipes);
  addFastest(recipes);
  return recipes.take();
}

std::vector<Baseline>
search::baselines(const Space &space, const std::vector<Choice> &pinned,
                  const std::vector<int64_t> &room, Walker &walker,
                  const std::function<bool(Picoseconds)> &goesOn,
                  const std::vector<std::string> &names) {
  std::vector<Baseline> found =
      tryAll({space, pinned, room, walker, goesOn, names});
  if (found.empty())
    found = tryAll({space, pinned, room, walker, goesOn, {}});
  return found;
}
