//===- TreePacking.cpp - spanning trees that share a graph's links --------===//

#include "TreePacking.h"

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace ffc::plan;

namespace {

/// The members, their edges, and a source with an edge to every member; by
/// Dinic's algorithm, up to a wanted flow.
class FlowNetwork {
public:
  FlowNetwork(int members, const std::vector<MemberGraph::Edge> &edges)
      : numVertices(members + 1) {
    for (const MemberGraph::Edge &edge : edges)
      addArc(edge.src, edge.dst);
    for (int member = 0; member < members; ++member)
      addArc(members, member);
    first.assign(static_cast<size_t>(numVertices) + 1, 0);
    for (int from : tails)
      ++first[static_cast<size_t>(from) + 1];
    std::partial_sum(first.begin(), first.end(), first.begin());
    byTail.resize(tails.size());
    std::vector<int> next(first.begin(), first.end() - 1);
    for (size_t arc = 0; arc < tails.size(); ++arc)
      byTail[next[tails[arc]]++] = static_cast<int>(arc);
  }

  /// Arc of edge number i; of the source to member m it is edges + m.
  void setCapacity(size_t arc, int64_t capacity) { given[arc] = capacity; }

  /// Does as much as `wanted` flow from the source to `sink`?
  bool reaches(int sink, int64_t wanted) {
    left.resize(tails.size());
    for (size_t arc = 0; arc < given.size(); ++arc) {
      left[2 * arc] = given[arc];
      left[2 * arc + 1] = 0;
    }
    for (int64_t flow = 0; flow < wanted;) {
      if (!levelVertices(sink))
        return false;
      nextArc.assign(first.begin(), first.end() - 1);
      while (flow < wanted)
        if (const int64_t more = push(numVertices - 1, sink, wanted - flow))
          flow += more;
        else
          break;
    }
    return true;
  }

private:
  void addArc(int from, int to) {
    tails.push_back(from);
    heads.push_back(to);
    tails.push_back(to);
    heads.push_back(from);
    given.push_back(0);
  }

  bool levelVertices(int sink) {
    level.assign(static_cast<size_t>(numVertices), -1);
    queue.assign(1, numVertices - 1);
    level[numVertices - 1] = 0;
    for (size_t i = 0; i < queue.size() && level[sink] < 0; ++i)
      for (int at = first[queue[i]]; at < first[queue[i] + 1]; ++at) {
        const int arc = byTail[at];
        if (left[arc] > 0 && level[heads[arc]] < 0) {
          level[heads[arc]] = level[queue[i]] + 1;
          queue.push_back(heads[arc]);
        }
      }
    return level[sink] >= 0;
  }

  int64_t push(int at, int sink, int64_t most) {
    if (at == sink)
      return most;
    for (int &next = nextArc[at]; next < first[at + 1]; ++next) {
      const int arc = byTail[next];
      if (left[arc] <= 0 || level[heads[arc]] != level[at] + 1)
        continue;
      if (const int64_t flow =
              push(heads[arc], sink, std::min(most, left[arc]))) {
        left[arc] -= flow;
        left[arc ^ 1] += flow;
        return flow;
      }
    }
    return 0;
  }

  const int numVertices;
  std::vector<int> tails, heads; ///< by arc; an arc's reverse is arc ^ 1
  std::vector<int> first, byTail;
  std::vector<int64_t> given, left;
  std::vector<int> level, queue, nextArc;
};

class Packer {
public:
  Packer(const MemberGraph &graph, const std::vector<double> &bandwidths)
      : graph(graph), bandwidths(bandwidths), members(graph.size()),
        network(members, graph.edges()), out(static_cast<size_t>(members)) {
    for (size_t e = 0; e < graph.edges().size(); ++e)
      out[graph.edges()[e].src].push_back(static_cast<int>(e));
    widest = *std::max_element(bandwidths.begin(), bandwidths.end());
  }

  /// The least number of trees through an edge of the widest bandwidth if every
  /// root has `trees`; 0: they do not fit at all.
  double leastLoad(int trees) {
    const double most =
        static_cast<double>(members) * trees *
        (widest / *std::min_element(bandwidths.begin(), bandwidths.end()));
    if (!fits(trees, most))
      return 0;
    double low = 0, high = most;
    // What fits changes where an edge's capacity does: halving down to less
    // than that is exact.
    while (high - low > 1e-7 * high) {
      const double middle = (low + high) / 2;
      (fits(trees, middle) ? high : low) = middle;
    }
    return high;
  }

  std::vector<SpanningTree> pack(int trees, double load) {
    setCapacities(load);
    unfinished.assign(static_cast<size_t>(members), trees);
    std::vector<SpanningTree> result;
    for (int root = 0; root < members; ++root)
      for (int i = 0; i < trees; ++i)
        result.push_back(grow(root));
    return result;
  }

private:
  void setCapacities(double load) {
    capacities.resize(bandwidths.size());
    for (size_t e = 0; e < bandwidths.size(); ++e)
      capacities[e] = static_cast<int64_t>(
          std::floor(bandwidths[e] / widest * load * (1 + 1e-6)));
  }

  bool fits(int trees, double load) {
    setCapacities(load);
    for (size_t e = 0; e < capacities.size(); ++e)
      network.setCapacity(e, capacities[e]);
    for (int member = 0; member < members; ++member)
      network.setCapacity(capacities.size() + static_cast<size_t>(member),
                          trees);
    for (int member = 0; member < members; ++member)
      if (!network.reaches(member, int64_t(members) * trees))
        return false;
    return true;
  }

  /// Takes the capacities of a tree from `root`, which members join in the
  /// order of their distance as far as the trees still to come allow it.
  SpanningTree grow(int root) {
    SpanningTree tree;
    tree.root = root;
    --unfinished[root];
    std::vector<bool> inside(static_cast<size_t>(members));
    inside[root] = true;
    std::vector<int> reached = {root};
    for (size_t i = 0; i < reached.size(); ++i)
      for (int e : out[reached[i]]) {
        const int dst = graph.edges()[e].dst;
        if (inside[dst] || capacities[e] == 0 || !mayTake(e))
          continue;
        --capacities[e];
        inside[dst] = true;
        tree.edges.push_back(e);
        reached.push_back(dst);
      }
    return tree;
  }

  /// Whether the trees that are still to be grown, and the rest of this one,
  /// fit without a unit of edge `e`: every set of members that `e` leads into
  /// is entered by more than the trees that are wholly outside of it.
  bool mayTake(int e) {
    const MemberGraph::Edge &edge = graph.edges()[e];
    int64_t others = 0;
    for (size_t i = 0; i < capacities.size(); ++i)
      network.setCapacity(i, capacities[i]);
    for (int member = 0; member < members; ++member) {
      network.setCapacity(capacities.size() + static_cast<size_t>(member),
                          member == edge.src ? kUnbounded : unfinished[member]);
      others += unfinished[member];
    }
    return network.reaches(edge.dst, others + 1);
  }

  static constexpr int64_t kUnbounded = int64_t(1) << 40;

  const MemberGraph &graph;
  const std::vector<double> &bandwidths;
  const int members;
  FlowNetwork network;
  std::vector<std::vector<int>> out; ///< edges by source
  double widest = 0;
  std::vector<int64_t> capacities; ///< trees, by edge
  std::vector<int> unfinished;     ///< trees, by root
};

} // namespace

TreePacking ffc::plan::packTrees(const MemberGraph &graph,
                                 const std::vector<double> &bandwidths) {
  TreePacking best;
  if (bandwidths.empty())
    return best;
  Packer packer(graph, bandwidths);
  const double widest = *std::max_element(bandwidths.begin(), bandwidths.end());
  // With more trees their loads are more even.
  constexpr int kMostTrees = 12;
  constexpr double kWorth = 0.995;
  double bestLoad = 0;
  for (int trees = 1; trees <= kMostTrees; ++trees) {
    const double load = packer.leastLoad(trees);
    if (load == 0)
      return best;
    const double seconds = load / widest / trees / graph.size();
    if (best.treesOfEach == 0 || seconds < best.secondsPerByte * kWorth) {
      best.treesOfEach = trees;
      best.secondsPerByte = seconds;
      bestLoad = load;
    }
  }
  best.trees = packer.pack(best.treesOfEach, bestLoad);
  return best;
}
