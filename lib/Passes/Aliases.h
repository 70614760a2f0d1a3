//===- Aliases.h - names of operators that became one -----------*- C++ -*-===//
#ifndef FFC_LIB_PASSES_ALIASES_H
#define FFC_LIB_PASSES_ALIASES_H

#include "ffc/IR/FF.h"

namespace ffc {

/// `part` is a part of `op` from now on: its name and aliases become aliases of
/// `op` (`ff.aliases`), behind those that `op` has.
void addAliases(mlir::Operation *op, mlir::Operation *part);

} // namespace ffc

#endif // FFC_LIB_PASSES_ALIASES_H
