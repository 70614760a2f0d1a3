//===- GeluProducts.h - products behind which GELU comes --------*- C++ -*-===//
//
// A product may compute GELU by tanh, or its gradient, of the sum that it holds
// (decisions 38 and 84). Rounding asks for which sums that is so before there
// are configurations, fusion makes the operators.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PASSES_GELUPRODUCTS_H
#define FFC_LIB_PASSES_GELUPRODUCTS_H

#include "ffc/IR/FF.h"

namespace ffc {

struct GeluProduct {
  ff::MatMulOp product; ///< null: there is none
  mlir::Value saved;    ///< what GELU was computed of, for its gradient

  explicit operator bool() const { return bool(product); }
  mlir::OpResult sum() { return llvm::cast<mlir::OpResult>(product.getY()); }
};

/// The product whose wide sum `op` computes GELU by tanh of, or which `op`
/// multiplies by its slope, and which can do so itself if tiles agree: it adds
/// a row at most, and nobody else reads the gradient that it makes. `op` may be
/// a fused operator that does no more than widen what it reads.
GeluProduct geluProductOf(mlir::Operation *op);

} // namespace ffc

#endif // FFC_LIB_PASSES_GELUPRODUCTS_H
