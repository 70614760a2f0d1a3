//===- TopologySearch.cpp - the network of least time ---------------------===//

#include "ffc/Network/TopologySearch.h"

#include "WiringSearch.h"
#include "ffc/Network/TopoOptWiring.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>

using namespace ffc::network;

namespace {

class TopologySearch {
public:
  TopologySearch(const Traffic &traffic, const TopologySearchOptions &options,
                 const StepJudge &judge)
      : traffic(traffic), options(options), judge(judge) {}

  std::optional<FoundTopology> run();

private:
  /// What the best wiring was made of, if it can be changed.
  struct Origin {
    LayeredWiring layers;
    PathOptions paths;
  };

  bool canGain(int degree) const;
  bool consider(const Wiring &wiring, Network network, const std::string &way);
  void tryRule(int degree, StrideRule rule, const char *way);
  void tryPaths(const Wiring &wiring, const char *way,
                const LayeredWiring *layers);
  void tryAll(int degree);
  void tryChanges();

  const Traffic &traffic;
  const TopologySearchOptions &options;
  const StepJudge &judge;
  std::optional<FoundTopology> best;
  std::optional<Origin> origin;
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

/// Is it the best one?
bool TopologySearch::consider(const Wiring &wiring, Network network,
                              const std::string &way) {
  ++tried;
  const PeakLoad peak = peakLoadOf(network, demandOf(traffic, wiring.rings));
  if (best && peak.both / options.bandwidth * 1e12 >= double(best->time))
    return false;
  ++judged;
  const Picoseconds time = judge(network, wiring.rings);
  if (best && time >= best->time)
    return false;
  best = FoundTopology{std::move(network), wiring.rings, time, way};
  origin.reset();
  return true;
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

static const char *nameOf(const PathOptions &paths) {
  if (paths.mostPaths > 1)
    return "several balanced paths of a pair";
  return paths.detours > 0 ? "balanced paths" : "balanced shortest paths";
}

/// Balanced paths are of three kinds, for what is sent at different times does
/// not meet: it is not certain that the least loaded links are best.
void TopologySearch::tryPaths(const Wiring &wiring, const char *way,
                              const LayeredWiring *layers) {
  static constexpr PathOptions kKinds[] = {{1, 1}, {4, 1}, {1, 0}};
  const PhaseDemand demand = demandOf(traffic, wiring.rings);
  std::vector<Network> seen;
  for (const PathOptions &paths : kKinds) {
    if (options.isRough && paths.mostPaths + paths.detours > 1)
      continue;
    Network network = linksOf(wiring, options.bandwidth, options.latency);
    addBalancedPaths(network, demand, paths);
    if (std::any_of(seen.begin(), seen.end(), [&](const Network &other) {
          return samePaths(network, other);
        }))
      continue;
    seen.push_back(network);
    if (consider(wiring, std::move(network),
                 std::string(way) + ", " + nameOf(paths)) &&
        layers)
      origin = {*layers, paths};
  }
}

void TopologySearch::tryAll(int degree) {
  WiringSearchOptions search;
  search.degree = degree;
  search.kind = options.kind;
  search.proposals = options.proposals;
  search.seed = options.seed;
  for (const LayeredWiring &layers : searchWirings(traffic, search))
    tryPaths(layers.wiring(traffic), kCycles, &layers);
  if (options.isRough)
    return;
  const Wiring strides = topoOptWiring(traffic, degree, options.kind,
                                       StrideRule::Best, options.seed)
                             .wiring;
  if (isConnected(strides))
    tryPaths(strides, kStrides, nullptr);
  tryRule(degree, StrideRule::Geometric, kPaper);
  tryRule(degree, StrideRule::Released, kReleased);
}

/// Times, which bytes on links only hint at, decide.
void TopologySearch::tryChanges() {
  if (!origin)
    return;
  std::mt19937_64 random(options.seed);
  const PathOptions paths = origin->paths;
  LayeredWiring layers = origin->layers;
  const std::string way = best->way;
  for (int i = 0; i < options.changes && layers.propose(random); ++i) {
    const Wiring wiring = layers.wiring(traffic);
    Network network = linksOf(wiring, options.bandwidth, options.latency);
    bool isBest = false;
    if (isConnected(wiring)) {
      addBalancedPaths(network, demandOf(traffic, wiring.rings), paths);
      isBest = consider(wiring, std::move(network), way);
    }
    if (!isBest)
      layers.undo();
  }
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
    for (int degree = options.degree;
         degree >= std::min(options.leastDegree, options.degree); --degree)
      if (canGain(degree))
        tryAll(degree);
    tryChanges();
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
