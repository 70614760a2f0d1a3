//===- Positions.h - numbers made of positions ------------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_POSITIONS_H
#define FFC_LIB_IMPORT_POSITIONS_H

#include "Expression.h"

namespace ffc::importer {

int64_t product(llvm::ArrayRef<int64_t> extents);

/// What the positions in operand 1 of a node name in its operand 0, which is
/// then seen as `rows` slices of `width` elements each.
struct Named {
  GraphValue *numbers = nullptr; ///< of slices; null after an error
  int64_t rows = 0, width = 0;
};

/// Slices, by positions along the dimensions after `batches` leading ones, as
/// GatherND has them.
Named namedSlices(NodeImporter &node, Expression &made, int64_t batches);

/// Positions along an axis, one for every element, as GatherElements has them.
struct ElementPositions {
  Shape lines;         ///< what is indexed: operand 1's, whole along the axis
  mlir::Value indices; ///< of at most 6 dimensions
  // As the indices are shaped: the axis, operand 1, and the lines.
  int64_t axis = 0;
  Shape shape, indexed;
};
/// Those in operand 1 of a node, with attribute 'axis'; nothing after an error.
std::optional<ElementPositions> elementPositions(NodeImporter &node);

/// Numbers of one of `rows` rows, in the IR as a tensor of integers of rank 1
/// to 6. Null after an error.
mlir::Value indicesOf(NodeImporter &node, GraphValue &numbers, int64_t rows);

/// Gather along `axis` by computed indices.
void importLookup(NodeImporter &node, int64_t axis);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_POSITIONS_H
