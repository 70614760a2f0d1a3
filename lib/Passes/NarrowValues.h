//===- NarrowValues.h - which values a step rounds --------------*- C++ -*-===//
#ifndef FFC_LIB_PASSES_NARROWVALUES_H
#define FFC_LIB_PASSES_NARROWVALUES_H

#include "ffc/IR/FF.h"

#include "llvm/ADT/DenseSet.h"

namespace ffc {

/// The values of f32 that are to be as narrow in memory as operands of products
/// (decision 36). Those are what
///
///   1. nothing reads but kernels that take it narrow, and dumps, and
///   2. a product multiplies, or was computed of narrow values and goes to
///      memory: the results of products among it, but not their sums over
///      samples, the gradients of parameters. The gradient of the loss is where
///      gradients begin, and may have to be scaled before it is rounded.
///
/// Values that differ only in where their elements lie are narrow together.
/// The operands of the graph are still f32.
llvm::DenseSet<mlir::Value> narrowValuesOf(mlir::Block &block);

} // namespace ffc

#endif // FFC_LIB_PASSES_NARROWVALUES_H
