//===- Speeds.cpp - devices that are not equally fast ---------------------===//

#include "Speeds.h"

#include "ffc/Plan/StepTimer.h"

#include <algorithm>
#include <cmath>
#include <map>

using namespace ffc;
using namespace ffc::plan;

/// Differences below this are noise of the figures.
static constexpr double kLeastDifference = 0.01;
/// The share of the fastest devices: with more, blocks are hardly better dealt
/// out, and strategies are harder to read.
static constexpr double kLargestShare = 32;

std::vector<double> search::deviceSpeeds(const Graph &graph,
                                         const Topology &topology,
                                         const CostModel &cost) {
  std::map<int, DeviceId> firsts; // by kind
  for (DeviceId d = 0; d < topology.numDevices(); ++d)
    firsts.insert({topology.device(d).kind, d});
  if (firsts.size() == 1)
    return {};
  SegmentTable table(graph, topology.numDevices(), cost);
  std::map<int, double> times;
  double least = 0;
  for (auto [kind, device] : firsts) {
    const ConfigId alone = table.intern(Configuration::onDevice(device));
    const StepTimer timer(table,
                          std::vector<ConfigId>(graph.ops.size(), alone));
    times[kind] = std::max(static_cast<double>(timer.makespan()), 1.0);
    least = least == 0 ? times[kind] : std::min(least, times[kind]);
  }
  std::vector<double> speeds;
  for (DeviceId d = 0; d < topology.numDevices(); ++d)
    speeds.push_back(least / times[topology.device(d).kind]);
  if (*std::min_element(speeds.begin(), speeds.end()) > 1 - kLeastDifference)
    return {};
  return speeds;
}

Configuration search::sharedBySpeed(Configuration config,
                                    const std::vector<double> &speeds,
                                    double exponent) {
  for (size_t a = 0; a < config.axes.size(); ++a) {
    GridAxis &axis = config.axes[a];
    if (axis.dim == kReplica || axis.degree == 1)
      continue;
    std::vector<double> sums(static_cast<size_t>(axis.degree));
    for (int64_t point = 0; point < config.numPoints(); ++point)
      sums[config.coordinates(point)[a]] += speeds[config.devices[point]];
    const double most = *std::max_element(sums.begin(), sums.end());
    std::vector<int64_t> shares;
    for (double sum : sums)
      shares.push_back(std::max<int64_t>(
          std::llround(kLargestShare * std::pow(sum / most, exponent)), 1));
    axis = GridAxis::withShares(axis.dim, std::move(shares));
  }
  return config;
}
