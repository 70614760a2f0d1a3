//===- Greedy.cpp - all-gathers matched to links, chunk by chunk ----------===//

#include "Algorithms.h"
#include "ScheduleEngine.h"

#include <random>

using namespace ffc::plan;

namespace {

/// Of the chunks that an edge's end lacks, the one that the fewest have.
class RarestFirst {
public:
  RarestFirst(const MemberGraph &graph, int chunksOfEach)
      : graph(graph), chunks(graph.size() * chunksOfEach),
        words((static_cast<size_t>(chunks) + 63) / 64),
        has(static_cast<size_t>(graph.size()) * words),
        expects(static_cast<size_t>(graph.size()) * words),
        owners(static_cast<size_t>(chunks), 1) {
    for (int chunk = 0; chunk < chunks; ++chunk) {
      set(has, chunk / chunksOfEach, chunk);
      set(expects, chunk / chunksOfEach, chunk);
    }
  }

  int pick(int edge) {
    const auto [src, dst] = graph.edges()[edge];
    int best = -1, ties = 0;
    for (size_t w = 0; w < words; ++w)
      for (uint64_t left = has[static_cast<size_t>(src) * words + w] &
                           ~expects[static_cast<size_t>(dst) * words + w];
           left; left &= left - 1) {
        const int chunk = static_cast<int>(w) * 64 + __builtin_ctzll(left);
        if (best < 0 || owners[chunk] < owners[best]) {
          best = chunk;
          ties = 1;
        } else if (owners[chunk] == owners[best] && random() % ++ties == 0) {
          best = chunk;
        }
      }
    if (best >= 0) {
      set(expects, dst, best);
      ++owners[best];
    }
    return best;
  }

  void arrived(int member, int chunk) { set(has, member, chunk); }

private:
  void set(std::vector<uint64_t> &bits, int member, int chunk) {
    bits[static_cast<size_t>(member) * words +
         static_cast<size_t>(chunk) / 64] |= uint64_t(1) << (chunk % 64);
  }

  const MemberGraph &graph;
  const int chunks;
  const size_t words;
  std::minstd_rand random;            ///< for ties
  std::vector<uint64_t> has, expects; ///< chunks as bits, by member
  std::vector<int> owners;            ///< by chunk: who has or expects it
};

} // namespace

CollectiveSchedule ffc::plan::greedyAllGather(const MemberGraph &graph,
                                              int chunks, double chunkBytes) {
  CollectiveSchedule schedule;
  schedule.algorithm = "greedy";
  schedule.kind = CollectiveKind::AllGather;
  schedule.members = graph.size();
  schedule.chunks = graph.size() * chunks;
  RarestFirst rule(graph, chunks);
  schedule.transfers = runAllGather(graph, chunkBytes, rule);
  return schedule;
}
