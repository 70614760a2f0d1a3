//===- EmitProgram.h - `rank` to C++ text -----------------------*- C++ -*-===//
#ifndef FFC_CODEGEN_EMITPROGRAM_H
#define FFC_CODEGEN_EMITPROGRAM_H

#include "ffc/Codegen/ProgramMeta.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ffc::codegen {

/// A file to write, by its path below the output folder.
struct SourceFile {
  std::string path;
  std::string contents;
};

/// In a source folder, the `rank` module that the text was made from.
inline constexpr llvm::StringLiteral kPlanFile = "plan.rank";

/// The program of all rank classes of a verified `rank` module: "train.cpp",
/// the text of which all ranks share, and "ranks.inc", which says what every
/// rank has of it, as runtime/include/ffrt/tables.h describes. The text is the
/// same for the same module and meta. The module is not changed.
///
/// Emits a diagnostic and fails on a module without classes, on a rank that no
/// class or several classes hold, on statements whose numbers do not ascend,
/// and on what has no text form: an attribute of another kind than numbers,
/// lists of integers and strings; a state, input or probe that is not a box.
mlir::FailureOr<std::vector<SourceFile>> emitProgram(mlir::ModuleOp module,
                                                     const ProgramMeta &meta);

/// Fails unless "train.cpp" and "ranks.inc" do on every rank what a verified
/// `rank` module says, with the rank and the first action that differs, or
/// where they are not those of a program. A module that has no text gives a
/// diagnostic, too, as emitProgram does.
llvm::Error verifyProgram(mlir::ModuleOp module, llvm::StringRef train,
                          llvm::StringRef ranks);

} // namespace ffc::codegen

#endif // FFC_CODEGEN_EMITPROGRAM_H
