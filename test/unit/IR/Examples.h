//===- Examples.h - example operators with values ---------------*- C++ -*-===//
//
// The operators of op-examples.mlir, their gradients, and values for all their
// tensors: what the generic tests of operators run on.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_TEST_UNIT_IR_EXAMPLES_H
#define FFC_TEST_UNIT_IR_EXAMPLES_H

#include "ffc/Reference/Evaluator.h"

#include "llvm/ADT/DenseMap.h"

#include <random>

namespace ffc::ff::testing {

/// What an operator's `buildGradient` made.
struct ExampleGradient {
  PartitionableInterface op;
  /// Of the first result; the other results have none.
  mlir::Value resultGrad;
  llvm::SmallVector<bool> needed;              ///< per operand slot
  llvm::SmallVector<mlir::Value> operandGrads; ///< per operand slot
  llvm::SmallVector<mlir::Operation *> made;   ///< in their order
};

class Examples {
public:
  /// Parses the file, builds the gradients and computes every value.
  Examples();

  /// False if one of these failed; the diagnostics say why.
  bool isGood() const { return good; }
  mlir::MLIRContext &context() { return mlirContext; }

  /// All operators that compute, gradients included.
  std::vector<PartitionableInterface> operators();
  const std::vector<ExampleGradient> &gradients() const { return grads; }

  const TensorValue &valueOf(mlir::Value value) const {
    return values.find(value)->second;
  }
  /// Values of the operand slots, null for absent operands.
  std::vector<const TensorValue *> operandsOf(PartitionableInterface op) const;
  const ReferenceContext &reference() const { return scalars; }

private:
  mlir::LogicalResult build(mlir::func::FuncOp func);
  mlir::LogicalResult buildGradient(mlir::func::FuncOp func,
                                    DifferentiableInterface op);
  TensorValue randomValue(mlir::Type type);

  mlir::MLIRContext mlirContext;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  llvm::DenseMap<mlir::Value, TensorValue> values;
  std::vector<ExampleGradient> grads;
  ReferenceContext scalars;
  std::mt19937 random; ///< seeded by an example's name
  bool good = false;
};

/// "ff.conv in @conv2d_bias".
std::string describe(mlir::Operation *op);

} // namespace ffc::ff::testing

#endif // FFC_TEST_UNIT_IR_EXAMPLES_H
