//===- Elimination.cpp - the least sum over nodes and edges ---------------===//

#include "ffc/Search/Elimination.h"

#include <algorithm>
#include <map>
#include <set>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// Costs are at most kMaxCost, and so are sums of them.
static Picoseconds sum(Picoseconds a, Picoseconds b) {
  return std::min(a + b, kMaxCost);
}

Picoseconds AdditiveProblem::total(const std::vector<size_t> &choice) const {
  Picoseconds result = 0;
  for (size_t n = 0; n < nodes.size(); ++n)
    result = sum(result, nodes[n][choice[n]]);
  for (const Edge &edge : edges)
    result =
        sum(result,
            edge.costs[choice[edge.a] * nodes[edge.b].size() + choice[edge.b]]);
  return result;
}

namespace {

class Solver {
public:
  Solver(AdditiveProblem given, int64_t most, size_t beam)
      : problem(std::move(given)), nodes(problem.nodes), most(most), beam(beam),
        links(nodes.size()), gone(nodes.size()) {
    for (const AdditiveProblem::Edge &edge : problem.edges)
      addEdge(edge.a, edge.b, [&](size_t i, size_t j) {
        return edge.costs[i * nodes[edge.b].size() + j];
      });
  }

  AdditiveSolution run() {
    reduce();
    solution.choice.resize(nodes.size());
    chooseRest();
    for (size_t e = eliminated.size(); e-- > 0;)
      putBack(eliminated[e]);
    solution.cost = problem.total(solution.choice);
    return std::move(solution);
  }

private:
  /// Costs by the candidates of the node that has it and of its neighbour.
  using Costs = std::vector<Picoseconds>;

  /// A node that is gone, and its best candidate by those of its neighbours.
  struct Eliminated {
    size_t node;
    std::vector<size_t> neighbours; ///< none to two
    std::vector<size_t> best;
  };

  size_t size(size_t node) const { return nodes[node].size(); }

  /// Parallel edges become one: the elimination of edges.
  template <class CostOf> void addEdge(size_t a, size_t b, CostOf cost) {
    Costs &there = links[a][b], &back = links[b][a];
    there.resize(size(a) * size(b));
    back.resize(size(a) * size(b));
    for (size_t i = 0; i < size(a); ++i)
      for (size_t j = 0; j < size(b); ++j) {
        Picoseconds &known = there[i * size(b) + j];
        known = sum(known, cost(i, j));
        back[j * size(a) + i] = known;
      }
  }

  void reduce() {
    std::set<size_t> ready;
    auto look = [&](size_t node) {
      if (!gone[node] && links[node].size() <= 2)
        ready.insert(node);
    };
    for (size_t n = 0; n < nodes.size(); ++n)
      look(n);
    while (!ready.empty()) {
      size_t node = *ready.begin();
      ready.erase(ready.begin());
      eliminate(node);
      for (size_t neighbour : eliminated.back().neighbours)
        look(neighbour);
    }
  }

  void eliminate(size_t node) {
    Eliminated record{node, {}, {}};
    std::vector<const Costs *> edges;
    for (const auto &[neighbour, costs] : links[node]) {
      record.neighbours.push_back(neighbour);
      edges.push_back(&costs);
    }
    size_t first = edges.empty() ? 1 : size(record.neighbours[0]),
           second = edges.size() < 2 ? 1 : size(record.neighbours[1]);
    Costs least;
    for (size_t i = 0; i < first; ++i)
      for (size_t j = 0; j < second; ++j) {
        size_t best = 0;
        Picoseconds bestCost = -1;
        for (size_t c = 0; c < size(node); ++c) {
          Picoseconds cost = nodes[node][c];
          if (!edges.empty())
            cost = sum(cost, (*edges[0])[c * first + i]);
          if (edges.size() == 2)
            cost = sum(cost, (*edges[1])[c * second + j]);
          if (bestCost < 0 || cost < bestCost) {
            best = c;
            bestCost = cost;
          }
        }
        record.best.push_back(best);
        least.push_back(bestCost);
      }
    gone[node] = true;
    for (size_t neighbour : record.neighbours)
      links[neighbour].erase(node);
    links[node].clear();
    if (record.neighbours.size() == 1)
      for (size_t i = 0; i < first; ++i)
        nodes[record.neighbours[0]][i] =
            sum(nodes[record.neighbours[0]][i], least[i]);
    if (record.neighbours.size() == 2)
      addEdge(record.neighbours[0], record.neighbours[1],
              [&](size_t i, size_t j) { return least[i * second + j]; });
    eliminated.push_back(std::move(record));
  }

  void putBack(const Eliminated &record) {
    size_t at = 0;
    for (size_t neighbour : record.neighbours)
      at = at * size(neighbour) + solution.choice[neighbour];
    solution.choice[record.node] = record.best[at];
  }

  /// A choice for the first few of the nodes that are left.
  struct Beginning {
    std::vector<size_t> choice;
    Picoseconds cost = 0;
  };

  /// All combinations are a beam that nothing is left out of.
  void chooseRest() {
    std::vector<size_t> rest;
    int64_t combinations = 1;
    for (size_t n = 0; n < nodes.size(); ++n) {
      if (gone[n])
        continue;
      rest.push_back(n);
      combinations = combinations > most / static_cast<int64_t>(size(n))
                         ? most + 1
                         : combinations * static_cast<int64_t>(size(n));
    }
    solution.irreducible = rest.size();
    solution.isOptimal = combinations <= most;
    std::vector<Beginning> kept(1), next;
    for (size_t r = 0; r < rest.size(); ++r) {
      next.clear();
      for (const Beginning &beginning : kept)
        for (size_t c = 0; c < size(rest[r]); ++c) {
          Beginning longer = beginning;
          longer.cost = sum(longer.cost, nodes[rest[r]][c]);
          for (size_t before = 0; before < r; ++before)
            if (auto edge = links[rest[r]].find(rest[before]);
                edge != links[rest[r]].end())
              longer.cost =
                  sum(longer.cost, edge->second[c * size(rest[before]) +
                                                beginning.choice[before]]);
          longer.choice.push_back(c);
          next.push_back(std::move(longer));
        }
      std::stable_sort(next.begin(), next.end(),
                       [](const Beginning &a, const Beginning &b) {
                         return a.cost < b.cost;
                       });
      if (!solution.isOptimal && next.size() > beam)
        next.resize(beam);
      kept.swap(next);
    }
    for (size_t r = 0; r < rest.size(); ++r)
      solution.choice[rest[r]] = kept.front().choice[r];
  }

  const AdditiveProblem problem;
  std::vector<Costs> nodes; ///< with what was folded into them
  int64_t most;
  size_t beam;
  std::vector<std::map<size_t, Costs>> links;
  std::vector<bool> gone;
  std::vector<Eliminated> eliminated;
  AdditiveSolution solution;
};

} // namespace

AdditiveSolution search::solve(AdditiveProblem problem, int64_t most,
                               size_t beam) {
  return Solver(std::move(problem), most, beam).run();
}
