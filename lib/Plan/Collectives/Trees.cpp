//===- Trees.cpp - all-gathers over packed spanning trees -----------------===//

#include "Algorithms.h"
#include "ScheduleEngine.h"

#include <queue>
#include <tuple>

using namespace ffc::plan;

namespace {

/// Every edge carries the chunks of its trees, those first that have the
/// farthest to go.
class FarthestFirst {
public:
  FarthestFirst(const MemberGraph &graph, const TreePacking &packing,
                int pieces)
      : pieces(pieces), waiting(graph.edges().size()) {
    for (const SpanningTree &tree : packing.trees) {
      Tree &added = trees.emplace_back();
      added.edgesFrom.resize(static_cast<size_t>(graph.size()));
      std::vector<double> height(static_cast<size_t>(graph.size()));
      for (auto e = tree.edges.rbegin(); e != tree.edges.rend(); ++e) {
        const auto [src, dst] = graph.edges()[*e];
        height[src] = std::max(height[src],
                               height[dst] + 1 / graph.way(src, dst).bandwidth);
        added.edgesFrom[src].push_back({*e, height[dst]});
      }
    }
    for (size_t t = 0; t < packing.trees.size(); ++t)
      for (int piece = 0; piece < pieces; ++piece)
        arrived(packing.trees[t].root, static_cast<int>(t) * pieces + piece);
  }

  void arrived(int member, int chunk) {
    for (const auto &[edge, height] : trees[chunk / pieces].edgesFrom[member])
      waiting[edge].push({height, scattered(chunk), chunk});
  }
  int pick(int edge) {
    if (waiting[edge].empty())
      return -1;
    const int chunk = waiting[edge].top().chunk;
    waiting[edge].pop();
    return chunk;
  }

private:
  struct Waiting {
    double height;
    uint32_t tie;
    int chunk;
    bool operator<(const Waiting &o) const {
      return std::tie(height, tie, chunk) < std::tie(o.height, o.tie, o.chunk);
    }
  };
  /// Edges that serve equals in one order starve the same trees everywhere.
  static uint32_t scattered(int chunk) {
    return static_cast<uint32_t>(chunk) * 2654435761u;
  }

  struct Tree {
    /// By member: its edges, and how many seconds a byte takes from their ends
    /// to the last member behind.
    std::vector<std::vector<std::pair<int, double>>> edgesFrom;
  };
  const int pieces;
  std::vector<Tree> trees;
  std::vector<std::priority_queue<Waiting>> waiting; ///< by edge
};

} // namespace

CollectiveSchedule ffc::plan::treesAllGather(const MemberGraph &graph,
                                             const TreePacking &packing,
                                             int pieces) {
  CollectiveSchedule schedule;
  schedule.algorithm = "trees";
  schedule.kind = CollectiveKind::AllGather;
  schedule.members = graph.size();
  schedule.chunks = graph.size() * packing.treesOfEach * pieces;
  FarthestFirst rule(graph, packing, pieces);
  schedule.transfers = runAllGather(graph, /*chunkBytes=*/1 << 20, rule);
  return schedule;
}
