//===- Elimination.h - dynamic programming over anchors ---------*- C++ -*-===//
//
// The best strategy under a cost that is a sum over anchors and over pairs of
// them, by eliminating nodes and edges (Jia et al., "Exploring Hidden
// Dimensions in Parallelizing Convolutional Neural Networks", ICML 2018,
// section 5).
//
// The cost is not the simulated time. It is the sum of how long every segment
// of the plan (ffc/Plan/Segments.h) takes alone on idle devices: for an anchor
// the kernels of its group (itself and what follows it) and the reshards within
// the group, the gradients' among them; for a pair of anchors the reshards of
// values from one group to the other, in both directions. Nothing runs at the
// same time as anything else in it, and copies that were made for one group are
// not there for another. So the answer is a strategy to start from, and its
// cost says nothing about the time of a step.
//
// All of it is deterministic.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_SEARCH_ELIMINATION_H
#define FFC_SEARCH_ELIMINATION_H

#include "ffc/Search/Space.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace ffc::search {

/// Choose a candidate for every node so that the sum is least.
struct AdditiveProblem {
  /// nodes[n][i]: the cost of candidate i of node n. At least one each.
  std::vector<std::vector<plan::Picoseconds>> nodes;
  struct Edge {
    size_t a = 0, b = 0; ///< nodes, a < b
    /// costs[i * number of candidates of b + j]
    std::vector<plan::Picoseconds> costs;
  };
  std::vector<Edge> edges; ///< at most one between two nodes

  plan::Picoseconds total(const std::vector<size_t> &choice) const;
};

struct AdditiveSolution {
  std::vector<size_t> choice; ///< by node
  plan::Picoseconds cost = 0;
  /// Nodes that were left when none had at most two neighbours.
  size_t irreducible = 0;
  /// False if those were too many to try all, and a beam was kept instead.
  bool isOptimal = true;
};

/// Eliminates nodes of at most two neighbours; equal costs are decided for the
/// first candidate. If nodes are left, all their combinations are tried if
/// there are at most `most`, or else they are chosen one after the other and
/// the `beam` best beginnings kept.
AdditiveSolution solve(AdditiveProblem problem, int64_t most = 1 << 16,
                       size_t beam = 256);

/// The problem of a space, and what its numbers mean.
struct EliminationProblem {
  AdditiveProblem costs; ///< a node per anchor, in order
  std::vector<std::vector<plan::Configuration>> candidates;
};

/// The candidates of an anchor: its configuration in each of `known` (complete
/// strategies, recipes), and then, up to `most` in all, those on the first
/// devices that split one dimension by a divisor of the number of devices, or
/// two, in order, over all devices; the cheapest by their own node's cost.
/// Pinned anchors have one. `table` is one of the space's graph and devices.
///
/// Nothing if `stopped` says so, which is asked now and then and may be empty.
std::optional<EliminationProblem>
eliminationProblem(const Space &space, plan::SegmentTable &table,
                   const std::vector<plan::Strategy> &known,
                   const std::vector<Choice> &pinned, size_t most,
                   const std::function<bool()> &stopped = nullptr);

} // namespace ffc::search

#endif // FFC_SEARCH_ELIMINATION_H
