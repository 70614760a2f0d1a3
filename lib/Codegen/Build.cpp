//===- Build.cpp - source folders and executables -------------------------===//

#include "ffc/Codegen/Build.h"

#include "Toolchain.h"

#include "ffc/Codegen/Runtime.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace llvm;
using namespace ffc;
using namespace ffc::codegen;

/// The file of a program that is compiled as kernels are, if there are any.
static constexpr StringLiteral kFunctors = "functors.cpp";
/// The file that only programs have which measure.
static constexpr StringLiteral kProfile = "profile.inc";

static const SourceFile *findFile(const std::vector<SourceFile> &program,
                                  StringRef path) {
  auto it = llvm::find_if(
      program, [&](const SourceFile &file) { return file.path == path; });
  return it == program.end() ? nullptr : &*it;
}

static std::string cmakeLists(const std::vector<SourceFile> &program,
                              const RuntimeKind &kind, StringRef runtime) {
  const bool isCuda = kind.target == plan::Target::CUDA;
  std::string sources = kTrainFile, properties;
  if (findFile(program, kFunctors)) {
    sources += (" " + kFunctors).str();
    properties =
        ("set_source_files_properties(" + kFunctors + " PROPERTIES\n  " +
         (isCuda ? "LANGUAGE CUDA COMPILE_OPTIONS \"${FFRT_CUDA_FLAGS}\")\n"
                 : "COMPILE_OPTIONS \"${FFRT_KERNEL_FLAGS}\")\n"))
            .str();
  }
  // nvcc optimises functors only.
  std::string flags = isCuda ? "$<$<COMPILE_LANGUAGE:CXX>:" +
                                   llvm::join(compileFlags(kind), ";") + ">"
                             : llvm::join(compileFlags(kind), " ");
  std::string languages =
      isCuda ? "set(FFRT_TARGET_CPU OFF)\nset(FFRT_TARGET_CUDA ON)\n"
               "set(FFRT_CUDA_ARCHITECTURES " +
                   StringRef(kind.cudaArch).drop_front(3).str() +
                   " CACHE STRING \"GPUs to compile for\")\n"
                   "set(CMAKE_CUDA_ARCHITECTURES OFF)\n"
                   "enable_language(CUDA)\n"
      : kind.inF64 ? "set(FFRT_TARGET_CPU OFF)\nset(FFRT_TARGET_F64 ON)\n"
                   : "";
  return R"(# Written by ffc.
cmake_minimum_required(VERSION 3.18)
project(train LANGUAGES C CXX)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

)" + languages +
         "add_subdirectory(" +
         (runtime.empty() ? "runtime"
                          : ("[=[" + runtime + "]=] runtime").str()) +
         R"()

add_executable(train )" +
         sources + R"()
target_link_libraries(train PRIVATE )" +
         runtimeName(kind).str() + R"()
target_compile_options(train PRIVATE )" +
         flags + R"()
)" + properties +
         R"(

# The program looks for its weights beside itself.
if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/train.weights)
  add_custom_command(TARGET train POST_BUILD
    COMMAND ${CMAKE_COMMAND} -E create_symlink
            ${CMAKE_CURRENT_SOURCE_DIR}/train.weights
            $<TARGET_FILE_DIR:train>/train.weights)
endif()
)";
}

static std::string readme(const std::vector<SourceFile> &program,
                          const ProgramMeta &meta, plan::Target target,
                          StringRef runtime) {
  const bool measures = findFile(program, kProfile),
             hasEvaluation = findFile(program, kEvaluationFile);
  const std::string kind = measures ? "A standalone program that measures"
                           : meta.training ? "A standalone training program"
                                           : "A standalone inference program";
  const std::string run =
      measures ? "build/train --help\n"
                 "    mpirun -n N build/train --output profile.json"
               : "build/train --info\n"
                 "    mpirun -n N build/train --steps 10";
  return "# " + meta.model + "\n\n" + kind + R"(, written by ffc.

    cmake -B build && cmake --build build -j
    )" + run +
         R"(

N is the number of ranks that `)" +
         (measures ? "--help" : "--info") +
         R"(` shows. The build needs a C++17 compiler with OpenMP,
CMake, )" +
         (target == plan::Target::CUDA ? "the CUDA toolkit with cuDNN and NCCL"
                                       : "oneDNN") +
         R"( and MPI. Without MPI (`cmake -DFFRT_MPI=OFF`) ranks share a machine, and
`build/train --local-ranks N` starts them; without zlib, data sets are not compressed.

- `train.cpp`: kinds of layers, the layers, the step
)" +
         (findFile(program, kFunctors)
              ? "- `functors.h`, `functors.cpp`: what fused kernels compute\n"
              : "") +
         (measures ? "- `profile.inc`: what is measured\n" : "") +
         "- `ranks.inc`: what every rank has of them\n" +
         (hasEvaluation
              ? "- `evaluate.inc`, `evaluate_ranks.inc`: the same for "
                "`--validate`\n"
              : "") +
         (measures ? ""
                   : std::string("- `plan.rank`") +
                         (hasEvaluation ? ", `evaluate.rank`" : "") +
                         ": what ranks are to do, for `ffc verify`\n") +
         "- `" + (runtime.empty() ? "runtime" : runtime).str() +
         R"(/`: kernels, communication and the command line
- `train.weights`: initial values, when the model has any
)";
}

Error codegen::fillSourceFolder(StringRef folder,
                                const std::vector<SourceFile> &program,
                                const ProgramMeta &meta,
                                const RuntimeKind &kind, StringRef runtime) {
  auto write = [&](const Twine &path, StringRef contents) {
    return writeText((folder + "/" + path).str(), contents);
  };
  for (const SourceFile &file : program)
    if (Error error = write(file.path, file.contents))
      return error;
  if (runtime.empty())
    for (const BundledFile &file : runtimeFiles(kind.target))
      if (Error error = write("runtime/" + file.path, file.contents))
        return error;
  if (Error error = write("CMakeLists.txt", cmakeLists(program, kind, runtime)))
    return error;
  return write("README.md", readme(program, meta, kind.target, runtime));
}

Expected<std::string> codegen::findRuntime(StringRef folder) {
  SmallString<128> path(folder);
  if (std::error_code failure = sys::fs::make_absolute(path))
    return makeError("cannot find '" + folder + "': " + failure.message());
  const auto own = llvm::find_if(runtimeFiles(), [](const BundledFile &file) {
    return file.path == "CMakeLists.txt";
  });
  auto found = MemoryBuffer::getFile(path + "/CMakeLists.txt");
  if (!found || (*found)->getBuffer() != own->contents)
    return makeError(
        Twine("expected the runtime of this ffc, as --emit=source writes "
              "it, found ") +
        (found ? "something else" : "none") + " in '" + folder + "'");
  return std::string(path);
}

bool codegen::isRuntimeFor(StringRef folder, plan::Target target) {
  return llvm::all_of(runtimeFiles(target), [&](const BundledFile &file) {
    return !file.path.starts_with("src/") ||
           sys::fs::exists(folder + "/" + file.path);
  });
}

Error codegen::buildExecutable(StringRef executable,
                               const std::vector<SourceFile> &program,
                               const RuntimeKind &kind,
                               function_ref<void(StringRef)> phase) {
  Expected<Toolchain> tools = findToolchain(kind);
  if (!tools)
    return tools.takeError();
  Expected<std::string> archive =
      runtimeArchive(*tools, [&] { phase("runtime"); });
  if (!archive)
    return archive.takeError();

  phase("compile");
  SmallString<128> work;
  if (std::error_code code = sys::fs::createUniqueDirectory("ffc", work))
    return makeError("cannot create a temporary folder: " + code.message());
  std::string folder = work.str().str();
  const RemovedOnSignal guard(folder);
  for (const SourceFile &file : program)
    if (Error error = writeText(folder + "/" + file.path, file.contents))
      return error;
  for (const BundledFile &file : runtimeFiles(kind.target))
    if (file.path.starts_with("include/"))
      if (Error error =
              writeText(folder + "/" + file.path.str(), file.contents))
        return error;

  Pending pending(executable);
  std::vector<std::string> link = {tools->compiler};
  std::vector<Job> jobs;
  auto compile = [&](StringRef file, const std::string &compiler,
                     const std::vector<std::string> &flags) {
    std::string source = (folder + "/" + file).str();
    Job job{{compiler}, source + ".log", folder};
    llvm::append_range(job.command, flags);
    link.push_back(source + ".o");
    job.command.insert(job.command.end(), {"-I", folder + "/include", "-c",
                                           source, "-o", link.back()});
    jobs.push_back(std::move(job));
  };
  compile(kTrainFile, tools->compiler, compileFlags(kind));
  if (findFile(program, kFunctors))
    compile(kFunctors, tools->kernelCompiler, tools->kernels);
  link.insert(link.end(), {*archive, "-o", pending.path()});
  llvm::append_range(link, tools->libraries);
  // After a failure the folder stays, with the logs.
  if (Error error = runLogged(jobs))
    return error;
  phase("link");
  if (Error error = runLogged(Job{link, folder + "/link.log", folder}))
    return error;
  sys::fs::remove_directories(folder);
  return pending.commit();
}
