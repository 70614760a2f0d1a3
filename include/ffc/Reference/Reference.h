//===- Reference.h - the meaning of every kernel ----------------*- C++ -*-===//
//
// Plain loops in double precision. The evaluator of `ff` runs them with one
// tile per operator, the evaluator of `rank` with the tiles and buffers of
// every rank: a kernel that reads outside the part of an operand its rank holds
// is an error, which is what catches a wrong halo.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_REFERENCE_REFERENCE_H
#define FFC_REFERENCE_REFERENCE_H

#include "ffc/IR/ReferenceKernel.h"

namespace ffc::ff {

/// The meaning of the runtime kernel `name` ("conv_forward"), or null.
ReferenceKernel lookupReference(llvm::StringRef name);

/// Adds a kernel. Called once per kernel from the registration functions of the
/// operator families.
void registerReference(llvm::StringRef name, ReferenceKernel kernel);

} // namespace ffc::ff

#endif // FFC_REFERENCE_REFERENCE_H
