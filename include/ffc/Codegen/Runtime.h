//===- Runtime.h - the runtime that ffc carries -----------------*- C++ -*-===//
#ifndef FFC_CODEGEN_RUNTIME_H
#define FFC_CODEGEN_RUNTIME_H

#include "ffc/Plan/Topology.h"
#include "llvm/ADT/StringRef.h"

#include <string>
#include <vector>

namespace ffc::codegen {

/// A build of the runtime: for a target, and for numbers of f32 or, on CPUs,
/// f64.
struct RuntimeKind {
  plan::Target target = plan::Target::CPU;
  bool inF64 = false;
  /// Of the GPUs that kernels are compiled for: "sm_90".
  std::string cudaArch = "sm_90";
};

/// What a program for GPUs of that generation is compiled for: "sm_80".
std::string cudaArchOf(plan::GpuGeneration generation);

/// A file of runtime/, by its path there.
struct BundledFile {
  llvm::StringRef path;
  llvm::StringRef contents;
};

/// All of runtime/ as it was when ffc was built, sorted by path.
const std::vector<BundledFile> &runtimeFiles();

/// Those of them that programs for `target` are built of.
std::vector<BundledFile> runtimeFiles(plan::Target target);

/// A hash of paths and contents, in hexadecimal digits.
std::string runtimeHash();

} // namespace ffc::codegen

#endif // FFC_CODEGEN_RUNTIME_H
