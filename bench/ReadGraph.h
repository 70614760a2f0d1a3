//===- ReadGraph.h - models of measurements ---------------------*- C++ -*-===//
#ifndef FFC_BENCH_READGRAPH_H
#define FFC_BENCH_READGRAPH_H

#include "ffc/Passes/Passes.h"
#include "ffc/Plan/Cost.h"

#include <memory>

namespace ffc::bench {

/// What the command line says, which is as for ffc: MODEL, --devices,
/// --batch-size, --loss, --momentum.
struct Problem {
  explicit Problem(const plan::Topology &topology)
      : topology(topology), cost(this->topology) {}

  plan::Topology topology; ///< of --devices
  plan::CostModel cost;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  plan::Graph graph; ///< of training, as the search sees it
};

/// Parses the command line; ends the program with a message if it, the topology
/// or the model is wrong. `overview` is for --help.
std::unique_ptr<Problem> readProblem(int argc, char **argv,
                                     const char *overview);

} // namespace ffc::bench

#endif // FFC_BENCH_READGRAPH_H
