//===- Sections.h - a class's actions by layer and method -------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_SECTIONS_H
#define FFC_LIB_CODEGEN_SECTIONS_H

#include "ffc/Codegen/ProgramMeta.h"
#include "ffc/IR/Rank.h"

#include "llvm/ADT/SmallVector.h"

namespace ffc::codegen {

/// Consecutive actions of one layer in one direction. Methods run in order.
struct Method {
  size_t layer = 0; ///< index into Sections::layers
  Direction direction = Direction::Forward;
  llvm::SmallVector<mlir::Operation *> actions;
};

struct Layer {
  std::string name;                          ///< the forward operator's
  llvm::SmallVector<rank::BufferOp> buffers; ///< those it is the first to use
  llvm::SmallVector<size_t> methods;         ///< indices into Sections::methods
};

/// The arrangement of one class's text. Layers stand in the order of their
/// first action.
struct Sections {
  std::vector<Layer> layers;
  std::vector<Method> methods;
  /// The first so many are those of a micro-batch.
  size_t microBatchMethods = 0;
};

/// Actions without an operator's name (waits, probes) stay with what is before
/// them, but nothing after the micro-batches with what is in them. Buffers that
/// no action uses belong to the first layer.
Sections arrange(rank::FuncOp func, const ProgramMeta &meta);

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_SECTIONS_H
