//===- TopologyDrawing.h - topologies for Graphviz --------------*- C++ -*-===//
#ifndef FFC_TOOLS_FFC_TOPOLOGYDRAWING_H
#define FFC_TOOLS_FFC_TOPOLOGYDRAWING_H

#include "ffc/Plan/Topology.h"

#include "llvm/Support/raw_ostream.h"

namespace ffc {

/// Writes a drawing in Graphviz's language: all vertices by node; or, where
/// nodes (or the devices of a single node) are linked without switches, these
/// on a circle and not what is in them.
void drawTopology(const plan::Topology &topology, llvm::raw_ostream &out);

} // namespace ffc

#endif // FFC_TOOLS_FFC_TOPOLOGYDRAWING_H
