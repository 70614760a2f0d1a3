//===- UniqueNames.h - names that no operator or state has yet --*- C++ -*-===//
#ifndef FFC_LIB_PASSES_UNIQUENAMES_H
#define FFC_LIB_PASSES_UNIQUENAMES_H

#include "ffc/IR/FF.h"

#include "llvm/ADT/StringMap.h"

namespace ffc {

/// Names of operators and states say which is meant: owners are found by them,
/// strategies, checkpoints and reports are written with them. What a pass makes
/// is called after something of the model, whose author may have had the same
/// idea, and one operator can be called after the same thing twice.
class UniqueNames {
public:
  /// Knows the names in `block`.
  explicit UniqueNames(mlir::Block &block);

  /// `wanted`, or if it is taken `wanted_1` and so on. Taken from now on.
  std::string take(const llvm::Twine &wanted);
  /// The same for the name in the location of `op`, which computes something
  /// and was just made.
  void rename(mlir::Operation *op);

private:
  llvm::StringMap<int> taken; ///< how often a number was put behind it
};

} // namespace ffc

#endif // FFC_LIB_PASSES_UNIQUENAMES_H
