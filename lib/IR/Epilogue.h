//===- Epilogue.h - what follows a sum within its operator ------*- C++ -*-===//
//
// Products cut their results to bounds and round them as they write them. Where
// what is summed over is split, that is not theirs to do: bounds of partial
// sums are not bounds of the sum, and partial sums are f32. Then a kernel of
// its own does it, element by element, once the sum is whole.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_IR_EPILOGUE_H
#define FFC_LIB_IR_EPILOGUE_H

#include "ffc/IR/FF.h"

namespace ffc::ff {

/// The rules of an operator that is one kernel call per tile, whose only result
/// `result` is a sum over `reductions`. Dimensions in `unsplit` cannot be
/// split; reductions can, with a second kernel where there is an epilogue.
plan::OpRules sumRules(std::vector<plan::IterDim> dims, plan::Phase phase,
                       std::vector<int> unsplit, llvm::ArrayRef<int> reductions,
                       PartitionableInterface op);

/// PartitionableInterface::getPhaseArgs() of such an operator.
mlir::DictionaryAttr sumArgs(PartitionableInterface op, plan::PhaseKind part);

} // namespace ffc::ff

#endif // FFC_LIB_IR_EPILOGUE_H
