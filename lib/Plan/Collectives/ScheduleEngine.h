//===- ScheduleEngine.h - lays transfers over links, in time ----*- C++ -*-===//
//
// Runs an all-gather on a graph: whenever an edge's links are free, a rule says
// which chunk goes over it next, if any. The transfers in the order of their
// starts are a schedule.
//
// Private to the library.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_SCHEDULEENGINE_H
#define FFC_LIB_PLAN_SCHEDULEENGINE_H

#include "MemberGraph.h"
#include "ffc/Plan/CollectiveSchedule.h"

#include <algorithm>
#include <cstdint>
#include <queue>
#include <vector>

namespace ffc::plan {

/// A set of numbers below `size`, most of which are not in it.
class NumberSet {
public:
  explicit NumberSet(size_t size)
      : words((size + 63) / 64), used((words.size() + 63) / 64) {}

  void insert(size_t number) {
    words[number / 64] |= uint64_t(1) << (number % 64);
    used[number / 4096] |= uint64_t(1) << (number / 64 % 64);
  }
  /// Calls visit(number) for all, the smallest first, and removes them.
  template <typename Visit> void drain(Visit visit) {
    for (size_t u = 0; u < used.size(); ++u)
      for (; used[u]; used[u] &= used[u] - 1) {
        const size_t w = u * 64 + static_cast<size_t>(__builtin_ctzll(used[u]));
        for (; words[w]; words[w] &= words[w] - 1)
          visit(w * 64 + static_cast<size_t>(__builtin_ctzll(words[w])));
      }
  }

private:
  std::vector<uint64_t> words; ///< a bit for each number
  std::vector<uint64_t> used;  ///< a bit for each word that is not 0
};

/// `Rule` has
///   int pick(int edge)                   a chunk that the edge's source has,
///                                        which its destination gets now; or -1
///   void arrived(int member, int chunk)
template <class Rule>
std::vector<ChunkTransfer> runAllGather(const MemberGraph &graph,
                                        double chunkBytes, Rule &rule) {
  struct Arrival {
    double time;
    int edge, chunk;
    bool operator>(const Arrival &o) const { return time > o.time; }
  };
  struct Freed {
    double time;
    int link;
    bool operator>(const Freed &o) const { return time > o.time; }
  };
  const std::vector<MemberGraph::Edge> &edges = graph.edges();
  std::vector<std::vector<int>> edgesOf(graph.bandwidths().size()),
      edgesFrom(static_cast<size_t>(graph.size()));
  for (size_t e = 0; e < edges.size(); ++e) {
    for (int link : graph.way(edges[e].src, edges[e].dst).links)
      edgesOf[link].push_back(static_cast<int>(e));
    edgesFrom[edges[e].src].push_back(static_cast<int>(e));
  }
  // Wide edges choose first.
  std::vector<size_t> rank(edges.size());
  std::vector<int> order(edges.size());
  for (size_t e = 0; e < edges.size(); ++e)
    order[e] = static_cast<int>(e);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return graph.way(edges[a].src, edges[a].dst).bandwidth >
           graph.way(edges[b].src, edges[b].dst).bandwidth;
  });
  for (size_t i = 0; i < order.size(); ++i)
    rank[order[i]] = i;

  std::vector<ChunkTransfer> transfers;
  std::vector<double> freeAt(graph.bandwidths().size());
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arrivals;
  std::priority_queue<Freed, std::vector<Freed>, std::greater<>> freed;
  NumberSet ready(order.size()); // ranks of edges that may start something
  for (size_t i = 0; i < order.size(); ++i)
    ready.insert(i);
  // Times that differ by rounding only are one.
  const double tolerance = 1e-9;
  for (double now = 0;;) {
    ready.drain([&](size_t r) {
      const MemberGraph::Edge &edge = edges[order[r]];
      const MemberGraph::Way &way = graph.way(edge.src, edge.dst);
      bool isFree = true;
      for (int link : way.links)
        isFree &= freeAt[link] <= now * (1 + tolerance);
      const int chunk = isFree ? rule.pick(order[r]) : -1;
      if (chunk < 0)
        return;
      transfers.push_back({chunk, static_cast<int16_t>(edge.src),
                           static_cast<int16_t>(edge.dst)});
      for (int link : way.links) {
        freeAt[link] = now + chunkBytes / graph.bandwidths()[link];
        freed.push({freeAt[link], link});
      }
      arrivals.push({now + static_cast<double>(way.latency) * 1e-12 +
                         chunkBytes / way.bandwidth,
                     order[r], chunk});
    });
    if (arrivals.empty())
      return transfers;
    now = arrivals.top().time;
    if (!freed.empty())
      now = std::min(now, freed.top().time);
    const double until = now * (1 + tolerance);
    for (; !freed.empty() && freed.top().time <= until; freed.pop())
      for (int edge : edgesOf[freed.top().link])
        ready.insert(rank[edge]);
    for (; !arrivals.empty() && arrivals.top().time <= until; arrivals.pop()) {
      const Arrival arrival = arrivals.top();
      const int member = edges[arrival.edge].dst;
      rule.arrived(member, arrival.chunk);
      for (int edge : edgesFrom[member])
        ready.insert(rank[edge]);
    }
  }
}

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_SCHEDULEENGINE_H
