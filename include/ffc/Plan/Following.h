//===- Following.h - what takes its configuration from what -----*- C++ -*-===//
//
// One rule for operators without a configuration of their own, in strategy
// files and in the search. An operator follows
//
//   1. its owner (gradients, updates);
//   2. if it needs nothing but state (the decay of a running mean, a
//   transformed
//      weight), its first reader, since state can be read anywhere;
//   3. else the producer of its first operand that needs more than state.
//
// What is left, operators that read the step's inputs, leads.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PLAN_FOLLOWING_H
#define FFC_PLAN_FOLLOWING_H

#include "ffc/Plan/Configuration.h"

#include <vector>

namespace ffc::plan {

/// The operator that another one follows and the tensor they share.
struct Leader {
  OpId op = -1;                ///< -1: none
  int slot = -1, ownSlot = -1; ///< -1: dimensions are matched by name
};

struct Following {
  std::vector<Leader> leaders; ///< by operator; there are no cycles
  std::vector<OpId> order;     ///< all operators, each after its leader
};

Following followingOf(const Graph &graph);

/// What `op` makes of the configuration of its leader. Legal.
Configuration follow(const Graph &graph, const Leader &leader,
                     const Configuration &config, OpId op);

/// `config` with each axis of copies replaced by a split of the first dimension
/// of `op` that is not split and can be in equal parts; by as many as possible,
/// neighbours first, with copies for the rest. Legal if `config` is.
Configuration shareCopies(const Graph &graph, OpId op,
                          const Configuration &config);

} // namespace ffc::plan

#endif // FFC_PLAN_FOLLOWING_H
