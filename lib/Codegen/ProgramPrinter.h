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
  /// Included files have names with `prefix`.
  ProgramPrinter(mlir::ModuleOp module, const ProgramMeta &meta,
                 Functors &functors, const std::string &prefix = "")
      : tables{prefix + "ranks.inc", {}}, tasks{prefix + "tasks.inc", {}},
        module(module), meta(meta), functors(functors),
        funcs(llvm::to_vector(module.getOps<rank::FuncOp>())) {}

  /// A file that the body includes.
  struct Part {
    std::string name;
    Text text;

    SourceFile take() { return {name, text.take()}; }
  };

  /// Fills the body, and the tables and tasks of all ranks. Fails after a
  /// diagnostic.
  mlir::LogicalResult print();
  Text body;
  Part tables, tasks;

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
  llvm::SmallVector<rank::FuncOp> funcs;
  std::list<ClassPrinter> printers;
  /// Class and row of every rank.
  std::vector<std::pair<size_t, size_t>> places;
};

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_PROGRAMPRINTER_H
