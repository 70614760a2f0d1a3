//===- InitialValues.h - first states and synthetic inputs ------*- C++ -*-===//
//
// What a program starts from, as values for the evaluators: the contents that
// the runtime gives to states (runtime/src/common/program/initial.h) and to
// inputs when it trains without a data set (synthetic.cpp), to the bit of the
// f32 values.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_REFERENCE_INITIALVALUES_H
#define FFC_REFERENCE_INITIALVALUES_H

#include "ffc/Reference/Evaluator.h"

namespace ffc::ff {

/// First contents of every `ff.state` of @main. `weights` is the path of the
/// weights file, read only if a state comes from it. Fails with a diagnostic at
/// the state if the file cannot be read or is too short.
mlir::FailureOr<TensorValues> initialStates(mlir::ModuleOp module,
                                            uint64_t seed,
                                            llvm::StringRef weights = "");

/// The contents of a state that needs no weights file.
TensorValue initialState(StateOp state, uint64_t seed);

/// The synthetic value of every input of @main in `step`. Integer inputs are
/// below what their readers' rules say, else 0 and 1.
mlir::FailureOr<TensorValues> syntheticInputs(mlir::ModuleOp module,
                                              uint64_t seed, int64_t step);

} // namespace ffc::ff

#endif // FFC_REFERENCE_INITIALVALUES_H
