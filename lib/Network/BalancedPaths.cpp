//===- BalancedPaths.cpp - paths over the least loaded links --------------===//

#include "ffc/Network/Wiring.h"

#include <algorithm>
#include <numeric>

using namespace ffc::network;

namespace {

/// A part of what a pair sends, and its path.
struct Strand {
  size_t pair;
  double forward, backward; ///< bytes
  std::vector<LinkId> path;
};

/// A server on the way to a destination, and how many hops that lead no nearer
/// are left.
struct Place {
  VertexId server;
  int detours;
};

/// Paths for all strands, and what links carry then.
class PathChooser {
public:
  PathChooser(const Network &network, const PhaseDemand &demand, int mostPaths);
  void improve(int detours);
  void store(Network &network) const;

private:
  static constexpr int kMostDetours = 1;

  void countHops();
  double addedCost(LinkId link, double forward, double backward) const;
  void divide(int mostPaths);
  void choose(Strand &strand, int detours);
  void carry(const Strand &strand, double sign);
  double cost() const;

  const Network &network;
  const PhaseDemand &demand;
  std::vector<std::vector<LinkId>> leaving; ///< by server
  std::vector<int> hops;                    ///< of pairs; -1: not connected
  std::vector<Strand> strands;              ///< those with most bytes first
  std::vector<double> forward, backward;    ///< by link
  double meanForward = 0, meanBackward = 0; ///< of an interface
  /// Of choose(): what is left to pay from a place on, and the link there.
  std::vector<double> costFrom;
  std::vector<LinkId> linkFrom;
  std::vector<Place> places;
  std::vector<bool> seen;
};

} // namespace

PathChooser::PathChooser(const Network &network, const PhaseDemand &demand,
                         int mostPaths)
    : network(network), demand(demand), leaving(network.numServers),
      forward(network.links.size()), backward(network.links.size()),
      costFrom(size_t(network.numServers) * (kMostDetours + 1)),
      linkFrom(costFrom.size()), seen(costFrom.size()) {
  for (size_t link = 0; link < network.links.size(); ++link)
    leaving[network.links[link].src].push_back(static_cast<LinkId>(link));
  countHops();
  double interfaces = 0;
  for (const Link &link : network.links)
    interfaces += link.interfaces;
  for (size_t pair = 0; pair < hops.size(); ++pair) {
    meanForward += std::max(0, hops[pair]) * demand.forward.values[pair];
    meanBackward += std::max(0, hops[pair]) * demand.backward.values[pair];
  }
  meanForward /= interfaces;
  meanBackward /= interfaces;
  divide(mostPaths);
  for (Strand &strand : strands) {
    choose(strand, 0);
    carry(strand, 1);
  }
}

/// A pair has no more strands than messages, each of which takes one path.
void PathChooser::divide(int mostPaths) {
  for (size_t pair = 0; pair < hops.size(); ++pair) {
    if (hops[pair] < 1)
      continue;
    const int count = static_cast<int>(std::clamp(
        demand.messages.values[pair], 1.0, static_cast<double>(mostPaths)));
    for (int i = 0; i < count; ++i)
      strands.push_back({pair,
                         demand.forward.values[pair] / count,
                         demand.backward.values[pair] / count,
                         {}});
  }
  std::stable_sort(strands.begin(), strands.end(),
                   [](const Strand &a, const Strand &b) {
                     return a.forward + a.backward > b.forward + b.backward;
                   });
}

void PathChooser::countHops() {
  const int n = network.numServers;
  hops.assign(size_t(n) * n, -1);
  for (VertexId src = 0; src < n; ++src) {
    int *row = &hops[size_t(src) * n];
    row[src] = 0;
    std::vector<VertexId> found = {src};
    for (size_t i = 0; i < found.size(); ++i)
      for (LinkId link : leaving[found[i]]) {
        const VertexId to = network.links[link].dst;
        if (row[to] < 0) {
          row[to] = row[found[i]] + 1;
          found.push_back(to);
        }
      }
  }
}

/// Sums of sixteenth powers stand for the largest.
static double sixteenth(double x) {
  const double square = x * x, fourth = square * square;
  return fourth * fourth * fourth * fourth;
}

/// How much the sum over links grows if `link` carries that much more.
double PathChooser::addedCost(LinkId link, double moreForward,
                              double moreBackward) const {
  const int interfaces = network.links[link].interfaces;
  auto grows = [&](double load, double more, double mean) {
    if (more == 0)
      return 0.0;
    const double unit = 1 / (mean * interfaces);
    return mean * (sixteenth((load + more) * unit) - sixteenth(load * unit));
  };
  return grows(forward[link], moreForward, meanForward) +
         grows(backward[link], moreBackward, meanBackward);
}

void PathChooser::carry(const Strand &strand, double sign) {
  for (LinkId link : strand.path) {
    forward[link] += sign * strand.forward;
    backward[link] += sign * strand.backward;
  }
}

/// The path that costs least, as all other strands go now, of those that are
/// longer than a shortest one by at most `detours` hops that lead no nearer.
void PathChooser::choose(Strand &strand, int detours) {
  const int n = network.numServers;
  const VertexId src = static_cast<VertexId>(strand.pair / n);
  const VertexId dst = static_cast<VertexId>(strand.pair % n);
  auto toGo = [&](VertexId v) { return hops[size_t(v) * n + dst]; };
  // Calls f(link, place after it) for all ways on from a place.
  auto forEachStep = [&](Place at, auto &&f) {
    for (LinkId link : leaving[at.server]) {
      const VertexId to = network.links[link].dst;
      const int lost = toGo(to) + 1 - toGo(at.server);
      if (lost == 0 || (lost == 1 && at.detours > 0))
        f(link, Place{to, at.detours - lost});
    }
  };
  auto number = [](Place place) {
    return size_t(place.server) * (kMostDetours + 1) + size_t(place.detours);
  };
  // No place comes before one that it is reached from.
  places.assign(1, {src, detours});
  for (size_t i = 0; i < places.size(); ++i)
    if (places[i].server != dst)
      forEachStep(places[i], [&](LinkId, Place to) {
        if (!seen[number(to)]) {
          seen[number(to)] = true;
          places.push_back(to);
        }
      });
  for (size_t i = places.size(); i-- > 0;) {
    const size_t here = number(places[i]);
    seen[here] = false;
    linkFrom[here] = -1;
    costFrom[here] = 0;
    if (places[i].server == dst)
      continue;
    forEachStep(places[i], [&](LinkId link, Place to) {
      const double cost = costFrom[number(to)] +
                          addedCost(link, strand.forward, strand.backward);
      if (linkFrom[here] < 0 || cost < costFrom[here]) {
        costFrom[here] = cost;
        linkFrom[here] = link;
      }
    });
  }
  strand.path.clear();
  for (Place at = places.front(); at.server != dst;) {
    const LinkId link = linkFrom[number(at)];
    const VertexId to = network.links[link].dst;
    strand.path.push_back(link);
    at = {to, at.detours - (toGo(to) + 1 - toGo(at.server))};
  }
}

double PathChooser::cost() const {
  double sum = 0;
  for (size_t link = 0; link < network.links.size(); ++link) {
    const int interfaces = network.links[link].interfaces;
    if (meanForward > 0)
      sum +=
          meanForward * sixteenth(forward[link] / (meanForward * interfaces));
    if (meanBackward > 0)
      sum += meanBackward *
             sixteenth(backward[link] / (meanBackward * interfaces));
  }
  return sum;
}

/// All choose again while that helps.
void PathChooser::improve(int detours) {
  constexpr int kMostRounds = 30;
  double before = cost();
  for (int round = 0; round < kMostRounds; ++round) {
    for (Strand &strand : strands) {
      if (strand.forward + strand.backward == 0)
        continue;
      carry(strand, -1);
      choose(strand, detours);
      carry(strand, 1);
    }
    const double after = cost();
    if (after > before * (1 - 1e-6))
      break;
    before = after;
  }
}

void PathChooser::store(Network &result) const {
  const int n = network.numServers;
  std::vector<int> counts(hops.size());
  for (const Strand &strand : strands)
    ++counts[strand.pair];
  for (const Strand &strand : strands) {
    std::vector<Path> &paths =
        result.paths[{static_cast<VertexId>(strand.pair / n),
                      static_cast<VertexId>(strand.pair % n)}];
    const double share = 1.0 / counts[strand.pair];
    const auto same =
        std::find_if(paths.begin(), paths.end(), [&](const Path &path) {
          return path.links == strand.path;
        });
    if (same != paths.end())
      same->share += share;
    else
      paths.push_back({strand.path, share});
  }
}

void ffc::network::addBalancedPaths(Network &network, const PhaseDemand &demand,
                                    const PathOptions &options) {
  PathChooser chooser(network, demand, options.mostPaths);
  chooser.improve(0);
  if (options.detours > 0)
    chooser.improve(options.detours);
  chooser.store(network);
}
