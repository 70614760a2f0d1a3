//===- ProgramPrinter.h - the text of a program -----------------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_PROGRAMPRINTER_H
#define FFC_LIB_CODEGEN_PROGRAMPRINTER_H

#include "LayerPrinter.h"

#include "ffc/Codegen/EmitProgram.h"

namespace ffc::codegen {

/// Prints a verified `rank` module: a namespace's contents, which give `make`
/// and `program_info`.
class ProgramPrinter {
public:
  /// Included files have names with `prefix`.
  ProgramPrinter(mlir::ModuleOp module, const ProgramMeta &meta,
                 Functors &functors, const std::string &prefix = "",
                 llvm::StringRef className = "Train")
      : tables{prefix + kRanksFile, {}}, module(module), meta(meta),
        functors(functors), className(className),
        funcs(llvm::to_vector(module.getOps<rank::FuncOp>())) {}

  /// A file that the body includes.
  struct Part {
    std::string name;
    Text text;

    SourceFile take() { return {name, text.take()}; }
  };

  /// Fills the body, and the tables of all ranks. Fails after a diagnostic.
  mlir::LogicalResult print();
  Text body;
  Part tables;

  /// The comment at the head of the file `name`, after print().
  void printHeader(Text &text, llvm::StringRef name);

private:
  mlir::LogicalResult findPlaces();
  void printStrategy(Text &text);
  void printProgram(Text &text);
  void printInfo(Text &text);
  mlir::LogicalResult printTables(Text &text);

  mlir::ModuleOp module;
  const ProgramMeta &meta;
  Functors &functors;
  const llvm::StringRef className; ///< of the program
  llvm::SmallVector<rank::FuncOp> funcs;
  Layers layers;
  /// Class and row of every rank.
  std::vector<std::pair<size_t, size_t>> places;
};

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_PROGRAMPRINTER_H
