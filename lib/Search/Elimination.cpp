//===- Elimination.cpp - the least sum over nodes and edges ---------------===//

#include "ffc/Search/Elimination.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>

using namespace ffc;
using namespace ffc::search;
using namespace ffc::plan;

/// Where more nodes are left than that for each of the beam, it is narrower,
/// but not narrower than that.
static constexpr size_t kBeamWork = size_t(1) << 18, kLeastBeam = 16;

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

  /// Sums of many costs, of which each may be kMaxCost, and which are taken
  /// back.
  using Total = __int128;

  /// What is certain of a node once one before it is chosen: by candidate of
  /// the latter, the least that their edge costs, and more for one of them.
  struct Message {
    size_t from, before; ///< indices in `rest`
    Costs least;
  };
  struct Messages {
    std::vector<Message> all;
    std::vector<std::vector<size_t>> sent, got; ///< by index in `rest`
  };

  /// From the last node of `rest` on, each sends what it costs with the
  /// messages that it got to the last one before it that it has an edge to, and
  /// to the others what their edge costs alone: mini-buckets (Kask and Dechter,
  /// Artificial Intelligence 129, 2001).
  Messages messages(const std::vector<size_t> &rest) const {
    Messages result;
    result.sent.resize(rest.size());
    result.got.resize(rest.size());
    std::vector<Costs> whole;
    for (size_t node : rest)
      whole.push_back(nodes[node]);
    for (size_t r = rest.size(); r-- > 0;)
      for (auto link = links[rest[r]].rbegin(); link != links[rest[r]].rend();
           ++link) {
        if (link->first > rest[r])
          continue;
        const size_t before = indexIn(rest, link->first);
        const Costs &edge = links[link->first].at(rest[r]);
        const size_t count = size(rest[r]);
        const bool isFirst = result.sent[r].empty();
        Message message{r, before, Costs(size(rest[before]), kMaxCost)};
        for (size_t i = 0; i < message.least.size(); ++i) {
          for (size_t c = 0; c < count; ++c)
            message.least[i] =
                std::min(message.least[i],
                         sum(edge[i * count + c], isFirst ? whole[r][c] : 0));
          whole[before][i] = sum(whole[before][i], message.least[i]);
        }
        result.sent[r].push_back(result.all.size());
        result.got[before].push_back(result.all.size());
        result.all.push_back(std::move(message));
      }
    return result;
  }

  static size_t indexIn(const std::vector<size_t> &rest, size_t node) {
    return static_cast<size_t>(
        std::lower_bound(rest.begin(), rest.end(), node) - rest.begin());
  }

  /// A choice for the first few of the nodes that are left.
  struct Beginning {
    /// By place (Places) the candidates of those with edges to several later
    /// ones.
    std::vector<uint32_t> open;
    Picoseconds cost = 0;
    Total later = 0; ///< the messages of later nodes to these
  };
  /// One with a candidate of the next node.
  struct Longer {
    size_t of; ///< index of what it begins with
    uint32_t candidate;
    Picoseconds cost;
    Total later;

    Picoseconds outlook() const {
      return static_cast<Picoseconds>(std::min<Total>(later + cost, kMaxCost));
    }
  };

  /// Where beginnings have the choice for a node until the last node that it
  /// has an edge to is chosen for. Nodes with an edge to one later node have no
  /// place, since there may be very many for the same one.
  struct Places {
    std::vector<std::optional<size_t>> of; ///< by index in `rest`
    size_t number = 0;
  };
  Places placesOf(const std::vector<size_t> &rest) const {
    Places places;
    std::vector<size_t> free;
    std::vector<std::vector<size_t>> ending(rest.size());
    for (size_t r = 0; r < rest.size(); ++r) {
      const auto &own = links[rest[r]];
      std::optional<size_t> &place = places.of.emplace_back();
      if (std::distance(own.upper_bound(rest[r]), own.end()) > 1) {
        if (free.empty())
          free.push_back(places.number++);
        place = free.back();
        free.pop_back();
        ending[indexIn(rest, own.rbegin()->first)].push_back(*place);
      }
      free.insert(free.end(), ending[r].begin(), ending[r].end());
    }
    return places;
  }

  /// An edge of a node of `rest` to one before it.
  struct Earlier {
    size_t index; ///< in `rest`
    const Costs *costs;
  };
  std::vector<Earlier> earlierOf(const std::vector<size_t> &rest,
                                 size_t r) const {
    std::vector<Earlier> result;
    const auto &own = links[rest[r]];
    for (auto it = own.begin(), end = own.lower_bound(rest[r]); it != end; ++it)
      result.push_back({indexIn(rest, it->first), &it->second});
    return result;
  }

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
    Messages later;
    if (!solution.isOptimal)
      later = messages(rest);
    beam = std::min(beam, std::max(kBeamWork / std::max<size_t>(rest.size(), 1),
                                   kLeastBeam));
    const Places places = placesOf(rest);
    std::vector<Beginning> kept(1);
    kept[0].open.resize(places.number);
    std::vector<std::vector<Longer>> steps;
    std::vector<uint32_t> chosen(rest.size());
    for (size_t r = 0; r < rest.size(); ++r) {
      const std::vector<Earlier> earlier = earlierOf(rest, r);
      std::vector<Longer> next;
      for (size_t k = 0; k < kept.size(); ++k) {
        lookUp(chosen, earlier, places, kept[k], steps, k);
        Total sent = kept[k].later;
        if (!solution.isOptimal)
          for (size_t m : later.sent[r])
            // They are no more than what the node costs.
            sent -= later.all[m].least[chosen[later.all[m].before]];
        for (size_t c = 0; c < size(rest[r]); ++c) {
          Total with = sent;
          if (!solution.isOptimal)
            for (size_t m : later.got[r])
              with += later.all[m].least[c];
          next.push_back({k, static_cast<uint32_t>(c),
                          costWith(kept[k].cost, earlier, chosen, rest, r, c),
                          with});
        }
      }
      if (!solution.isOptimal && next.size() > beam) {
        std::stable_sort(next.begin(), next.end(),
                         [](const Longer &a, const Longer &b) {
                           return a.outlook() < b.outlook();
                         });
        next.resize(beam);
        next.shrink_to_fit();
      }
      keep(kept, next, places.of[r]);
      steps.push_back(std::move(next));
    }
    auto best = static_cast<size_t>(
        std::min_element(kept.begin(), kept.end(),
                         [](const Beginning &a, const Beginning &b) {
                           return a.cost < b.cost;
                         }) -
        kept.begin());
    for (size_t r = rest.size(); r-- > 0; best = steps[r][best].of)
      solution.choice[rest[r]] = steps[r][best].candidate;
  }

  /// Puts into `chosen` what beginning number k has for the nodes of `earlier`.
  static void lookUp(std::vector<uint32_t> &chosen,
                     const std::vector<Earlier> &earlier, const Places &places,
                     const Beginning &beginning,
                     const std::vector<std::vector<Longer>> &steps, size_t k) {
    size_t first = steps.size(); // of those without a place
    for (const Earlier &each : earlier)
      if (const std::optional<size_t> place = places.of[each.index])
        chosen[each.index] = beginning.open[*place];
      else
        first = std::min(first, each.index);
    for (size_t r = steps.size(); r-- > first; k = steps[r][k].of)
      if (!places.of[r])
        chosen[r] = steps[r][k].candidate;
  }

  static void keep(std::vector<Beginning> &kept,
                   const std::vector<Longer> &next,
                   std::optional<size_t> place) {
    std::vector<Beginning> longer;
    longer.reserve(next.size());
    for (const Longer &each : next) {
      longer.push_back({kept[each.of].open, each.cost, each.later});
      if (place)
        longer.back().open[*place] = each.candidate;
    }
    kept = std::move(longer);
  }

  /// With candidate c of node number r of `rest`.
  Picoseconds costWith(Picoseconds before, const std::vector<Earlier> &earlier,
                       const std::vector<uint32_t> &chosen,
                       const std::vector<size_t> &rest, size_t r,
                       size_t c) const {
    Picoseconds cost = sum(before, nodes[rest[r]][c]);
    for (const Earlier &each : earlier)
      cost = sum(
          cost, (*each.costs)[c * size(rest[each.index]) + chosen[each.index]]);
    return cost;
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
