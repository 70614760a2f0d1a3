//===- Toolchain.cpp - compilers and their flags --------------------------===//

#include "Toolchain.h"

#include "ffc/Codegen/OnSignal.h"

#include "ffc/Codegen/Output.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"

#include <unistd.h>

using namespace llvm;
using namespace ffc;
using namespace ffc::codegen;

std::vector<std::string> codegen::compileFlags(RuntimeKind kind) {
  // A program is calls, each made once per step; the work is in the runtime,
  // which instantiates its kernel templates itself. Optimising the calls of a
  // large model takes longer than everything else here.
  std::vector<std::string> flags = {"-std=c++17", "-O0"};
  if (kind.target == plan::Target::CUDA)
    flags.push_back("-DFFRT_CUDA");
  if (kind.inF64)
    flags.push_back("-DFFRT_F64");
  return flags;
}

StringRef codegen::runtimeName(RuntimeKind kind) {
  return kind.target == plan::Target::CUDA ? "ffrt_cuda"
         : kind.inF64                      ? "ffrt_f64"
                                           : "ffrt";
}

std::string codegen::cudaArchOf(plan::GpuGeneration generation) {
  switch (generation) {
  case plan::GpuGeneration::Ampere:
    return "sm_80";
  case plan::GpuGeneration::Blackwell:
    return "sm_100";
  case plan::GpuGeneration::None:
  case plan::GpuGeneration::Volta: // nvcc 13 has left it behind
  case plan::GpuGeneration::Hopper:
    break;
  }
  return "sm_90";
}

/// The words of what CMake found when ffc was built, as the runtime's own build
/// finds it.
static void append(std::vector<std::string> &to, StringRef words,
                   char separator) {
  SmallVector<StringRef> parts;
  words.split(parts, separator, -1, /*KeepEmpty=*/false);
  to.insert(to.end(), parts.begin(), parts.end());
}

/// In the toolkit that CUDA_PATH names, or else in PATH, or else where toolkits
/// are installed by default.
static ErrorOr<std::string> findNvcc() {
  if (std::optional<std::string> root = sys::Process::GetEnv("CUDA_PATH"))
    return sys::findProgramByName("nvcc", {*root + "/bin"});
  if (ErrorOr<std::string> path = sys::findProgramByName("nvcc"))
    return path;
  return sys::findProgramByName("nvcc", {"/usr/local/cuda/bin"});
}

static Error findCuda(Toolchain &tools) {
  ErrorOr<std::string> nvcc = findNvcc();
  if (!nvcc)
    return makeError("cannot build the program: expected nvcc of the CUDA "
                     "toolkit in CUDA_PATH or PATH, found none; --emit=source "
                     "writes the sources");
  tools.kernelCompiler = *nvcc;
  tools.kernels = {"-O3", "-DFFRT_CUDA", "-x", "cu"};
  append(tools.kernels, FFC_CUDA_FLAGS, ' ');
  tools.kernels.push_back("-arch=" + tools.kind.cudaArch);
  StringRef root = sys::path::parent_path(sys::path::parent_path(*nvcc));
  tools.libraries.push_back(("-L" + root + "/lib64").str());
  tools.libraries.push_back(("-Wl,-rpath," + root + "/lib64").str());
  append(tools.libraries, "-lcublasLt -lcudnn -lnccl -lcudart", ' ');
  return Error::success();
}

Expected<Toolchain> codegen::findToolchain(RuntimeKind kind) {
  Toolchain tools;
  tools.kind = kind;
  ErrorOr<std::string> compiler = sys::findProgramByName("g++");
  if (!compiler)
    return makeError("cannot build the program: expected g++ in PATH, found "
                     "none; --emit=source writes the sources");
  tools.compiler = tools.kernelCompiler = *compiler;
  tools.libraries = {"-fopenmp"};
  if (kind.target == plan::Target::CUDA) {
    if (Error error = findCuda(tools))
      return error;
  } else {
    tools.kernels = {"-std=c++17"};
    if (kind.inF64)
      tools.kernels.push_back("-DFFRT_F64");
    append(tools.kernels, FFC_KERNEL_FLAGS, ' ');
    append(tools.libraries, FFC_KERNEL_LIBRARIES, ':');
  }
  append(tools.libraries, FFC_RUNTIME_LIBRARIES, ':');
  return tools;
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
  std::vector<std::unique_ptr<EndedOnSignal>> guards;
  for (auto [job, program] : zip_equal(jobs, programs)) {
    SmallVector<StringRef> args(job.command.begin(), job.command.end());
    std::optional<StringRef> redirects[] = {StringRef(), job.log, job.log};
    std::vector<std::string> variables;
    for (char **each = environ; *each; ++each)
      if (job.temporaries.empty() || !StringRef(*each).starts_with("TMPDIR="))
        variables.push_back(*each);
    if (!job.temporaries.empty())
      variables.push_back("TMPDIR=" + job.temporaries);
    const SmallVector<StringRef> environment(variables.begin(),
                                             variables.end());
    // In groups of their own, which a signal ends as a whole.
    running.push_back(sys::ExecuteNoWait(
        program, args, ArrayRef<StringRef>(environment), redirects,
        /*MemoryLimit=*/0,
        /*ErrMsg=*/nullptr, /*ExecutionFailed=*/nullptr,
        /*AffinityMask=*/nullptr, /*DetachProcess=*/true));
    guards.push_back(std::make_unique<EndedOnSignal>(running.back().Pid));
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
