//===- TypedNode.h - parts of element-wise operators ------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_TYPEDNODE_H
#define FFC_LIB_IMPORT_TYPEDNODE_H

#include "NodeImporter.h"

namespace ffc::importer {

/// Makes the type of operand i that of the node. It must be of floats or
/// doubles, or, if `integers`, of integers.
void takeNumberType(NodeImporter &node, int i, bool integers);

/// Reports operands of several types.
void expectOneType(NodeImporter &node, llvm::ArrayRef<int> operands);

/// Parts of a node (see NodeImporter::part); without a name, the one that has
/// the node's own. Operands broadcast.
mlir::Value unaryPart(NodeImporter &node, const llvm::Twine &name,
                      ff::UnaryKind kind, mlir::Value x,
                      std::optional<double> alpha = std::nullopt,
                      std::optional<double> beta = std::nullopt);
mlir::Value binaryPart(NodeImporter &node, const llvm::Twine &name,
                       ff::BinaryKind kind, mlir::Value a, mlir::Value b);

/// 0, 1, ... along the first of `rank` dimensions, to compare indices with.
/// Reports more of them than floats can tell apart.
Constant positions(NodeImporter &node, int64_t count, int64_t rank);

/// The numbers of a matrix's columns, and those of its rows' elements on a
/// diagonal, which are to be compared.
struct Diagonal {
  mlir::Value columns, rows;
};
/// That `offset` columns to the right of the main one; null after an error.
Diagonal diagonalOf(NodeImporter &node, int64_t rows, int64_t columns,
                    double offset);

/// Result 0 is `x` as a tensor of `type`, to which it is rounded.
void defineCast(NodeImporter &node, mlir::Value x, int32_t type);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_TYPEDNODE_H
