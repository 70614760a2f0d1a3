//===- Greedy.cpp - all-gathers matched to links, chunk by chunk ----------===//

#include "Algorithms.h"
#include "ScheduleEngine.h"

#include <algorithm>
#include <limits>
#include <random>

using namespace ffc::plan;

namespace {

/// Of the chunks that an edge's end lacks, one of those that the fewest have.
/// Sets of chunks are bits.
class RarestFirst {
public:
  /// Nothing goes over edges that are closed.
  RarestFirst(const MemberGraph &graph, int chunksOfEach,
              const std::vector<bool> &isClosed, uint32_t seed)
      : graph(graph), isClosed(isClosed), random(seed),
        words(wordsFor(graph.size() * chunksOfEach)),
        has(static_cast<size_t>(graph.size()) * words), expects(has),
        byOwners(static_cast<size_t>(graph.size() + 1) * words), lacks(words),
        numbers(static_cast<size_t>(graph.size() + 1)) {
    const int chunks = graph.size() * chunksOfEach;
    for (int chunk = 0; chunk < chunks; ++chunk) {
      add(has, chunk / chunksOfEach, chunk);
      add(expects, chunk / chunksOfEach, chunk);
      add(byOwners, 1, chunk);
    }
    numbers[1] = chunks;
  }

  int pick(int edge) {
    if (isClosed[edge])
      return -1;
    const auto [src, dst] = graph.edges()[edge];
    bool isAny = false;
    for (size_t w = 0; w < words; ++w) {
      lacks[w] = has[at(src) + w] & ~expects[at(dst) + w];
      isAny |= lacks[w] != 0;
    }
    if (!isAny)
      return -1;
    while (numbers[fewest] == 0)
      ++fewest;
    int ties = 0, rarest = fewest;
    for (;; ++rarest) {
      for (size_t w = 0; w < words; ++w)
        ties += __builtin_popcountll(lacks[w] & byOwners[at(rarest) + w]);
      if (ties > 0)
        break;
    }
    const int chunk = numbered(
        rarest, static_cast<int>(random() % static_cast<unsigned>(ties)));
    add(expects, dst, chunk);
    remove(byOwners, rarest, chunk);
    add(byOwners, rarest + 1, chunk);
    --numbers[rarest];
    ++numbers[rarest + 1];
    return chunk;
  }

  void arrived(int member, int chunk) { add(has, member, chunk); }

private:
  static size_t wordsFor(int chunks) {
    return (static_cast<size_t>(chunks) + 63) / 64;
  }
  size_t at(int row) const { return static_cast<size_t>(row) * words; }
  void add(std::vector<uint64_t> &rows, int row, int chunk) const {
    rows[at(row) + static_cast<size_t>(chunk) / 64] |= uint64_t(1)
                                                       << (chunk % 64);
  }
  void remove(std::vector<uint64_t> &rows, int row, int chunk) const {
    rows[at(row) + static_cast<size_t>(chunk) / 64] &=
        ~(uint64_t(1) << (chunk % 64));
  }
  /// Of what is lacking and has so many owners, the chunk of that number.
  int numbered(int ownersOfIt, int number) const {
    for (size_t w = 0;; ++w) {
      uint64_t left = lacks[w] & byOwners[at(ownersOfIt) + w];
      for (; left; left &= left - 1, --number)
        if (number == 0)
          return static_cast<int>(w) * 64 + __builtin_ctzll(left);
    }
  }

  const MemberGraph &graph;
  const std::vector<bool> &isClosed; ///< by edge
  std::minstd_rand random;           ///< for ties
  const size_t words;
  std::vector<uint64_t> has, expects; ///< by member
  /// By the number of members that have or expect them.
  std::vector<uint64_t> byOwners;
  std::vector<uint64_t> lacks; ///< of the last edge
  std::vector<int> numbers;    ///< of chunks, by number of owners
  int fewest = 1;              ///< that any chunk has
};

} // namespace

std::vector<bool> ffc::plan::slowEdges(const MemberGraph &graph,
                                       double chunkBytes, double factor) {
  const auto n = static_cast<size_t>(graph.size());
  auto secondsOf = [&](const MemberGraph::Edge &edge) {
    const MemberGraph::Way &way = graph.way(edge.src, edge.dst);
    return static_cast<double>(way.latency) * 1e-12 +
           chunkBytes / way.bandwidth;
  };
  // Floyd and Warshall.
  std::vector<double> least(n * n, std::numeric_limits<double>::infinity());
  for (const MemberGraph::Edge &edge : graph.edges())
    least[edge.src * n + edge.dst] = secondsOf(edge);
  for (size_t via = 0; via < n; ++via)
    for (size_t src = 0; src < n; ++src)
      for (size_t dst = 0; dst < n; ++dst)
        least[src * n + dst] = std::min(
            least[src * n + dst], least[src * n + via] + least[via * n + dst]);
  std::vector<bool> isSlow;
  for (const MemberGraph::Edge &edge : graph.edges())
    isSlow.push_back(secondsOf(edge) > factor * least[edge.src * n + edge.dst]);
  return isSlow;
}

CollectiveSchedule ffc::plan::greedyAllGather(const MemberGraph &graph,
                                              int chunks, double chunkBytes,
                                              const std::vector<bool> &isClosed,
                                              uint32_t seed) {
  CollectiveSchedule schedule;
  schedule.algorithm = "greedy";
  schedule.kind = CollectiveKind::AllGather;
  schedule.members = graph.size();
  schedule.chunks = graph.size() * chunks;
  RarestFirst rule(graph, chunks, isClosed, seed);
  schedule.transfers = runAllGather(graph, chunkBytes, rule);
  return schedule;
}
