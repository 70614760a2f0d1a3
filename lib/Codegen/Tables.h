//===- Tables.h - what ranks have of a program, as text ---------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_TABLES_H
#define FFC_LIB_CODEGEN_TABLES_H

#include "Layers.h"
#include "TableList.h"

#include "llvm/ADT/MapVector.h"

namespace ffc::codegen {

/// Prints the file of tables: lists of numbers by class, as
/// runtime/include/ffrt/tables.h says.
class TablePrinter {
public:
  TablePrinter(llvm::ArrayRef<rank::FuncOp> classes, const Layers &layers)
      : classes(classes), layers(layers) {}

  /// `const Tables rank_tables`, after all that it refers to. `places`: class
  /// and row by rank. Fails after a diagnostic.
  mlir::LogicalResult print(Text &text,
                            llvm::ArrayRef<std::pair<size_t, size_t>> places);

private:
  mlir::LogicalResult printClass(Text &text, size_t c);
  void printState(Text &text, rank::StateOp op);
  void printSlots(TableList &list);
  void printLoss(TableList &list);
  mlir::LogicalResult printLayer(TableList &list, const Layer &layer);
  void printKernel(TableList &list, const Layer &layer, const Member &member);
  void printTile(TableList &list, const Layer &layer, rank::KernelOp op);
  void printPassOrder(TableList &list);
  void printDump(TableList &list, const Member &member);

  llvm::ArrayRef<rank::FuncOp> classes;
  const Layers &layers;
  NameList operators, transfers, inputs, outputs;
  llvm::MapVector<mlir::StringAttr, rank::StateOp> states;
  std::vector<size_t> widths; ///< of own rows, by class
};

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_TABLES_H
