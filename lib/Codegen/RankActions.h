//===- RankActions.h - what a rank does, by the `rank` module ---*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_RANKACTIONS_H
#define FFC_LIB_CODEGEN_RANKACTIONS_H

#include "Functors.h"

#include "ffc/Codegen/ProgramReader.h"
#include "ffc/IR/Rank.h"

#include "mlir/IR/BuiltinOps.h"

namespace ffc::codegen {

/// What number `index` of the class's ranks does, in the lines that readProgram
/// gives. `functors` has those of the program.
RankActions actionsOf(rank::FuncOp func, size_t index, Functors &functors);

/// Fails, with the rank and the task, unless the text does what the module says
/// on every rank.
llvm::Error compareWithText(mlir::ModuleOp module, Functors &functors,
                            const SourceFile &text, const SourceFile &tables);

/// The same of text that has just been written: a difference is an internal
/// error, which is emitted.
mlir::LogicalResult checkText(mlir::ModuleOp module, Functors &functors,
                              const SourceFile &text, const SourceFile &tables);

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_RANKACTIONS_H
