//===- ConstantValue.h - values that no step changes ------------*- C++ -*-===//
#ifndef FFC_IR_CONSTANTVALUE_H
#define FFC_IR_CONSTANTVALUE_H

#include "ffc/IR/FF.h"
#include "ffc/IR/TensorValue.h"

#include <optional>

namespace ffc::ff {

/// Does a state begin with contents that are neither random nor in a file?
bool isPattern(InitAttr init);
/// These contents.
TensorValue patternOf(StateOp state);

/// Are the results of an operator constants if its operands are: does the
/// compiler have kernels for it (ElementKernels.h), or is it a state that
/// begins with a pattern and is never written? None with more than `most`
/// elements is.
bool hasConstantResults(mlir::Operation *op, int64_t most);

/// What `value` is in every step, if it is made of patterns by operators that
/// the compiler has kernels for (ElementKernels.h), and nothing on the way has
/// more than `most` elements. Some 50 ns an element.
std::optional<TensorValue> constantValue(mlir::Value value, int64_t most);

} // namespace ffc::ff

#endif // FFC_IR_CONSTANTVALUE_H
