//===- MatMulSpace.h - the iteration space of matrix products ---*- C++ -*-===//
#ifndef FFC_LIB_IR_MATMULSPACE_H
#define FFC_LIB_IR_MATMULSPACE_H

#include "ffc/IR/FF.h"

namespace ffc::ff {

/// Batch dimensions, rows, columns, contracted dimension. All tensors but the
/// operands' last two dimensions are aligned at `columns`.
struct MatMulSpace {
  plan::Shape batch;
  int64_t numRows, numColumns, depth;
  /// Of all dimensions, in order.
  llvm::SmallVector<std::string> names;

  /// Of y = op(a) op(b); `names` may be null.
  MatMulSpace(mlir::Value a, mlir::Value b, mlir::Value y, bool transA,
              mlir::ArrayAttr names);
  /// Of a verified ff.matmul or ff.matmul_sums.
  template <class Op>
  explicit MatMulSpace(Op op)
      : MatMulSpace(op.getA(), op.getB(), op.getY(), op.getTransA() != 0,
                    op.getDimNamesAttr()) {}

  int rows() const { return static_cast<int>(batch.size()); }
  int columns() const { return rows() + 1; }
  int contracted() const { return rows() + 2; }
  int rank() const { return rows() + 3; }
  int64_t extent(int d) const;
  /// The iteration dimension that dimension `d` of a tensor of rank `rank` is
  /// aligned with, where the last two are rows and columns.
  int aligned(int64_t d, int64_t rank) const {
    return static_cast<int>(d + columns() + 1 - rank);
  }
  /// A tensor with the last two dimensions `row` and `column`, or the other way
  /// round.
  plan::Access matrices(mlir::Value value, int row, int column,
                        bool transposed = false) const;
  /// The dimensions that the result `y` is summed over.
  std::vector<int> reductions(mlir::Value y) const;
  /// By kind, where these are summed over.
  std::vector<plan::IterDim> dims(llvm::ArrayRef<int> reductions) const;
};

/// Is `c` a row that all rows of the result `y` are added to?
bool isRow(mlir::Value c, mlir::Value y);

/// Constraints 1, 3, 4 and 5 of ff.matmul.
mlir::LogicalResult verifyProduct(mlir::Operation *op, mlir::Value a,
                                  mlir::Value b, mlir::Value y, bool transA,
                                  bool transB, mlir::ArrayAttr names);

} // namespace ffc::ff

#endif // FFC_LIB_IR_MATMULSPACE_H
