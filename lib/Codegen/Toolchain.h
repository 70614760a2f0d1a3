//===- Toolchain.h - the host compiler and its flags ------------*- C++ -*-===//
#ifndef FFC_LIB_CODEGEN_TOOLCHAIN_H
#define FFC_LIB_CODEGEN_TOOLCHAIN_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <string>
#include <vector>

namespace ffc::codegen {

/// Flags for emitted programs.
std::vector<std::string> compileFlags();

/// Flags for their kernels, which are those of the runtime.
std::vector<std::string> kernelFlags();

/// What an emitted program links after the runtime.
std::vector<std::string> linkFlags();

/// The absolute path of the host compiler.
llvm::Expected<std::string> findCompiler();

/// Runs `command` (the first word is looked up in PATH) with its output
/// appended to `log`. An error names the command and the log.
llvm::Error runLogged(const std::vector<std::string> &command,
                      llvm::StringRef log);

/// The same for several at the same time.
struct Job {
  std::vector<std::string> command;
  std::string log;
};
llvm::Error runLogged(llvm::ArrayRef<Job> jobs);

/// The archive of the runtime, which is built with `compiler` if need be.
llvm::Expected<std::string> runtimeArchive(const std::string &compiler);

} // namespace ffc::codegen

#endif // FFC_LIB_CODEGEN_TOOLCHAIN_H
