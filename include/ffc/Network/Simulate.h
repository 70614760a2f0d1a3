//===- Simulate.h - when the tasks of a step end ----------------*- C++ -*-===//
//
// Goes through the tasks of a step (TaskGraph.h) as FlexNetPacket does
// (TopoOpt, NSDI'23), over any model of the network. Not taken over are what
// are faults there: sizes that are cut to 32 bits, rings that take a member's
// place in the group for its number, and groups that never end for want of a
// ring.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_SIMULATE_H
#define FFC_NETWORK_SIMULATE_H

#include "ffc/Network/TaskGraph.h"
#include "ffc/Network/Transport.h"

#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace ffc::network {

/// How S bytes of m members are summed. A single member has nothing to do.
enum class AllReduceKind {
  /// After the work in the servers, 2 (m - 1) rounds, in each of which every
  /// member sends S / m to the next one. A round starts when the one before has
  /// ended everywhere. Less than 9,000 bytes a member go in one round.
  Ring,
  /// All send S to the first member, which then sends S to all.
  ParameterServer,
  /// Everybody sends S / m to everybody else, twice.
  Direct,
};

struct SimulateOptions {
  AllReduceKind allReduce = AllReduceKind::Ring;
  /// A transfer is at least a packet.
  int64_t leastTransfer = 8936;
};

struct FlowTime {
  VertexId src = 0, dst = 0;
  int64_t bytes = 0;
  Picoseconds start = 0, end = 0;
};

/// A computation starts when its server takes it up, everything else when it is
/// ready.
struct TaskTime {
  Picoseconds start = 0, end = 0;
};

struct SimulatedStep {
  Picoseconds finish = 0;           ///< when the last task ends
  std::vector<TaskTime> tasks;      ///< by task
  std::vector<FlowTime> flows;      ///< by FlowId
  std::vector<Picoseconds> compute; ///< by server: how long it is busy
  /// By link: the bytes that went over it; of a flow over several paths, by
  /// their shares.
  std::vector<double> linkBytes;
};

/// The pairs that need paths: those of transfers, and those of all-reduces but
/// for rings that `network` lists. The graph is whole (faultOf).
std::set<std::pair<VertexId, VertexId>> pairsThatSend(const TaskGraph &graph,
                                                      const Network &network,
                                                      AllReduceKind allReduce);

/// Tasks start as soon as all that they follow have ended; a server computes
/// one after the other, in the order in which they became ready, those of the
/// same instant in the order of the graph. Transfers and all-reduces do not
/// wait for each other.
///
/// A ring all-reduce among m members goes on all rings that the network lists
/// for m at once, S / m / R bytes in each round of each, the hops of a ring
/// being its jumps, where each ring leads from every member to all others; the
/// members are the servers of the group, whatever their numbers are. Where a
/// ring does not, or none is listed, it goes round the members in their order,
/// by the network's paths.
///
/// On failure (the graph has a fault; a pair that sends has no path) returns
/// nothing and sets `error`. `transport` is a fresh one of `network`.
std::optional<SimulatedStep>
simulate(const TaskGraph &graph, const Network &network, Transport &transport,
         const SimulateOptions &options, std::string &error);

} // namespace ffc::network

#endif // FFC_NETWORK_SIMULATE_H
