//===- GradientParts.h - sums of gradients that are parts of one *- C++ -*-===//
//
// A value that is used several times gets a sum of gradients. Added up one
// after the other, each would first be made whole: a tensor mostly of zeros for
// a slice, an all-reduce for a product that is split over samples. These
// functions replace contributions by one where that means the same.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PASSES_GRADIENTPARTS_H
#define FFC_LIB_PASSES_GRADIENTPARTS_H

#include "Marking.h"

#include "ffc/IR/FF.h"

namespace ffc {

/// Contributions to the gradient of one value. Operators are built with names
/// that start with that of `owner`, and take its configuration.
struct GradientParts {
  mlir::OpBuilder &builder;
  mlir::Operation *owner;
  /// In the order from the last use to the first.
  llvm::SmallVectorImpl<mlir::Value> &parts;
  const StateReaders &stateReaders;

  /// Gradients of slices that cover the whole that they were taken from: one
  /// concatenation. `slot` is the value's in `owner`.
  void joinSlices(int64_t slot);
  /// Products that are summed over more than the samples (the blocks of time
  /// steps that share a weight): one product of concatenations.
  void joinProducts();
  /// Sums over the operands of a concatenation that there is: one sum over
  /// that.
  void joinSums();

private:
  mlir::Location named(const llvm::Twine &suffix);
  /// The operands one after the other along `axis`.
  mlir::Value concatenate(const llvm::Twine &suffix,
                          llvm::ArrayRef<mlir::Value> operands, int64_t axis);
};

} // namespace ffc

#endif // FFC_LIB_PASSES_GRADIENTPARTS_H
