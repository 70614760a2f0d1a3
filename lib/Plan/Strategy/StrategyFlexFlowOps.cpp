//===- StrategyFlexFlowOps.cpp - configurations of FlexFlow ---------------===//
//
// Which split of an operator FlexFlow's degrees mean, both ways: they split the
// dimensions of its result.
//
//===----------------------------------------------------------------------===//

#include "StrategyFlexFlow.h"

#include "Text/Text.h"

#include <algorithm>
#include <numeric>

using namespace ffc::plan;

[[noreturn]] static void fail(int at, const std::string &message) {
  throw Malformed{at, message};
}

//===----------------------------------------------------------------------===//
// Dimensions
//===----------------------------------------------------------------------===//

/// Where a tile's first result lies; null if no phase writes it.
static const Access *resultAccess(const Op &op) {
  const int slot = static_cast<int>(op.operands.size());
  // The last schedule is the most general.
  for (auto schedule = op.rules.schedules.rbegin();
       schedule != op.rules.schedules.rend(); ++schedule)
    for (const Phase &phase : schedule->phases)
      for (const SlotWrite &write : phase.writes)
        if (write.slot == slot)
          return &write.access;
  return nullptr;
}

/// Does a split of the tensor dimension split iteration dimensions as evenly?
static bool isPlain(const DimMap &map) {
  return map.kind == DimMap::Kind::Digits ||
         (map.kind == DimMap::Kind::Window && map.stride == 1 &&
          map.reach == 1);
}

/// Appends the axes that split a dimension of the result into `degree` parts.
/// Of several iteration dimensions the leading ones are split fully first.
/// Returns false if that cannot be.
static bool addAxes(const OpRules &rules, const DimMap &map, int64_t degree,
                    std::vector<GridAxis> &axes) {
  if (degree == 1)
    return true;
  if (!isPlain(map) || map.dims.empty())
    return false;
  for (int dim : map.dims) {
    const int64_t units = maxDegree(rules.dims[dim]);
    const int64_t part =
        dim == map.dims.back() ? degree : std::gcd(degree, units);
    if (part > 1)
      axes.push_back({dim, part});
    degree /= part;
    if (degree > 1 && part != units)
      return false;
  }
  return true;
}

static std::string printDims(const std::vector<int64_t> &dims) {
  std::string text;
  for (int64_t degree : dims)
    text += (text.empty() ? "[" : ",") + std::to_string(degree);
  return (text.empty() ? "[" : text) + "]";
}

/// Axes for FlexFlow's degrees, the innermost dimension's last.
static std::vector<GridAxis> axesFor(const Op &op,
                                     const FlexFlowConfig &config) {
  const std::string what = quoted(op.name) + " (" + op.type + "), dims" +
                           printDims(config.dims) + " of " +
                           quoted(config.name) + ": ";
  std::vector<int64_t> degrees(config.dims.rbegin(), config.dims.rend());
  if (degrees.empty())
    fail(config.at, what + "expected degrees, found none");
  std::vector<GridAxis> axes;
  if (op.role == OpRole::Loss) {
    // FlexFlow splits what it compares; our result is one number.
    const int sample = op.rules.findDim("n");
    if (sample < 0 || std::count(degrees.begin() + 1, degrees.end(), 1) !=
                          static_cast<int64_t>(degrees.size()) - 1)
      fail(config.at, what + "expected a split of the sample, the last");
    if (degrees[0] > 1)
      axes.push_back({sample, degrees[0]});
    return axes;
  }
  const Access *access = resultAccess(op);
  const size_t rank = access ? access->dims.size() : 0;
  if (degrees.size() != rank) {
    // Extra dimensions of extent 1 and folded ones: the ends still mean the
    // same.
    const bool onlyEnds =
        rank > 0 &&
        std::all_of(degrees.begin() + 1,
                    degrees.end() - (rank > 1 && degrees.size() > 1 ? 1 : 0),
                    [](int64_t degree) { return degree == 1; });
    if (!onlyEnds)
      fail(config.at, what + "expected " + std::to_string(rank) +
                          " degrees as the result has dimensions, found " +
                          std::to_string(degrees.size()));
    std::vector<int64_t> fitted(rank, 1);
    if (degrees.size() > 1)
      fitted.back() = degrees.back();
    fitted.front() = degrees.front();
    degrees = std::move(fitted);
  }
  for (size_t d = 0; d < rank; ++d)
    if (!addAxes(op.rules, access->dims[d], degrees[d], axes))
      fail(config.at, what + "dimension " + std::to_string(rank - 1 - d) +
                          " of the result cannot be split into " +
                          std::to_string(degrees[d]));
  return axes;
}

//===----------------------------------------------------------------------===//
// Strategies
//===----------------------------------------------------------------------===//

Configuration ffc::plan::flexFlowConfiguration(const Graph &graph, OpId id,
                                               const FlexFlowConfig &given,
                                               int numDevices) {
  if (given.onCpu)
    fail(given.at, quoted(given.name) +
                       ": expected device type 0 (GPU), found 1 (CPU), which "
                       "ffc has no second set of devices for");
  const Op &op = graph.op(id);
  int64_t points = 1;
  for (int64_t degree : given.dims)
    points = std::min(points * degree, kMaxFlexFlowDegree + 1);
  if (points > kMaxFlexFlowDegree)
    fail(given.at, quoted(given.name) + ": expected at most " +
                       std::to_string(kMaxFlexFlowDegree) +
                       " grid points, found more");
  if (!given.devices.empty() &&
      points != static_cast<int64_t>(given.devices.size()))
    fail(given.at, quoted(given.name) + ": expected a device for each of " +
                       std::to_string(points) +
                       " grid points, or none; found " +
                       std::to_string(given.devices.size()));
  Configuration config;
  config.axes = axesFor(op, given);
  config.devices = given.devices;
  if (config.devices.empty()) {
    config.devices.resize(static_cast<size_t>(points));
    std::iota(config.devices.begin(), config.devices.end(), 0);
  }
  if (auto reason = checkConfiguration(graph, id, config, numDevices))
    fail(given.at, quoted(given.name) + ": " + *reason);
  return config;
}

PartialStrategy
ffc::plan::fromFlexFlow(const Graph &graph, int numDevices,
                        const std::vector<FlexFlowConfig> &configs) {
  PartialStrategy strategy(graph.ops.size());
  std::vector<const FlexFlowConfig *> givenBy(graph.ops.size());
  const std::vector<std::vector<OpId>> ops = findFlexFlowOps(graph, configs);
  for (size_t i = 0; i < configs.size(); ++i)
    for (OpId id : ops[i]) {
      if (givenBy[id])
        fail(configs[i].at, quoted(graph.op(id).name) +
                                " is given twice, first as " +
                                quoted(givenBy[id]->name) + " and then as " +
                                quoted(configs[i].name));
      givenBy[id] = &configs[i];
      strategy[id] = flexFlowConfiguration(graph, id, configs[i], numDevices);
    }
  return strategy;
}

/// `config` as FlexFlow's degrees and devices of `op`, if it can be said.
static std::optional<FlexFlowConfig>
flexFlowConfig(const Op &op, const Configuration &config) {
  const Access *access = resultAccess(op);
  if (!access || access->dims.empty() || config.again)
    return std::nullopt;
  std::vector<int64_t> degrees(access->dims.size(), 1);
  size_t numSplit = 0;
  for (const GridAxis &axis : config.axes) {
    if (axis.degree == 1)
      continue;
    if (!axis.shares.empty())
      return std::nullopt;
    ++numSplit;
    const auto split = std::find_if(
        access->dims.begin(), access->dims.end(), [&](const DimMap &map) {
          return axis.dim != kReplica && isPlain(map) && map.involves(axis.dim);
        });
    if (split == access->dims.end())
      return std::nullopt;
    degrees[split - access->dims.begin()] *= axis.degree;
  }
  // What the degrees would be read as.
  Configuration read;
  for (size_t d = 0; d < degrees.size(); ++d)
    if (!addAxes(op.rules, access->dims[d], degrees[d], read.axes))
      return std::nullopt;
  if (read.axes.size() != numSplit)
    return std::nullopt;
  for (const GridAxis &axis : read.axes)
    if (config.degreeOf(axis.dim) != axis.degree)
      return std::nullopt;
  FlexFlowConfig result;
  result.dims.assign(degrees.rbegin(), degrees.rend());
  const int64_t numPoints = config.numPoints();
  for (int64_t point = 0; point < numPoints; ++point) {
    const std::vector<int64_t> coordinates = read.coordinates(point);
    int64_t source = 0;
    for (const GridAxis &axis : config.axes) {
      source *= axis.degree;
      for (size_t i = 0; i < read.axes.size(); ++i)
        if (read.axes[i].dim == axis.dim)
          source += coordinates[i];
    }
    result.devices.push_back(config.devices[source]);
  }
  return result;
}

std::optional<std::vector<int64_t>>
ffc::plan::flexFlowDegrees(const Op &op, const Configuration &config) {
  if (const auto said = flexFlowConfig(op, config))
    return said->dims;
  return std::nullopt;
}

bool ffc::plan::isSaidInFlexFlow(const Op &op, const Configuration &config) {
  return flexFlowConfig(op, config).has_value();
}

void ffc::plan::keepWhatFlexFlowSays(const Graph &graph,
                                     PartialStrategy &strategy,
                                     int numDevices) {
  const std::vector<std::string> names = flexFlowNames(graph);
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id) {
    std::optional<FlexFlowConfig> said;
    if (strategy[id] && !names[id].empty())
      said = flexFlowConfig(graph.op(id), *strategy[id]);
    strategy[id].reset();
    if (said)
      strategy[id] = flexFlowConfiguration(graph, id, *said, numDevices);
  }
}

std::vector<FlexFlowConfig> ffc::plan::toFlexFlow(const Graph &graph,
                                                  const Strategy &strategy,
                                                  std::vector<OpId> &leftOut) {
  std::vector<FlexFlowConfig> configs;
  const std::vector<std::string> names = flexFlowNames(graph);
  for (OpId id = 0; id < static_cast<OpId>(graph.ops.size()); ++id) {
    const Op &op = graph.op(id);
    if (op.role != OpRole::Forward)
      continue;
    std::optional<FlexFlowConfig> config;
    if (!names[id].empty())
      config = flexFlowConfig(op, strategy[id]);
    if (!config) {
      leftOut.push_back(id);
      continue;
    }
    config->name = names[id];
    configs.push_back(std::move(*config));
  }
  return configs;
}
