//===- ElementKernels.h - what constants are computed with ------*- C++ -*-===//
//
// The reference kernels that the compiler itself runs: those whose results are
// elements of the operands, functions of single elements, or sums and the like
// of these. Masks and other constants of models are made of them.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_IR_ELEMENTKERNELS_H
#define FFC_IR_ELEMENTKERNELS_H

#include "ffc/IR/FF.h"
#include "ffc/IR/ReferenceKernel.h"
#include "ffc/IR/TensorValue.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringMap.h"

#include <vector>

namespace ffc::ff {

using ReferenceKernels = llvm::StringMap<ReferenceKernel>;

/// By the name of the runtime kernel ("relu_forward", "transpose").
const ReferenceKernels &elementKernels();

/// Results of one operator. `operands` has one entry per operand slot, null for
/// absent ones. Fails with a diagnostic if `find` returns null for a kernel.
mlir::FailureOr<std::vector<TensorValue>>
evaluateOperator(PartitionableInterface op,
                 llvm::ArrayRef<const TensorValue *> operands,
                 const ReferenceContext &context,
                 llvm::function_ref<ReferenceKernel(llvm::StringRef)> find);

} // namespace ffc::ff

#endif // FFC_IR_ELEMENTKERNELS_H
