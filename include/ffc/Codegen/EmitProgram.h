//===- EmitProgram.h - `rank` to C++ text -----------------------*- C++ -*-===//
#ifndef FFC_CODEGEN_EMITPROGRAM_H
#define FFC_CODEGEN_EMITPROGRAM_H

#include "ffc/Codegen/ProgramMeta.h"
#include "ffc/Codegen/SourceFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ffc::codegen {

/// As ffrt::Evaluation.
struct EvaluationStep {
  mlir::ModuleOp ranks; ///< a verified `rank` module
  ProgramMeta meta;
  std::string rows; ///< what it offers: a word of ff::kRowsAttr
};

/// The program of all rank classes of a verified `rank` module: "train.cpp",
/// the text of which all ranks share, and "ranks.inc", which says what every
/// rank has of it, as runtime/include/ffrt/tables.h describes. If it has an
/// evaluation besides, that is "evaluate.inc" and "evaluate_ranks.inc". The
/// text is the same for the same modules and meta. Modules are not changed.
///
/// Emits a diagnostic and fails on a module without classes, on a rank that no
/// class or several classes hold, on statements whose numbers do not ascend,
/// and on what has no text form: an attribute of another kind than numbers,
/// lists of integers and strings; a state, input or probe that is not a box.
mlir::FailureOr<std::vector<SourceFile>>
emitProgram(mlir::ModuleOp module, const ProgramMeta &meta,
            const EvaluationStep *evaluation = nullptr);

/// A step of a program: its plan, its text, and its tables.
struct StepText {
  mlir::ModuleOp ranks;
  SourceFile text, tables;
};

/// Fails unless the texts do on every rank what verified `rank` modules say,
/// with the rank and the first action that differs, or where they are not those
/// of a program. The evaluation, if there is one, comes second. A module that
/// has no text gives a diagnostic, too, as emitProgram does.
llvm::Error verifyProgram(llvm::ArrayRef<StepText> steps);

} // namespace ffc::codegen

#endif // FFC_CODEGEN_EMITPROGRAM_H
