//===- RecognizePatterns.h - matching what exporters spell out --*- C++ -*-===//
//
// What the patterns of the pass `recognize-patterns` have in common, and the
// functions that add them, by file.
//
//===----------------------------------------------------------------------===//
#ifndef FFC_LIB_PASSES_RECOGNIZEPATTERNS_H
#define FFC_LIB_PASSES_RECOGNIZEPATTERNS_H

#include "ffc/IR/FF.h"

#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace ffc::recognition {

/// RecognizeAttention.cpp: attention.
void addAttention(mlir::RewritePatternSet &patterns);
/// RecognizeGates.cpp: gelu, gelu_tanh, silu, hard_swish.
void addGates(mlir::RewritePatternSet &patterns);
/// RecognizeNormalisation.cpp: layer normalisation.
void addNormalisation(mlir::RewritePatternSet &patterns);
/// RecognizeLinear.cpp: products with transposed operands and a bias.
void addLinear(mlir::RewritePatternSet &patterns);
/// RecognizeParts.cpp: slices of concatenations.
void addParts(mlir::RewritePatternSet &patterns);

/// Exporters round constants to f32.
bool isNear(double found, double expected);

/// The value of a constant whose elements are all the same.
std::optional<double> constantOf(mlir::Value value);

/// The operator of `value` if it is of `kind`, or null.
ff::UnaryOp unaryOf(mlir::Value value, ff::UnaryKind kind);
ff::BinaryOp binaryOf(mlir::Value value, ff::BinaryKind kind);

/// A value and the number that it is multiplied with or added to.
struct Affine {
  mlir::Value x;
  double number;
};

/// `value` as x * number, and as x + number.
std::optional<Affine> timesConstant(mlir::Value value);
std::optional<Affine> plusConstant(mlir::Value value);

/// The operators of a match, without the last.
using Parts = llvm::SmallSetVector<mlir::Operation *, 16>;

/// Is every part used by parts and `last` only?
bool areInside(const Parts &parts, mlir::Operation *last);

/// Replaces `last`, which ends `parts`, by `result`, a result of an operator
/// built at its location. `what` says in the remark what it is.
void replace(mlir::PatternRewriter &rewriter, mlir::Operation *last,
             const Parts &parts, mlir::Value result, llvm::StringRef what);

} // namespace ffc::recognition

#endif // FFC_LIB_PASSES_RECOGNIZEPATTERNS_H
