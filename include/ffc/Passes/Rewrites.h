//===- Rewrites.h - other graphs that compute the same ----------*- C++ -*-===//
//
// Rules that turn a forward graph into another one with the same outputs and
// gradients, up to rounding (TASO, SOSP 2019). Which graph is faster depends on
// how it is split, so that they are chosen together with the strategy (Unity,
// OSDI 2022), and not always done (docs/decisions/0065).
//
//===----------------------------------------------------------------------===//
#ifndef FFC_PASSES_REWRITES_H
#define FFC_PASSES_REWRITES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace ffc {

/// A rule. States, inputs and outputs keep their names, types and values, and
/// every operator whose result is left keeps its name.
struct Rewrite {
  llvm::StringRef name; ///< "merge-products"
  /// What it does, as in "merge-products: products of one operand ...".
  llvm::StringRef summary;
  /// Applies it to a forward graph, wherever it can, and says in how many
  /// places; 0: nothing has changed.
  size_t (*apply)(mlir::func::FuncOp main);
};

/// All rules, in the order in which they are tried and applied.
llvm::ArrayRef<Rewrite> rewrites();

/// The rule of that name, or null.
const Rewrite *findRewrite(llvm::StringRef name);

/// "merge-products, batch-products": the names of all, as messages list them.
std::string namesOfRewrites();
/// "merge-products (products of ...); ...": the same with what they do.
std::string describeRewrites();

} // namespace ffc

#endif // FFC_PASSES_REWRITES_H
