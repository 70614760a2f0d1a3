//===- Bits.h - integers in the IR ------------------------------*- C++ -*-===//
#ifndef FFC_LIB_IMPORT_BITS_H
#define FFC_LIB_IMPORT_BITS_H

#include "NodeImporter.h"

namespace ffc::importer {

/// `x`, of integers that have more bits than `type`, wrapped to what the type
/// holds, in the bits that it has.
mlir::Value wrappedTo(NodeImporter &node, mlir::Value x, int32_t type);

} // namespace ffc::importer

#endif // FFC_LIB_IMPORT_BITS_H
