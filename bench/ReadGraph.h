//===- ReadGraph.h - models of measurements ---------------------*- C++ -*-===//
#ifndef FFC_BENCH_READGRAPH_H
#define FFC_BENCH_READGRAPH_H

#include "ffc/Passes/Passes.h"
#include "ffc/Plan/Cost.h"

namespace ffc::bench {

/// The topology of --devices; ends the program with a message if there is none.
plan::Topology readTopology();

/// The training graph of the model on the command line, as the search sees it.
/// The command line is as for ffc: MODEL, --devices, --batch-size, --loss,
/// --momentum.
mlir::FailureOr<PlannedModule>
readGraph(mlir::MLIRContext &context,
          mlir::OwningOpRef<mlir::ModuleOp> &module);

} // namespace ffc::bench

#endif // FFC_BENCH_READGRAPH_H
