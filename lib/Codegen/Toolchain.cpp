//===- Toolchain.cpp - the host compiler and its flags --------------------===//

#include "Toolchain.h"

#include "ffc/Codegen/Output.h"

#include "llvm/ADT/STLExtras.h"
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

std::vector<std::string> codegen::kernelFlags() {
  std::vector<std::string> flags = {"-std=c++17"};
  SmallVector<StringRef> words;
  StringRef(FFC_KERNEL_FLAGS).split(words, ' ');
  flags.insert(flags.end(), words.begin(), words.end());
  return flags;
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
  return runLogged(Job{command, log.str()});
}

Error codegen::runLogged(ArrayRef<Job> jobs) {
  SmallVector<std::string> programs;
  for (const Job &job : jobs) {
    ErrorOr<std::string> program = sys::findProgramByName(job.command.front());
    if (!program)
      return makeError("expected '" + job.command.front() +
                       "' in PATH, found none");
    programs.push_back(*program);
  }
  SmallVector<sys::ProcessInfo> running;
  for (auto [job, program] : zip_equal(jobs, programs)) {
    SmallVector<StringRef> args(job.command.begin(), job.command.end());
    std::optional<StringRef> redirects[] = {StringRef(), job.log, job.log};
    running.push_back(
        sys::ExecuteNoWait(program, args, std::nullopt, redirects));
  }
  // All are waited for, whatever becomes of the first ones.
  std::string failed;
  for (auto [job, process] : zip_equal(jobs, running)) {
    std::string cause;
    bool ok = process.Pid != sys::ProcessInfo::InvalidPid &&
              sys::Wait(process, std::nullopt, &cause).ReturnCode == 0;
    if (!ok && failed.empty())
      failed = "'" + job.command.front() + "' failed" +
               (cause.empty() ? "" : ": " + cause) + ", see " + job.log;
  }
  return failed.empty() ? Error::success() : makeError(failed);
}
