//===- Pipelines.h - which passes run, in which order -----------*- C++ -*-===//
//
// Every module goes through these, in their order, whoever compiles it: ffc,
// the tests, and ffc-opt by name ("--ffc-recognize --ffc-train --ffc-fuse").
// Between recognition and training a graph may be rewritten, by rules that are
// chosen with the strategy (ffc/Passes/Rewrites.h).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PASSES_PIPELINES_H
#define FFC_PASSES_PIPELINES_H

#include "ffc/Passes/Passes.h"

namespace ffc {

/// ffc-recognize: operators that exporters write in parts become one.
void addRecognition(mlir::OpPassManager &passes);

/// ffc-train: from a forward graph to one step of training.
void addTraining(mlir::OpPassManager &passes,
                 const DifferentiateOptions &options);

/// ffc-round: what products read, and what is made of it, is of `type` ("bf16",
/// "f16", "tf32"), or everything is ("f64"); none, of f32, if it is empty.
void addRounding(mlir::OpPassManager &passes, llvm::StringRef type);

/// ffc-fuse: fewer operators for what is computed in one kernel. Operators that
/// were given different configurations stay apart.
void addFusion(mlir::OpPassManager &passes);
/// The part of it by which operators take over the activation behind them.
void addActivationFusion(mlir::OpPassManager &passes);

/// Makes the names above known to ffc-opt.
void registerPipelines();

} // namespace ffc

#endif // FFC_PASSES_PIPELINES_H
