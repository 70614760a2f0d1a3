//===- Algorithms.h - the algorithms for collectives ------------*- C++ -*-===//
//
// Each makes the schedule of an all-gather; reduce-scatters and all-reduces
// follow from it (CollectiveSchedule.h). A schedule that an algorithm does not
// have for a group has no transfers.
//
// Private to the library.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PLAN_ALGORITHMS_H
#define FFC_LIB_PLAN_ALGORITHMS_H

#include "MemberGraph.h"
#include "TreePacking.h"
#include "ffc/Plan/CollectiveSchedule.h"

#include <vector>

namespace ffc::plan {

/// An order of all members, each of which sends to the next, the last to the
/// first.
using RingOrder = std::vector<int>;

/// "rings": every member's part is divided among the rings evenly, and goes
/// round each of them.
CollectiveSchedule ringsAllGather(const std::vector<RingOrder> &rings);
/// "direct": every member sends its part to all others.
CollectiveSchedule directAllGather(int members);
/// "doubling": what every member has doubles with every step. Of powers of two
/// recursive doubling, of other numbers as Bruck et al. (Efficient Algorithms
/// for All-to-All Communications in Multiport Message-Passing Systems, 1997).
CollectiveSchedule doublingAllGather(int members);
/// "greedy": whenever a link is free it carries a chunk that its end lacks, the
/// one that the fewest have (Won et al., TACOS, MICRO'24, matches chunks and
/// links so on a time-expanded graph). `chunks` of every member, of so many
/// bytes each.
/// Nothing goes over closed edges (by edge). The seed, not 0, decides ties.
CollectiveSchedule greedyAllGather(const MemberGraph &graph, int chunks,
                                   double chunkBytes,
                                   const std::vector<bool> &isClosed,
                                   uint32_t seed);
/// By edge: does a chunk take more than `factor` times as long over it as by
/// the fastest way over several? A greedy match fills such edges, too, and what
/// then arrives late is missed elsewhere.
std::vector<bool> slowEdges(const MemberGraph &graph, double chunkBytes,
                            double factor);
/// "trees": spanning trees from every member that together load every link as
/// little as can be, `pieces` chunks by each.
CollectiveSchedule treesAllGather(const MemberGraph &graph,
                                  const TreePacking &packing, int pieces);
/// "levels": across the nodes among the members at one position of each, then
/// within the nodes. None where nodes do not have equally many members, two at
/// least.
CollectiveSchedule levelsAllGather(const MemberGraph &graph);

} // namespace ffc::plan

#endif // FFC_LIB_PLAN_ALGORITHMS_H
