//===- ConstantValue.h - values that no step changes ------------*- C++ -*-===//
#ifndef FFC_IR_CONSTANTVALUE_H
#define FFC_IR_CONSTANTVALUE_H

#include "ffc/IR/TensorValue.h"

#include "mlir/IR/Value.h"

#include <optional>

namespace ffc::ff {

/// What `value` is in every step, if it is made of constants, none of which
/// comes from the weights file, and nothing on the way has more than `most`
/// elements. Computed by the reference kernels, some 50 ns an element.
std::optional<TensorValue> constantValue(mlir::Value value, int64_t most);

} // namespace ffc::ff

#endif // FFC_IR_CONSTANTVALUE_H
