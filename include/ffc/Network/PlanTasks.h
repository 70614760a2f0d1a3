//===- PlanTasks.h - plans as tasks of servers ------------------*- C++ -*-===//
//
// The tasks of a step (TaskGraph.h) that a planned program does, whatever its
// strategy: what each node of the topology computes, operator after operator,
// and what goes between nodes.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_NETWORK_PLANTASKS_H
#define FFC_NETWORK_PLANTASKS_H

#include "ffc/Network/LayerTasks.h"
#include "ffc/Plan/Simulation.h"

namespace ffc::network {

/// The devices of a node are one server:
///
///   - what they compute for an operator is one task, as long as it takes the
///     slowest of them; a server's tasks are in the order of the plan;
///   - the messages of an exchange from node to node are one transfer; those
///     that stay in a node are a task of its server;
///   - an all-reduce of gradients across nodes is an all-reduce, with what is
///     done inside each of them (ServerInside). It can have no successors: what
///     updates parameters with the result is left out;
///   - any other collective across nodes is a ring of transfers, round after
///     round, and a task for what is done inside of each node.
///
/// A server goes on while others send, and waits where the plan does, for the
/// last message of an exchange too. Micro-batches are written out.
ServerTasks planTasks(const plan::Simulation &simulation,
                      const plan::CostModel &cost, const ServerInside &inside);

} // namespace ffc::network

#endif // FFC_NETWORK_PLANTASKS_H
