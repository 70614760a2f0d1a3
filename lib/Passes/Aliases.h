//===- Aliases.h - names of operators that became one -----------*- C++ -*-===//
#ifndef FFC_LIB_PASSES_ALIASES_H
#define FFC_LIB_PASSES_ALIASES_H

#include "ffc/IR/FF.h"

namespace ffc {

/// `part` is a part of `op` from now on: its name and aliases become aliases of
/// `op` (`ff.aliases`), behind those that `op` has.
void addAliases(mlir::Operation *op, mlir::Operation *part);

/// Where an operator that is gone, and one of its slots, are now.
struct Heir {
  mlir::Operation *op = nullptr; ///< null: the operator is still there
  int64_t slot = -1;
};

/// Operators of `block` whose owner is gone belong to what heirOf(owner's name,
/// slot) says from now on. The slot is the owner's through which a
/// configuration carries over, -1 if that goes by the names of dimensions.
/// Where it did and the heir has a slot, it goes through a value of that shape
/// now.
void moveOwners(mlir::Block &block,
                llvm::function_ref<Heir(llvm::StringRef, int64_t)> heirOf);

} // namespace ffc

#endif // FFC_LIB_PASSES_ALIASES_H
