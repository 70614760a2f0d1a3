//===- Absorption.h - operators that do what reads them ---------*- C++ -*-===//
//
// A kernel can do more with a result before it writes it: add, clamp, round.
// The operator that would have done so becomes a part of it.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PASSES_ABSORPTION_H
#define FFC_LIB_PASSES_ABSORPTION_H

#include "ffc/IR/FF.h"

#include "llvm/ADT/StringMap.h"

namespace ffc {

/// The operator that makes `summand` for one reader only and has an addend for
/// it, used or not; null if there is none.
ff::AddingInterface adderOf(mlir::Value summand);

/// The same for the operand of `activation`, and bounds. Null as well where the
/// function does not only clamp.
ff::ClampingInterface clamperOf(ff::UnaryOp activation);

/// May what makes `whole` do what `part` does with it? Both have one role.
/// Where `part` was given a configuration, both have the same tiles and whole
/// sums.
bool canTake(mlir::OpResult whole, ff::PartitionableInterface part);

/// What is computed from in `op`, which may be a fused operator that widens it:
/// its operand. Null if `op` computes something else of it first.
mlir::Value operandBehind(mlir::Operation *op, mlir::Value inside);

/// What a pass makes part of what makes its operand.
class Absorption {
public:
  /// `part`, whose only result `whole` is from now on, is erased; its name
  /// becomes an alias.
  void take(mlir::Operation *part, mlir::OpResult whole);

  /// Operators of `block` that belonged to such parts belong to what these are
  /// in now: whatever they shared with a part had the layout of the result.
  void moveOwners(mlir::Block &block) const;

private:
  llvm::StringMap<mlir::OpResult> results; ///< by name of the part
};

} // namespace ffc

#endif // FFC_LIB_PASSES_ABSORPTION_H
