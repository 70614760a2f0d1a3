//===- TaskGraph.h - the tasks of a step as a drawing -----------*- C++ -*-===//
#ifndef FFC_PLAN_TASKGRAPH_H
#define FFC_PLAN_TASKGRAPH_H

#include "ffc/Plan/Simulation.h"

#include <iosfwd>

namespace ffc::plan {

/// For Graphviz's `dot`: a box per task in a cluster per device, and an edge
/// for everything that a task's start depends on in the timing: the order of
/// its queue, what it waits for, messages, and the other members of a
/// collective. What follows from other edges is not drawn.
void writeTaskGraph(std::ostream &out, const Simulation &simulation);

} // namespace ffc::plan

#endif // FFC_PLAN_TASKGRAPH_H
