//===- Build.cpp - source folders and executables -------------------------===//

#include "ffc/Codegen/Build.h"

#include "Toolchain.h"

#include "ffc/Codegen/Runtime.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace llvm;
using namespace ffc;
using namespace ffc::codegen;

static std::string cmakeLists() {
  std::string flags = llvm::join(compileFlags(), " ");
  return R"(# Written by ffc.
cmake_minimum_required(VERSION 3.18)
project(train LANGUAGES C CXX)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

add_subdirectory(runtime)

add_executable(train train.cpp)
target_link_libraries(train PRIVATE ffrt)
target_compile_options(train PRIVATE )" +
         flags + R"()

# The program looks for its weights beside itself.
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/train.weights)
  add_custom_command(TARGET train POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink
            ${CMAKE_CURRENT_SOURCE_DIR}/train.weights
            $<TARGET_FILE_DIR:train>/train.weights)
endif()
)";
}

static std::string readme(const ProgramMeta &meta) {
  std::string run = meta.training ? "training" : "inference";
  return "# " + meta.model + R"(

A standalone )" +
         run + R"( program, written by ffc.

    cmake -B build && cmake --build build -j
    build/train --info
    mpirun -n N build/train --steps 10

N is the number of ranks that `--info` shows. The build needs a C++17 compiler, CMake,
MPI, oneDNN, OpenMP and zlib.

- `train.cpp`: the schedule of every rank, a section per layer
- `ranks.inc`: numbers in which ranks differ
- `runtime/`: kernels, communication and the command line
- `train.weights`: initial values, when the model has any
)";
}

Error codegen::fillSourceFolder(StringRef folder,
                                const std::vector<SourceFile> &program,
                                const ProgramMeta &meta) {
  auto write = [&](const Twine &path, StringRef contents) {
    return writeText((folder + "/" + path).str(), contents);
  };
  for (const SourceFile &file : program)
    if (Error error = write(file.path, file.contents))
      return error;
  for (const BundledFile &file : runtimeFiles())
    if (Error error = write("runtime/" + file.path, file.contents))
      return error;
  if (Error error = write("CMakeLists.txt", cmakeLists()))
    return error;
  return write("README.md", readme(meta));
}

Error codegen::buildExecutable(StringRef executable,
                               const std::vector<SourceFile> &program) {
  Expected<std::string> compiler = findCompiler();
  if (!compiler)
    return compiler.takeError();
  Expected<std::string> archive = runtimeArchive(*compiler);
  if (!archive)
    return archive.takeError();

  SmallString<128> work;
  if (std::error_code code = sys::fs::createUniqueDirectory("ffc", work))
    return makeError("cannot create a temporary folder: " + code.message());
  std::string folder = work.str().str();
  for (const SourceFile &file : program)
    if (Error error = writeText(folder + "/" + file.path, file.contents))
      return error;
  for (const BundledFile &file : runtimeFiles())
    if (file.path.starts_with("include/"))
      if (Error error =
              writeText(folder + "/" + file.path.str(), file.contents))
        return error;

  Pending pending(executable);
  std::vector<std::string> command = {*compiler};
  for (const std::string &flag : compileFlags())
    command.push_back(flag);
  command.insert(command.end(),
                 {"-I", folder + "/include", folder + "/train.cpp", *archive,
                  "-o", pending.path()});
  for (const std::string &flag : linkFlags())
    command.push_back(flag);
  // After a failure the folder stays, with the log.
  if (Error error = runLogged(command, folder + "/log"))
    return error;
  sys::fs::remove_directories(folder);
  return pending.commit();
}
