//===- ProgramPrinter.h - the classes of a program --------------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_PROGRAMPRINTER_H
#define FFC_LIB_CODEGEN_PROGRAMPRINTER_H

#include "ClassPrinter.h"

#include "ffc/Codegen/EmitProgram.h"

#include <list>

namespace ffc::codegen {

/// Prints all rank classes of a verified `rank` module, and what chooses among
/// them: a namespace's contents, which give `make` and `program_info`.
class ProgramPrinter {
public:
  /// Tables go to a file of the name `tablesName`. With `isTimed` kernels and
  /// copies are told to the stopwatch.
  ProgramPrinter(mlir::ModuleOp module, const ProgramMeta &meta,
                 Functors &functors, std::string tablesName, bool isTimed)
      : module(module), meta(meta), functors(functors),
        tablesName(std::move(tablesName)), isTimed(isTimed),
        funcs(llvm::to_vector(module.getOps<rank::FuncOp>())) {}

  /// Fills `body` and `tables`. Fails after a diagnostic.
  mlir::LogicalResult print();
  Text body, tables;

  /// The comment at the head of the file, after print().
  void printHeader(Text &text);

private:
  mlir::LogicalResult findPlaces();
  void printStrategy(Text &text);
  void printBase(Text &text);
  void printMake(Text &text);
  void printInfo(Text &text);
  void printTables(Text &text);

  mlir::ModuleOp module;
  const ProgramMeta &meta;
  Functors &functors;
  std::string tablesName;
  bool isTimed;
  llvm::SmallVector<rank::FuncOp> funcs;
  std::list<ClassPrinter> printers;
  /// Class and row of every rank.
  std::vector<std::pair<size_t, size_t>> places;
};

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_PROGRAMPRINTER_H
