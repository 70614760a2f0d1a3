//===- EmitProfile.h - the program that measures ----------------*- C++ -*-===//
#ifndef FFC_CODEGEN_EMITPROFILE_H
#define FFC_CODEGEN_EMITPROFILE_H

#include "ffc/Codegen/EmitProgram.h"

namespace ffc::codegen {

/// As ffrt::ProfileEntry.
struct ProfileEntry {
  std::string key, kernel;
  int devices = 1;
  double flops = 0, bytes = 0, expected = 0;
};

/// The step of one strategy.
struct ProfiledStep {
  mlir::ModuleOp ranks; ///< a verified `rank` module
  ProgramMeta meta;
  /// By rank, the entry of every kernel and copy in the order of its function.
  std::vector<std::vector<int>> entries;
};

struct ProfileMeta {
  std::string model, device, version;
  std::vector<ProfileEntry> entries;
};

/// The program that measures the kernels of `steps`, of which there is one at
/// least: "train.cpp", the tables of each step, and functors. Its kernels are
/// called as in the programs of emitProgram().
mlir::FailureOr<std::vector<SourceFile>>
emitProfile(llvm::ArrayRef<ProfiledStep> steps, const ProfileMeta &meta);

} // namespace ffc::codegen

#endif // FFC_CODEGEN_EMITPROFILE_H
