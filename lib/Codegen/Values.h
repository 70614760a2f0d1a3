//===- Values.h - buffers that are shards of one value ----------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_VALUES_H
#define FFC_LIB_CODEGEN_VALUES_H

#include "Statements.h"

#include "llvm/ADT/DenseMap.h"

#include <string>
#include <vector>

namespace ffc::codegen {

/// The buffers of all classes that kernels read or write as one operand or
/// result: what the text gives one name.
struct ShardedValue {
  std::string name; ///< of a buffer, without a number where one has none
  /// By class.
  std::vector<llvm::SmallVector<rank::BufferOp>> buffers;
};

/// Kernels of one statement have one text if they call the same with the same
/// attributes and operand types, and do without the same operands.
std::string signatureOf(rank::KernelOp op);

class Values {
public:
  Values(llvm::ArrayRef<rank::FuncOp> classes,
         llvm::ArrayRef<Statement> statements);

  llvm::ArrayRef<ShardedValue> all() const { return values; }
  /// The value of a buffer, and which of the class's shards it is; -1 for
  /// buffers that no kernel uses.
  int valueOf(mlir::Value buffer) const;
  size_t shardOf(mlir::Value buffer) const;

private:
  std::vector<ShardedValue> values;
  llvm::DenseMap<mlir::Operation *, std::pair<int, size_t>> places;
};

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_VALUES_H
