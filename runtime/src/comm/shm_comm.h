//===- shm_comm.h - communication in shared memory --------------*- C++ -*-===//
#ifndef FFRT_COMM_SHM_COMM_H
#define FFRT_COMM_SHM_COMM_H

#include "comm/network.h"
#include "comm/shm_node.h"

#include <memory>
#include <vector>

namespace ffrt {

/// Collectives of groups on one node, and messages between ranks of a node, go
/// through its shared memory, all else through the network. `leaders` has, for
/// every rank, the lowest rank of its node. Collective; every node has shared
/// memory.
std::unique_ptr<Comm> make_shm_comm(std::unique_ptr<Network> network,
                                    const std::vector<int> &leaders,
                                    std::unique_ptr<Node> node);

} // namespace ffrt

#endif // FFRT_COMM_SHM_COMM_H
