//===- WiringSearch.cpp - divisions of interfaces, orders of cycles -------===//

#include "WiringSearch.h"

#include "SpreadLoads.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace ffc::network;

namespace {

class WiringSearch {
public:
  WiringSearch(const Traffic &traffic, const WiringSearchOptions &options)
      : traffic(traffic), options(options), loads(traffic.numServers),
        classes(groupClasses(traffic)), random(options.seed) {
    Demand demand = traffic.forward;
    for (size_t i = 0; i < demand.values.size(); ++i)
      demand.values[i] += traffic.backward.values[i];
    rounds = matchingRounds(demand, options.degree, DemandRule::Halved,
                            options.kind);
  }

  std::vector<LayeredWiring> run();

private:
  struct Found {
    LayeredWiring layered;
    double cost = 0;
  };

  Layer groupLayer(const std::vector<int> &groups);
  Layer freeLayer(int cycleSize);
  Layer matchedLayer(const Pairs &pairs);
  std::vector<LayeredWiring> divisions();
  Found start(const LayeredWiring &division);
  double costOfWiring(const LayeredWiring &layered);
  void anneal(Found &found, int64_t proposals);

  const Traffic &traffic;
  const WiringSearchOptions &options;
  SpreadLoads loads;
  std::vector<std::vector<int>> classes;
  std::vector<Pairs> rounds; ///< matchings of what servers send each other
  std::mt19937_64 random;
};

} // namespace

/// A layer of the cycles of those groups, in their own order.
Layer WiringSearch::groupLayer(const std::vector<int> &groups) {
  Layer layer;
  for (int g : groups) {
    layer.cycles.push_back(traffic.groups[g].members);
    layer.groups.push_back(g);
  }
  return layer;
}

/// A layer of as many cycles of that size as there are servers for.
Layer WiringSearch::freeLayer(int cycleSize) {
  std::vector<VertexId> all(traffic.numServers);
  std::iota(all.begin(), all.end(), 0);
  Layer layer;
  for (size_t at = 0; at + cycleSize <= all.size(); at += cycleSize) {
    layer.cycles.emplace_back(all.begin() + long(at),
                              all.begin() + long(at) + cycleSize);
    layer.groups.push_back(-1);
  }
  // Who is left over waits in a cycle of its own, and may change places.
  for (size_t v = layer.cycles.size() * cycleSize; v < all.size(); ++v) {
    layer.cycles.push_back({all[v]});
    layer.groups.push_back(-1);
  }
  return layer;
}

/// A layer of those pairs; one-way ones are the steps of cycles.
Layer WiringSearch::matchedLayer(const Pairs &pairs) {
  std::vector<VertexId> next(traffic.numServers);
  std::iota(next.begin(), next.end(), 0);
  for (auto [a, b] : pairs) {
    next[a] = b;
    if (options.kind == LinkKind::TwoWay)
      next[b] = a;
  }
  Layer layer;
  std::vector<bool> seen(traffic.numServers);
  for (VertexId v = 0; v < traffic.numServers; ++v) {
    if (seen[v])
      continue;
    layer.cycles.emplace_back();
    layer.groups.push_back(-1);
    for (VertexId at = v; !seen[at]; at = next[at]) {
      seen[at] = true;
      layer.cycles.back().push_back(at);
    }
  }
  return layer;
}

/// All numbers of layers for each class of groups, of cycles through all
/// servers, and of pairs that take as many interfaces as there are.
std::vector<LayeredWiring> WiringSearch::divisions() {
  constexpr size_t kMostDivisions = 200;
  constexpr size_t kMostClasses = 5; // those that send most
  const int n = traffic.numServers;
  std::vector<Layer> kinds;
  for (size_t c = 0; c < std::min(classes.size(), kMostClasses); ++c)
    kinds.push_back(groupLayer(classes[c]));
  // Groups of all servers make such cycles, too.
  if (n > 2 && std::none_of(kinds.begin(), kinds.end(), [&](const Layer &l) {
        return int(l.cycles.front().size()) == n;
      }))
    kinds.push_back(freeLayer(n));
  kinds.push_back(freeLayer(2));

  std::vector<LayeredWiring> found;
  LayeredWiring start;
  start.numServers = n;
  start.kind = options.kind;
  auto divide = [&](auto &&self, size_t kind, int left,
                    const LayeredWiring &layered) -> void {
    if (found.size() >= kMostDivisions)
      return;
    if (kind + 1 == kinds.size()) {
      LayeredWiring whole = layered;
      for (int i = 0; i < left; ++i)
        whole.layers.push_back(kinds[kind]);
      found.push_back(std::move(whole));
      return;
    }
    const int cost = costOf(kinds[kind], options.kind);
    // Most for those that send most come first.
    for (int count = left / cost; count >= 0; --count) {
      LayeredWiring more = layered;
      for (int i = 0; i < count; ++i)
        more.layers.push_back(kinds[kind]);
      self(self, kind + 1, left - count * cost, more);
    }
  };
  divide(divide, 0, options.degree, start);
  return found;
}

double WiringSearch::costOfWiring(const LayeredWiring &layered) {
  return loads.cost(layered.connections(), options.kind,
                    demandOf(traffic, layered.rings(traffic)));
}

/// Takes worse orders, too, the less the nearer the end is.
void WiringSearch::anneal(Found &found, int64_t proposals) {
  constexpr double kFirst = 0.02, kLast = 0.0002; // of the cost
  LayeredWiring now = found.layered;
  double cost = found.cost;
  std::uniform_real_distribution<double> chance(0, 1);
  for (int64_t i = 0; i < proposals; ++i) {
    if (!now.propose(random))
      return;
    const double next = costOfWiring(now);
    const double heat =
        kFirst * std::pow(kLast / kFirst, double(i) / double(proposals));
    const bool taken =
        next <= cost ||
        (std::isfinite(next) &&
         chance(random) < std::exp((cost - next) / (heat * cost)));
    if (!taken) {
      now.undo();
      continue;
    }
    cost = next;
    if (cost < found.cost)
      found = {now, cost};
  }
}

/// Where annealing begins: orders by chance, which are mostly connected, and as
/// many rounds of matchings as are best.
WiringSearch::Found WiringSearch::start(const LayeredWiring &division) {
  constexpr int kShuffles = 200;
  LayeredWiring layered = division;
  for (int i = 0; i < kShuffles; ++i)
    layered.propose(random);
  Found best = {layered, costOfWiring(layered)};
  size_t round = 0;
  for (Layer &layer : layered.layers) {
    if (layer.groups.front() >= 0 ||
        int(layer.cycles.front().size()) == traffic.numServers)
      continue;
    layer = matchedLayer(rounds[round++]);
    const double cost = costOfWiring(layered);
    if (cost < best.cost)
      best = {layered, cost};
  }
  return best;
}

std::vector<LayeredWiring> WiringSearch::run() {
  std::vector<Found> all;
  for (const LayeredWiring &division : divisions())
    all.push_back(start(division));
  const int64_t few =
      options.proposals / std::max<int64_t>(8, int64_t(all.size()));
  if (all.size() > size_t(options.kept))
    for (Found &found : all)
      anneal(found, few);
  auto better = [](const Found &a, const Found &b) { return a.cost < b.cost; };
  std::stable_sort(all.begin(), all.end(), better);
  constexpr double kHopeless = 1.25; // times the best after few proposals
  all.resize(std::min(all.size(), size_t(options.kept)));
  while (all.size() > 1 && !(all.back().cost < kHopeless * all.front().cost))
    all.pop_back();
  for (Found &found : all)
    anneal(found, options.proposals);
  std::stable_sort(all.begin(), all.end(), better);
  std::vector<LayeredWiring> wirings;
  for (const Found &found : all)
    if (std::isfinite(found.cost))
      wirings.push_back(found.layered);
  return wirings;
}

std::vector<LayeredWiring>
ffc::network::searchWirings(const Traffic &traffic,
                            const WiringSearchOptions &options) {
  if (traffic.numServers < 2)
    return {};
  return WiringSearch(traffic, options).run();
}
