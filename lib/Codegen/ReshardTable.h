//===- ReshardTable.h - the rows of a reshard -------------------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_RESHARDTABLE_H
#define FFC_LIB_CODEGEN_RESHARDTABLE_H

#include "Layers.h"
#include "TableList.h"

namespace ffc::codegen {

/// Adds what the class of `list` has of a reshard, as
/// runtime/include/ffrt/reshard.h says. Fails after a diagnostic on waits for
/// other communication than that of the reshard.
mlir::LogicalResult printReshard(TableList &list, const Member &member,
                                 NameList &operators, NameList &transfers);

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_RESHARDTABLE_H
