//===- Toolchain.h - compilers and their flags ------------------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_TOOLCHAIN_H
#define FFC_LIB_CODEGEN_TOOLCHAIN_H

#include "ffc/Codegen/Runtime.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ffc::codegen {

/// Flags for emitted programs.
std::vector<std::string> compileFlags(RuntimeKind kind);

/// A build of the runtime as CMake calls it: "ffrt".
llvm::StringRef runtimeName(RuntimeKind kind);

/// How programs on a runtime are built.
struct Toolchain {
  RuntimeKind kind;
  std::string compiler;               ///< of the host, an absolute path
  std::string kernelCompiler;         ///< the same, or nvcc
  std::vector<std::string> kernels;   ///< flags for kernels of programs
  std::vector<std::string> libraries; ///< what is linked after the runtime
};
/// An error names what is missing.
llvm::Expected<Toolchain> findToolchain(RuntimeKind kind);

/// Runs `command` (the first word is looked up in PATH) with its output
/// appended to `log`. An error names the command and the log.
llvm::Error runLogged(const std::vector<std::string> &command,
                      llvm::StringRef log);

/// The same for several at the same time.
struct Job {
  std::vector<std::string> command;
  std::string log;
  /// Where its temporary files are; empty: where they are by default.
  std::string temporaries = "";
};
llvm::Error runLogged(llvm::ArrayRef<Job> jobs);

/// The archive of the runtime, which is built if need be: `building` is called
/// before.
llvm::Expected<std::string> runtimeArchive(const Toolchain &tools,
                                           llvm::function_ref<void()> building);

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_TOOLCHAIN_H
