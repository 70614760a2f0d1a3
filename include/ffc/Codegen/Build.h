//===- Build.h - source folders and executables -----------------*- C++ -*-===//
#ifndef FFC_CODEGEN_BUILD_H
#define FFC_CODEGEN_BUILD_H

#include "ffc/Codegen/EmitProgram.h"
#include "ffc/Codegen/Output.h"
#include "ffc/Codegen/Runtime.h"
#include "ffc/Plan/Topology.h"

#include "llvm/ADT/STLFunctionalExtras.h"

namespace ffc::codegen {

/// Fills `folder` with a program's sources, the runtime, CMakeLists.txt and
/// README.md: all that is needed to build it on another machine. A weights file
/// goes beside them as train.weights. `runtime`: the path of a folder that has
/// the runtime already, which several programs share; empty: it is among the
/// files.
llvm::Error fillSourceFolder(llvm::StringRef folder,
                             const std::vector<SourceFile> &program,
                             const ProgramMeta &meta, const RuntimeKind &kind,
                             llvm::StringRef runtime);

/// The absolute path of a folder with the runtime that this ffc brings, or an
/// error if it holds something else.
llvm::Expected<std::string> findRuntime(llvm::StringRef folder);
/// Does a folder that findRuntime() found have all sources for a target? Those
/// that --emit=source writes have one target's.
bool isRuntimeFor(llvm::StringRef folder, plan::Target target);

/// Compiles a program and links it with the runtime into the file `executable`.
/// The runtime's archive is the one that was built with ffc, or one in the
/// user's cache, which is built when missing (for GPUs of another
/// architecture always). Compiler output goes to a log
/// file that an error names. `phase` is told what begins: "runtime" if that is
/// built, "compile", "link".
llvm::Error buildExecutable(llvm::StringRef executable,
                            const std::vector<SourceFile> &program,
                            const RuntimeKind &kind,
                            llvm::function_ref<void(llvm::StringRef)> phase);

} // namespace ffc::codegen

#endif // FFC_CODEGEN_BUILD_H
