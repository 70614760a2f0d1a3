//===- CopySeries.h - copies that follow each other by a rule ---*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_COPYSERIES_H
#define FFC_LIB_CODEGEN_COPYSERIES_H

#include "ffc/IR/Rank.h"

#include <vector>

namespace ffc::codegen {

/// Consecutive copies that are the turns of a nest of loops: a body of a few
/// copies, each between the same buffers and of the same size in every turn,
/// whose places advance in loop l by their strides, on all ranks alike.
/// Reshards whose parts interleave are made of them.
struct CopySeries {
  struct Loop {
    int64_t count;
    /// By copy of the body: by dimension of the destination, then of the
    /// source.
    std::vector<std::vector<int64_t>> strides;
  };
  std::vector<rank::CopyOp> body; ///< as in the first turn
  std::vector<Loop> loops;        ///< outermost first; none for a single copy
  size_t length = 1;              ///< copies in all turns

  /// The longest nest that `actions` begins with, if it is longer than its
  /// text; else its first copy alone. `ranks`: how many the class has.
  static CopySeries startOf(llvm::ArrayRef<mlir::Operation *> actions,
                            size_t ranks);
};

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_COPYSERIES_H
