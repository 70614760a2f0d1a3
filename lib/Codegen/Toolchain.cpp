//===- Toolchain.cpp - the host compiler and its flags --------------------===//

#include "Toolchain.h"

#include "ffc/Codegen/Output.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Program.h"

using namespace llvm;
using namespace ffc;

std::vector<std::string> codegen::compileFlags() {
  // A program is calls, each made once per step; the work is in the runtime,
  // which instantiates its kernel templates itself. Optimising the calls of a
  // large model takes longer than everything else here.
  return {"-std=c++17", "-O0"};
}

std::vector<std::string> codegen::linkFlags() {
  std::vector<std::string> flags = {"-fopenmp"};
  // Found by CMake when ffc was built, as the runtime's own build finds them.
  SmallVector<StringRef> libraries;
  StringRef(FFC_RUNTIME_LIBRARIES).split(libraries, ':');
  flags.insert(flags.end(), libraries.begin(), libraries.end());
  return flags;
}

Expected<std::string> codegen::findCompiler() {
  if (ErrorOr<std::string> path = sys::findProgramByName("g++"))
    return *path;
  return makeError("cannot build the program: expected g++ in PATH, found "
                   "none; --emit=source writes the sources");
}

Error codegen::runLogged(const std::vector<std::string> &command,
                         StringRef log) {
  ErrorOr<std::string> program = sys::findProgramByName(command.front());
  if (!program)
    return makeError("expected '" + command.front() + "' in PATH, found none");
  SmallVector<StringRef> args(command.begin(), command.end());
  std::optional<StringRef> redirects[] = {StringRef(), log, log};
  std::string cause;
  int status =
      sys::ExecuteAndWait(*program, args, std::nullopt, redirects,
                          /*SecondsToWait=*/0, /*MemoryLimit=*/0, &cause);
  if (status == 0)
    return Error::success();
  return makeError("'" + command.front() + "' failed" +
                   (cause.empty() ? "" : ": " + cause) + ", see " + log);
}
