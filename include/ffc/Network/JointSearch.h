//===- JointSearch.h - strategy and network found together ------*- C++ -*-===//
//
// TopoOpt (NSDI'23, section 3) alternates between a search of strategies on a
// fixed network and a network for the traffic of the strategy found. Here, too,
// but a strategy is compared with others only on the network that was found for
// it, by the simulated time of the pair; there are several starts; and what
// does not fit into memory is never taken. Networks are rough ones first: the
// few best pairs get the best that is found. docs/topology-search.md
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_JOINTSEARCH_H
#define FFC_NETWORK_JOINTSEARCH_H

#include "ffc/Network/LayerChoices.h"
#include "ffc/Network/TopologySearch.h"

#include <functional>

namespace ffc::network {

struct JointSearchOptions {
  /// Of the few best pairs; of all others, a rough one.
  TopologySearchOptions network;
  /// Strategies that each chain estimates; there is one for each start, and one
  /// in each round for the best pair so far.
  int64_t strategies = 1000;
  int rounds = 4; ///< of the alternation at most
  int elites = 3; ///< strategies of a chain that networks are found for
  int best = 3;   ///< pairs that get more than a rough network, in each round
  uint64_t seed = 1;
};

/// How long the tasks take on a network, simulated.
using NetworkJudge =
    std::function<Picoseconds(const TaskGraph &graph, const Network &network)>;

struct JointPair {
  Placement placement;
  TaskGraph graph; ///< as one task an all-reduce, not yet divided among rings
  Traffic traffic; ///< of it
  FoundTopology topology;
  std::string way;      ///< how the strategy was found
  bool isRough = true;  ///< its network (TopologySearchOptions)
  bool isStart = false; ///< nobody searched for its strategy
};

struct FoundPair {
  JointPair best;
  /// The best of those that the search started from, each on its own network.
  std::string start;
  Picoseconds startTime = 0;
  int64_t estimated = 0;    ///< strategies
  int pairs = 0, tried = 0; ///< strategies on networks of their own; networks
  int rounds = 0;
};

/// `fits` says whether a strategy keeps to the memory; it is asked before a
/// strategy gets a network. `searching` judges the networks while there are
/// many, from several threads; `last` the best few pairs, and the answer. Never
/// slower than the best start on its network by `last`. Where rough networks of
/// one interface fewer take at most a tenth longer, those are searched in the
/// same way, and the better pair is taken. The same for the same options,
/// whatever the number of cores.
///
/// On failure (no start fits, no network of that degree is connected) returns
/// nothing and sets `error`.
std::optional<FoundPair>
searchJointly(const LayerSteps &steps, const LayerChoices &choices,
              const JointSearchOptions &options,
              const std::function<bool(const plan::Strategy &)> &fits,
              const NetworkJudge &searching, const NetworkJudge &last,
              std::string &error);

} // namespace ffc::network

#endif // FFC_NETWORK_JOINTSEARCH_H
