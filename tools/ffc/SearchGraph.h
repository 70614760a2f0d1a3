//===- SearchGraph.h - the graph that strategies are searched on -*- C++ -*-==//
//
// A search sees the operators as they will be fused, since that is what runs; a
// strategy, as people write and read it, names the model's own.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_TOOLS_FFC_SEARCHGRAPH_H
#define FFC_TOOLS_FFC_SEARCHGRAPH_H

#include "ffc/Passes/Passes.h"
#include "ffc/Plan/StrategyFile.h"

#include "mlir/IR/OwningOpRef.h"

namespace ffc {

struct SearchGraph {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  PlannedModule planned; ///< of `module`

  /// Configurations of the operators of the unfused graph `to` from those of
  /// this one.
  plan::PartialStrategy spread(const plan::Strategy &strategy,
                               const plan::Graph &to) const;
  /// The inverse: a fused operator does as the one that it is called after.
  plan::Strategy gather(const plan::Graph &from,
                        const plan::Strategy &strategy) const;
};

} // namespace ffc

#endif // FFC_TOOLS_FFC_SEARCHGRAPH_H
