//===- TopologySearch.cpp - the network of least time ---------------------===//

#include "ffc/Network/TopologySearch.h"

#include "ffc/Network/TopoOptWiring.h"
#include "ffc/Network/WiringSearch.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace ffc::network;

namespace {

class TopologySearch {
public:
  TopologySearch(const Traffic &traffic, const TopologySearchOptions &options,
                 const StepJudge &judge)
      : traffic(traffic), options(options), judge(judge) {}

  std::optional<FoundTopology> run();

private:
  bool canGain(int degree) const;
  void consider(const Wiring &wiring, Network network, const std::string &way);
  void tryRule(int degree, StrideRule rule, const char *way);
  void tryPaths(const Wiring &wiring, const char *way);
  void tryAll(int degree);

  const Traffic &traffic;
  const TopologySearchOptions &options;
  const StepJudge &judge;
  std::optional<FoundTopology> best;
  int tried = 0, judged = 0;
};

} // namespace

static const char *const kReleased = "TopoOpt's rules";
static const char *const kPaper = "TopoOpt's rules, strides of the paper";
static const char *const kStrides = "strides of the least diameter";
static const char *const kCycles = "cycles fitted to the traffic";

bool TopologySearch::canGain(int degree) const {
  return !best || best->time > stepBound(traffic, degree, options.kind,
                                         options.bandwidth);
}

void TopologySearch::consider(const Wiring &wiring, Network network,
                              const std::string &way) {
  ++tried;
  const PeakLoad peak = peakLoadOf(network, demandOf(traffic, wiring.rings));
  if (best && peak.both / options.bandwidth * 1e12 >= double(best->time))
    return;
  ++judged;
  const Picoseconds time = judge(network, wiring.rings);
  if (!best || time < best->time)
    best = FoundTopology{std::move(network), wiring.rings, time, way};
}

void TopologySearch::tryRule(int degree, StrideRule rule, const char *way) {
  const StridedWiring strided =
      topoOptWiring(traffic, degree, options.kind, rule, options.seed);
  if (!isConnected(strided.wiring))
    return;
  Network network = linksOf(strided.wiring, options.bandwidth, options.latency);
  addCoinPaths(network, strided.coins, options.seed);
  consider(strided.wiring, std::move(network), way);
}

static bool samePaths(const Network &a, const Network &b) {
  auto same = [](const auto &x, const auto &y) {
    return x.first == y.first &&
           std::equal(x.second.begin(), x.second.end(), y.second.begin(),
                      y.second.end(), [](const Path &p, const Path &q) {
                        return p.links == q.links && p.share == q.share;
                      });
  };
  return std::equal(a.paths.begin(), a.paths.end(), b.paths.begin(),
                    b.paths.end(), same);
}

/// Balanced paths are of three kinds, for what is sent at different times does
/// not meet: it is not certain that the least loaded links are best.
void TopologySearch::tryPaths(const Wiring &wiring, const char *way) {
  static const std::pair<PathOptions, const char *> kinds[] = {
      {{1, 1}, "balanced paths"},
      {{4, 1}, "several balanced paths of a pair"},
      {{1, 0}, "balanced shortest paths"}};
  const PhaseDemand demand = demandOf(traffic, wiring.rings);
  std::vector<Network> seen;
  for (const auto &[paths, name] : kinds) {
    Network network = linksOf(wiring, options.bandwidth, options.latency);
    addBalancedPaths(network, demand, paths);
    if (std::any_of(seen.begin(), seen.end(), [&](const Network &other) {
          return samePaths(network, other);
        }))
      continue;
    seen.push_back(network);
    consider(wiring, std::move(network), std::string(way) + ", " + name);
  }
}

void TopologySearch::tryAll(int degree) {
  WiringSearchOptions search;
  search.degree = degree;
  search.kind = options.kind;
  search.proposals = options.proposals;
  search.seed = options.seed;
  for (const Wiring &wiring : searchWirings(traffic, search))
    tryPaths(wiring, kCycles);
  const Wiring strides = topoOptWiring(traffic, degree, options.kind,
                                       StrideRule::Best, options.seed)
                             .wiring;
  if (isConnected(strides))
    tryPaths(strides, kStrides);
  tryRule(degree, StrideRule::Geometric, kPaper);
  tryRule(degree, StrideRule::Released, kReleased);
}

std::optional<FoundTopology> TopologySearch::run() {
  switch (options.rule) {
  case TopologyRule::TopoOpt:
    tryRule(options.degree, StrideRule::Released, kReleased);
    break;
  case TopologyRule::Paper:
    tryRule(options.degree, StrideRule::Geometric, kPaper);
    break;
  case TopologyRule::Best:
    for (int degree = options.degree; degree > 0; --degree) {
      if (canGain(degree))
        tryAll(degree);
      if (!options.triesSmallerDegrees)
        break;
    }
    break;
  }
  if (best) {
    best->tried = tried;
    best->judged = judged;
  }
  return std::move(best);
}

std::optional<FoundTopology>
ffc::network::searchTopology(const Traffic &traffic,
                             const TopologySearchOptions &options,
                             const StepJudge &judge) {
  return TopologySearch(traffic, options, judge).run();
}

//===----------------------------------------------------------------------===//
// The bound
//===----------------------------------------------------------------------===//

/// The least bytes times hops of what one server sends: a degree of others are
/// one hop away, degree times so many two, and so on; a two-way link does not
/// lead to another server back where it came from.
static double leastLoad(std::vector<double> sent, int degree, LinkKind kind) {
  std::sort(sent.begin(), sent.end(), std::greater<>());
  const int fanOut = kind == LinkKind::TwoWay ? degree - 1 : degree;
  double load = 0, reached = degree;
  size_t next = 0;
  for (int hops = 1; next < sent.size(); ++hops) {
    for (double i = 0; i < reached && next < sent.size(); ++i)
      load += hops * sent[next++];
    // Two-way interfaces of degree 1 are all taken by a single pair.
    reached *= std::max(fanOut, 1);
  }
  return load;
}

Picoseconds ffc::network::stepBound(const Traffic &traffic, int degree,
                                    LinkKind kind, double bandwidth) {
  const int n = traffic.numServers;
  double busiest = 0, loads = 0;
  for (VertexId src = 0; src < n; ++src) {
    std::vector<double> sent(n);
    for (VertexId dst = 0; dst < n; ++dst)
      sent[dst] = traffic.forward.at(src, dst) + traffic.backward.at(src, dst);
    double allReduces = 0;
    for (const AllReduceGroup &group : traffic.groups)
      if (std::find(group.members.begin(), group.members.end(), src) !=
          group.members.end())
        allReduces += degree * group.sentOnRing(degree);
    busiest = std::max(
        busiest, allReduces + std::accumulate(sent.begin(), sent.end(), 0.0));
    loads += allReduces + leastLoad(sent, degree, kind);
  }
  const double bytes = std::max(busiest, loads / n);
  return std::max(traffic.computation,
                  static_cast<Picoseconds>(
                      std::floor(bytes / (degree * bandwidth) * 1e12)));
}
