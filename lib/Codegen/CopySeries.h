//===- CopySeries.h - copies that follow each other by a rule ---*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_COPYSERIES_H
#define FFC_LIB_CODEGEN_COPYSERIES_H

#include "ffc/IR/Rank.h"

#include <vector>

namespace ffc::codegen {

/// Consecutive copies between the same buffers, of the same size, whose places
/// advance as in a nest of loops: in loop l by its strides with every turn, on
/// all ranks alike. Reshards whose parts interleave are made of them.
struct CopySeries {
  struct Loop {
    int64_t count;
    /// By dimension of the destination, then of the source.
    std::vector<int64_t> strides;
  };
  rank::CopyOp first;
  std::vector<Loop> loops; ///< outermost first; none for a single copy
  size_t length = 1;       ///< copies

  /// The longest nest that `actions` begins with, of at least 4 copies; else
  /// its first copy alone. `ranks`: how many the class has.
  static CopySeries startOf(llvm::ArrayRef<mlir::Operation *> actions,
                            size_t ranks);
};

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_COPYSERIES_H
