//===- BatchNorm.h - batch normalisation of evaluations ---------*- C++ -*-===//
#ifndef FFC_IR_BATCHNORM_H
#define FFC_IR_BATCHNORM_H

#include "ffc/IR/FF.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ffc::ff {

/// y = (x - mean) / sqrt(var + epsilon) * scale + bias by running statistics,
/// all of which are vectors along dimension 1 of x. These are joined while they
/// are vectors, so that x is only touched by three operators. `locationOf`
/// gives that of a part, and that of the last operator for "".
mlir::Value normalizeByStatistics(
    mlir::OpBuilder &builder, mlir::Value x, mlir::Value scale,
    mlir::Value bias, mlir::Value mean, mlir::Value var, double epsilon,
    llvm::function_ref<mlir::Location(llvm::StringRef part)> locationOf);

} // namespace ffc::ff

#endif // FFC_IR_BATCHNORM_H
