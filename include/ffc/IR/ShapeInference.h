//===- ShapeInference.h - result types of operators -------------*- C++ -*-===//
//
// The types that the verifiers of `ff` expect, for those who build operators.
// All tensors are statically shaped.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_IR_SHAPEINFERENCE_H
#define FFC_IR_SHAPEINFERENCE_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeRange.h"

#include <optional>

namespace ffc::ff {

/// The numpy broadcast of two shapes, or nothing if they do not broadcast.
std::optional<llvm::SmallVector<int64_t>>
broadcastShapes(llvm::ArrayRef<int64_t> a, llvm::ArrayRef<int64_t> b);

/// ff.transpose. `perm` is a permutation of x's dimensions.
mlir::RankedTensorType transposedType(mlir::RankedTensorType x,
                                      llvm::ArrayRef<int64_t> perm);

/// ff.concat. At least one input; all agree outside `axis`.
mlir::RankedTensorType concatenatedType(mlir::TypeRange inputs, int64_t axis);

/// ff.pad. `pads` lists all begins, then all ends; they may be negative but
/// must leave every dimension at least one element.
mlir::RankedTensorType paddedType(mlir::RankedTensorType x,
                                  llvm::ArrayRef<int64_t> pads);

/// ff.reduce_sum. `axes` are dimensions of x.
mlir::RankedTensorType reducedType(mlir::RankedTensorType x,
                                   llvm::ArrayRef<int64_t> axes, bool keepdims);

/// The target of ff.cross_entropy: i32, shaped as the logits without `axis`.
mlir::RankedTensorType labelType(mlir::RankedTensorType logits, int64_t axis);

/// A loss: rank 0, the element type of `x`.
mlir::RankedTensorType lossType(mlir::RankedTensorType x);

} // namespace ffc::ff

#endif // FFC_IR_SHAPEINFERENCE_H
