//===- RuntimeArchive.cpp - the compiled runtime, built once --------------===//
//
// The cache has one folder per runtime, compiler and processor. It is filled
// under a temporary name and renamed, so that processes that build it at the
// same time do the work twice but never see a half-made one.
//
//===----------------------------------------------------------------------===//

#include "Toolchain.h"

#include "ffc/Codegen/Output.h"
#include "ffc/Codegen/Runtime.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/SHA1.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <thread>

using namespace llvm;
using namespace ffc;
using namespace ffc::codegen;

namespace fs = llvm::sys::fs;
namespace path = llvm::sys::path;

static std::string archiveName(RuntimeKind kind) {
  return ("lib" + runtimeName(kind) + ".a").str();
}

std::vector<BundledFile> codegen::runtimeFiles(plan::Target target) {
  std::vector<StringRef> others = {"src/cuda/", "include/ffrt/cuda/"};
  if (target == plan::Target::CUDA)
    others = {"src/cpu/"};
  std::vector<BundledFile> files;
  llvm::copy_if(runtimeFiles(), std::back_inserter(files),
                [&](const BundledFile &file) {
                  return llvm::none_of(others, [&](StringRef folder) {
                    return file.path.starts_with(folder);
                  });
                });
  return files;
}

std::string codegen::runtimeHash() {
  SHA1 hash;
  for (const BundledFile &file : runtimeFiles()) {
    hash.update(file.path);
    hash.update(StringRef("\0", 1));
    hash.update(file.contents);
    hash.update(StringRef("\0", 1));
  }
  return toHex(hash.final(), /*LowerCase=*/true);
}

/// The archive in the build or installation that this executable is part of.
static std::string archiveBesideExecutable(RuntimeKind kind) {
  std::string self =
      fs::getMainExecutable(nullptr, reinterpret_cast<void *>(&runtimeHash));
  // It is for the GPUs that the runtime is compiled for unless told.
  if (kind.target == plan::Target::CUDA &&
      kind.cudaArch != RuntimeKind().cudaArch)
    return "";
  SmallString<128> archive = path::parent_path(path::parent_path(self));
  path::append(archive, "runtime", archiveName(kind));
  return fs::exists(archive) ? archive.str().str() : "";
}

static Expected<std::string> cacheFolder() {
  std::optional<std::string> cache = sys::Process::GetEnv("XDG_CACHE_HOME");
  SmallString<128> folder;
  if (cache && path::is_absolute(*cache))
    folder = *cache;
  else if (path::home_directory(folder))
    path::append(folder, ".cache");
  else
    return makeError("cannot keep the compiled runtime: expected "
                     "XDG_CACHE_HOME or a home directory, found neither");
  path::append(folder, "ffc");
  return folder.str().str();
}

/// What the archive depends on besides its sources.
static std::string describe(const Toolchain &tools) {
  std::string text =
      (runtimeName(tools.kind) + "\n" + sys::getHostCPUName() + "\n").str();
  if (tools.kind.target == plan::Target::CUDA)
    text += tools.kind.cudaArch + "\n";
  for (const std::string &compiler : {tools.compiler, tools.kernelCompiler}) {
    text += compiler + "\n";
    fs::file_status status;
    if (!fs::status(compiler, status))
      text += std::to_string(status.getSize()) + "\n" +
              std::to_string(
                  status.getLastModificationTime().time_since_epoch().count());
  }
  return text;
}

static Error build(StringRef folder, const Toolchain &tools) {
  std::string source = (folder + "/runtime").str();
  std::string output = (folder + "/build").str();
  std::string log = (folder + ".log").str();
  for (const BundledFile &file : runtimeFiles(tools.kind.target))
    if (Error error = writeText(source + "/" + file.path.str(), file.contents))
      return error;
  std::vector<std::string> configure = {"cmake",
                                        "-S",
                                        source,
                                        "-B",
                                        output,
                                        "-DCMAKE_BUILD_TYPE=Release",
                                        "-DCMAKE_CXX_COMPILER=" +
                                            tools.compiler};
  if (tools.kind.inF64)
    configure.insert(configure.end(),
                     {"-DFFRT_TARGET_CPU=OFF", "-DFFRT_TARGET_F64=ON"});
  if (tools.kind.target == plan::Target::CUDA)
    configure.insert(configure.end(),
                     {"-DFFRT_TARGET_CPU=OFF", "-DFFRT_TARGET_CUDA=ON",
                      "-DFFRT_CUDA_ARCHITECTURES=" +
                          StringRef(tools.kind.cudaArch).drop_front(3).str(),
                      "-DCMAKE_CUDA_COMPILER=" + tools.kernelCompiler});
  if (Error error = runLogged(configure, log))
    return error;
  if (Error error = runLogged(
          {"cmake", "--build", output, "--target",
           runtimeName(tools.kind).str(), "--parallel",
           std::to_string(std::max(1u, std::thread::hardware_concurrency()))},
          log))
    return error;
  if (std::error_code code =
          fs::rename(output + "/" + archiveName(tools.kind),
                     (folder + "/" + archiveName(tools.kind)).str()))
    return makeError("cannot find the compiled runtime in '" + output +
                     "': " + code.message());
  fs::remove_directories(output);
  fs::remove_directories(source);
  fs::remove(log);
  return Error::success();
}

Expected<std::string> codegen::runtimeArchive(const Toolchain &tools,
                                              function_ref<void()> building) {
  if (std::string archive = archiveBesideExecutable(tools.kind);
      !archive.empty())
    return archive;
  Expected<std::string> cache = cacheFolder();
  if (!cache)
    return cache.takeError();
  SHA1 key;
  key.update(runtimeHash());
  key.update(describe(tools));
  std::string folder = *cache + "/" + toHex(key.final(), true).substr(0, 16);
  std::string archive = folder + "/" + archiveName(tools.kind);
  if (fs::exists(archive))
    return archive;

  building();
  Pending pending(folder);
  if (Error error = build(pending.path(), tools))
    return error;
  if (Error error = pending.commit())
    return error;
  return archive;
}
