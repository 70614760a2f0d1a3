//===- Matching.cpp - matchings of most weight ----------------------------===//

#include "ffc/Network/Matching.h"

#include <lemon/list_graph.h>
#include <lemon/matching.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

using namespace ffc::network;

namespace {

/// A graph whose matching is asked for. Weights become integers, which LEMON
/// compares exactly.
class MatchingProblem {
public:
  MatchingProblem(int nodes, double heaviest)
      : weights(graph), scale(heaviest > 0 ? kLargest / heaviest : 0) {
    for (int i = 0; i < nodes; ++i)
      nodeOf.push_back(graph.addNode());
  }

  void add(int a, int b, double weight) {
    weights[graph.addEdge(nodeOf[a], nodeOf[b])] = std::llround(weight * scale);
  }

  /// The number of everybody's partner.
  std::vector<int> solve() {
    lemon::MaxWeightedPerfectMatching<lemon::ListGraph,
                                      lemon::ListGraph::EdgeMap<int64_t>>
        matching(graph, weights);
    matching.run();
    std::vector<int> partners;
    for (lemon::ListGraph::Node node : nodeOf) {
      const auto mate = matching.mate(node);
      partners.push_back(static_cast<int>(
          std::find(nodeOf.begin(), nodeOf.end(), mate) - nodeOf.begin()));
    }
    return partners;
  }

private:
  /// Leaves room for LEMON's sums, which are multiples of weights.
  static constexpr double kLargest = int64_t(1) << 44;

  lemon::ListGraph graph;
  lemon::ListGraph::EdgeMap<int64_t> weights;
  double scale;
  std::vector<lemon::ListGraph::Node> nodeOf;
};

} // namespace

static Pairs matchTwoWay(const Demand &weights,
                         const std::vector<int> &members) {
  const int count = static_cast<int>(members.size());
  auto weightOf = [&](int i, int j) {
    return weights.at(members[i], members[j]) +
           weights.at(members[j], members[i]);
  };
  double heaviest = 0;
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < i; ++j)
      heaviest = std::max(heaviest, weightOf(i, j));
  // Who is joined with the one that stands for nobody is left over.
  const int nodes = count + count % 2;
  MatchingProblem problem(nodes, heaviest);
  for (int i = 0; i < nodes; ++i)
    for (int j = 0; j < i; ++j)
      problem.add(i, j, i < count ? weightOf(i, j) : 0);
  const std::vector<int> partners = problem.solve();
  Pairs pairs;
  for (int i = 0; i < count; ++i)
    if (partners[i] < count && members[i] < members[partners[i]])
      pairs.push_back({members[i], members[partners[i]]});
  return pairs;
}

static Pairs matchOneWay(const Demand &weights,
                         const std::vector<int> &members) {
  const int count = static_cast<int>(members.size());
  double heaviest = 0;
  for (int from : members)
    for (int to : members)
      heaviest = std::max(heaviest, from == to ? 0 : weights.at(from, to));
  MatchingProblem problem(2 * count, heaviest);
  for (int i = 0; i < count; ++i)
    for (int j = 0; j < count; ++j)
      if (i != j)
        problem.add(i, count + j, weights.at(members[i], members[j]));
  const std::vector<int> partners = problem.solve();
  Pairs pairs;
  for (int i = 0; i < count; ++i)
    pairs.push_back({members[i], members[partners[i] - count]});
  return pairs;
}

Pairs ffc::network::heaviestMatching(const Demand &weights,
                                     const std::vector<int> &members,
                                     LinkKind kind) {
  if (members.size() < 2)
    return {};
  Pairs pairs = kind == LinkKind::TwoWay ? matchTwoWay(weights, members)
                                         : matchOneWay(weights, members);
  std::sort(pairs.begin(), pairs.end());
  return pairs;
}

std::vector<Pairs> ffc::network::matchingRounds(const Demand &demand,
                                                int rounds, DemandRule rule,
                                                LinkKind kind) {
  std::vector<int> members(demand.size);
  std::iota(members.begin(), members.end(), 0);
  Demand left = demand;
  std::map<std::pair<int, int>, int> links;
  std::vector<Pairs> found;
  for (int round = 0; round < rounds; ++round) {
    found.push_back(heaviestMatching(left, members, kind));
    for (auto [a, b] : found.back()) {
      const int count = ++links[{a, b}];
      const double kept =
          rule == DemandRule::Halved ? 0.5 : count / (count + 1.0);
      left.at(a, b) *= kept;
      if (kind == LinkKind::TwoWay)
        left.at(b, a) *= kept;
    }
  }
  return found;
}
