//===- RewriteColumns.h - dimensions side by side, in groups ----*- C++ -*-===//
//
// Values that become one along a dimension are not put one after the other but
// dealt out in groups,
//
//   q0 k0 v0 q1 k1 v1 ...,
//
// so that devices that split it have the same part of each of them, as
// Megatron-LM has heads (Shoeybi et al., 2019).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PASSES_REWRITECOLUMNS_H
#define FFC_LIB_PASSES_REWRITECOLUMNS_H

#include "RewriteRules.h"

namespace ffc::rewriting {

/// How many groups extents are dealt out in: the largest divisor of all of them
/// up to 64. More would only let more devices split them, and make the pieces
/// that are copied shorter.
int64_t groupsOf(llvm::ArrayRef<int64_t> extents);

/// Values that differ in dimension `d` at most, dealt out there.
mlir::Value deal(Maker &maker, const llvm::Twine &name,
                 llvm::ArrayRef<mlir::Value> values, size_t d, int64_t groups);

/// Takes the parts of `value` apart again, whose extents in its last dimension
/// are `extents`.
llvm::SmallVector<mlir::Value> undeal(Maker &maker, const llvm::Twine &name,
                                      mlir::Value value,
                                      llvm::ArrayRef<int64_t> extents,
                                      int64_t groups);

} // namespace ffc::rewriting

#endif // FFC_LIB_PASSES_REWRITECOLUMNS_H
