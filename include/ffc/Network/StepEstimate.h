//===- StepEstimate.h - about how long a step takes -------------*- C++ -*-===//
//
// For searches that ask for very many steps: the tasks are gone through in
// order of time as by simulate(), but a server sends all that it has to send
// one after the other over one port as wide as its interfaces together.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_STEPESTIMATE_H
#define FFC_NETWORK_STEPESTIMATE_H

#include "ffc/Network/TaskGraph.h"

namespace ffc::network {

struct EstimatedNetwork {
  double bandwidth = 0;    ///< of all interfaces of a server, bytes per second
  Picoseconds latency = 0; ///< of a hop
  /// Servers that forward for others on its paths have that to send, too. Null:
  /// nobody forwards, as with a switch.
  const Network *network = nullptr;
};

/// All-reduces are on rings without detours, whatever the network's links are:
/// it is assumed that links are made for them. `graph` has no fault.
Picoseconds estimateStep(const TaskGraph &graph,
                         const EstimatedNetwork &network);

} // namespace ffc::network

#endif // FFC_NETWORK_STEPESTIMATE_H
